"""A few Chinese documents, a lexicon and word vectors that tests of lexicon models share."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from factloom.document import Document, Mention, Sentence
from factloom.text.tokens import join_tokens

_SENTENCES = (  # sentences and their mentions as (text, type)
    (
        ("马云出生于杭州。", "他创办阿里巴巴。"),
        (("马云", "PER"), ("杭州", "LOC"), ("阿里巴巴", "ORG")),
    ),
    (("南京市长江大桥很长",), (("南京市", "LOC"), ("长江大桥", "LOC"))),
    (("李娜在武汉大学读书",), (("李娜", "PER"), ("武汉大学", "ORG"))),
    (("杭州有马云",), (("杭州", "LOC"), ("马云", "PER"))),
    (("今天很好",), ()),
)
WORDS = (
    *("马云", "出生", "出生于", "杭州", "创办", "阿里", "阿里巴巴", "南京", "南京市", "市长"),
    *("长江", "长江大桥", "大桥", "武汉", "武汉大学", "大学", "读书", "学读", "今天", "北京"),
    *("北京大学", "京大", "马", "长"),
)
NAMELESS = ("巴巴", "京大")  # in the lexicon, but without a vector


def documents(*, tokens: bool = True) -> list[Document]:
    """With a token a character, or with nothing but text and mentions."""
    found = []
    for number, (sentences, names) in enumerate(_SENTENCES):
        text, laid_out = join_tokens([list(sentence) for sentence in sentences], separator="")
        mentions = tuple(
            Mention(text.index(name), text.index(name) + len(name), kind) for name, kind in names
        )
        plain = tuple(Sentence(sentence.start, sentence.end) for sentence in laid_out)
        found.append(
            Document(
                text,
                id=f"document {number}",
                sentences=laid_out if tokens else plain,
                mentions=mentions,
            )
        )
    return found


def write_vectors(folder: Path, width: int = 6) -> Path:
    """word2vec's text format: all words that are not nameless, and some single characters."""
    words = [word for word in (*WORDS, *"云杭州京大学好") if word not in NAMELESS]
    numbers = np.random.default_rng(7).normal(size=(len(words), width)).round(3).tolist()
    lines = [f"{w} {' '.join(map(str, vector))}" for w, vector in zip(words, numbers, strict=True)]
    path = folder / "vectors.txt"
    path.write_text("\n".join([f"{len(words)} {width}", *lines]) + "\n", encoding="utf-8")
    return path


def write_words(folder: Path) -> Path:
    path = folder / "words.txt"
    path.write_text("\n".join((*WORDS, *NAMELESS)) + "\n", encoding="utf-8")
    return path


@torch.no_grad()
def check_logits_are_emissions(model: Any) -> None:
    """Logits are the emissions of all characters, without padding."""
    batch = model.eval().collate(model.prepare(documents()))
    rows = zip(model.emissions(batch), batch.lengths.tolist(), strict=True)
    expected = torch.cat([row[:length] for row, length in rows])
    assert len(set(batch.lengths.tolist())) > 1
    torch.testing.assert_close(model(batch).logits, expected)
