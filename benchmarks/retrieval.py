"""Finding: how often the paragraph that answers a question is among the first that are found.

    python benchmarks/retrieval.py $FACTLOOM_DATA/squad/dev-v1.1-first24articles.json.gz

takes all paragraphs of a file of questions (SQuAD, or HotpotQA and its like, where one document has
the paragraphs of one question), asks some of its questions, by words, by meaning and by both, and
prints as JSON the recall at 1, 5 and 20 in percent: the part of the paragraphs that prove an answer
which is among the first so many paragraphs found. Paragraphs longer than a passage are found by any
of their passages. Questions are drawn evenly over the file. One thread.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from factloom import formats
from factloom.answers.index import index_in_memory
from factloom.answers.passage_index import PassageIndex
from factloom.answers.passages import MOST_WORDS
from factloom.answers.text_vectors import TextVectors
from factloom.document import Document
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.text.paragraphs import Paragraph, paragraphs_of

CUTS = (1, 5, 20)
WAYS = ("words", "meaning", "both")


@dataclass(frozen=True)
class Asked:
    """A question, and the paragraphs that prove its answer."""

    text: str
    proofs: frozenset[str]


def paragraphs_and_questions(
    documents: list[Document], titles: bool
) -> tuple[list[Document], list[Asked]]:
    """Every paragraph once, under an id of its own, and the questions that some of them answer."""
    paragraphs: dict[tuple[str, str], Document] = {}
    asked: list[Asked] = []
    for document in documents:
        parts = list(_parts(document))
        names = []
        for title, text, _ in parts:
            number = str(len(paragraphs))
            attributes = {"title": title} if titles else {}
            new = Document(text, id=number, attributes=attributes)
            names.append(paragraphs.setdefault((title, text), new).id)
        for question in document.questions:
            proofs = {
                name
                for name, (_, _, part) in zip(names, parts, strict=True)
                if part is None or any(number in part.sentences for number in question.evidence)
            }
            if question.answers and proofs:
                asked.append(Asked(question.text, frozenset(proofs)))
    return list(paragraphs.values()), asked


def _parts(document: Document) -> Iterator[tuple[str, str, Paragraph | None]]:
    """Title, text and place of each paragraph; None where it is the whole document."""
    found = paragraphs_of(document)
    if not found:
        yield str(document.attributes.get("title", "")), document.text, None
    for part in found:
        yield part.title, document.text[part.start : part.end], part


def recall(index: PassageIndex, asked: list[Asked], way: str) -> dict[str, float]:
    """Recall at each cut, and milliseconds a question."""
    hits = dict.fromkeys(CUTS, 0)
    times = []
    for question in asked:
        start = time.perf_counter()
        # a paragraph may have several passages: some more, so that there are enough paragraphs
        found = index.search(question.text, 3 * max(CUTS), by=way)
        times.append(time.perf_counter() - start)
        ranked = list(dict.fromkeys(one.passage.document for one in found))
        for cut in CUTS:
            hits[cut] += len(question.proofs & set(ranked[:cut]))
    proofs = sum(len(question.proofs) for question in asked)
    times.sort()
    return {
        **{f"recall_at_{cut}": round(100 * hits[cut] / proofs, 1) for cut in CUTS},
        "milliseconds_p50": round(1000 * times[len(times) // 2], 1),
        "milliseconds_p95": round(1000 * times[int(0.95 * (len(times) - 1))], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, default=1500, help="asked at most")
    parser.add_argument("--most-words", type=int, default=MOST_WORDS, help="of a passage")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER)
    parser.add_argument("--titles", action="store_true", help="index paragraphs with their titles")
    options = parser.parse_args()
    torch.set_num_threads(1)
    documents = list(formats.read(options.file))
    paragraphs, asked = paragraphs_and_questions(documents, options.titles)
    step = max(1, -(-len(asked) // options.questions))
    asked = asked[::step]
    start = time.perf_counter()
    texts = TextVectors(options.encoder)
    index = index_in_memory(paragraphs, texts=texts, most_words=options.most_words)
    seconds = time.perf_counter() - start
    report = {
        "file": options.file.name,
        "titles": options.titles,
        "most_words": options.most_words,
        "paragraphs": len(paragraphs),
        "passages": len(index),
        "questions": len(asked),
        "passages_indexed_a_second": round(len(index) / seconds, 1),
        **{way: recall(index, asked, way) for way in WAYS},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
