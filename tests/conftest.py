"""What the tests share: no network, one thread a process, a tiny encoder, example documents."""

import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from factloom import formats
from factloom.document import Document

if TYPE_CHECKING:
    from transformers import BertTokenizerFast

# Before the first import of torch or transformers, which the tests that need neither are spared.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["OMP_NUM_THREADS"] = "1"  # tests run beside each other, a process a core

# A slow machine is no failure.
settings.register_profile("factloom", deadline=None)
settings.load_profile("factloom")

EXAMPLES = Path(__file__).parent.parent / "examples"
SENTENCES = (  # the words of the tiny vocabulary; the characters cover other text too
    "Mara Velden was born in Torvik on 3 May 1931 and studied at Halden College.",
    "She founded Quillmark Ltd in 1956; the company has its headquarters in Ashmere, Norvania.",
    'The * marker * stands (before, and after) a mention: it\'s "one" token.',
    "abcdefghijklmnopqrstuvwxyz 0123456789 . , ; : ! ? ' - / & %",
    "马云出生于杭州。",
)


@pytest.fixture(scope="session")
def profiles() -> list[Document]:
    """The first eight training documents of the examples, with gold relations."""
    return list(islice(formats.read(EXAMPLES / "profiles-train.jsonl"), 8))


@pytest.fixture(scope="session")
def tiny_encoder_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a random BERT (2 layers, width 32, 4 heads) and its fast tokenizer."""
    import torch
    from transformers import BertConfig, BertModel

    path = tmp_path_factory.mktemp("encoders") / "tiny-bert"
    tokenizer = _word_piece_tokenizer()
    tokenizer.save_pretrained(path)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=512,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(path)
    return path


def _word_piece_tokenizer() -> "BertTokenizerFast":
    from transformers import BertTokenizerFast

    # Made, not trained: a trained vocabulary breaks its ties another way in every process.
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [word for text in SENTENCES for word in re.findall(r"\w+|[^\w\s]", text.lower())]
    letters = sorted({letter for word in words for letter in word})
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters), *sorted(set(words))]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    return BertTokenizerFast(vocab=vocabulary, model_max_length=512)
