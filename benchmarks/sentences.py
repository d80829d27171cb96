"""Sentence boundaries against those of a DocRED file, and against the package pysbd.

It is not among factloom's dependencies:

    pip install --target /tmp/peers --no-deps pysbd
    PYTHONPATH=/tmp/peers python benchmarks/sentences.py --rounds 3            # one JSON line

The documents are the first 300 of redocred/train.json in $FACTLOOM_DATA: the rules were mended by
reading errors on dev.json, which would flatter them. The boundaries of the file come from another
program and are not without errors. The text is taken as the file has it, with a space around every
word and mark, and as people write. A boundary counts as found if it stands between the same two
characters.
"""

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterable
from itertools import islice

from rounds import compare, parse_arguments

from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.text.sentences import split_sentences

Splitter = Callable[[str], list[str]]
Sentences = list[str]  # of one document

FILE = "$FACTLOOM_DATA/redocred/train.json"
DOCUMENTS = 300

# What stands alone in tokenised text, and how it is written.
WRITTEN = (
    (r" ([.,;:!?%)\]}])", r"\1"),
    (r"([(\[{$]) ", r"\1"),
    (r" (n't|'s|'re|'ve|'d|'ll|'m|')(?=\W|$)", r"\1"),
    (r'" (.*?) "', r'"\1"'),
    (r"(\w) - (\w)", r"\1-\2"),
)


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    tokenised = [
        [document.sentence_text(index) for index in range(len(document.sentences))]
        for document in islice(read(data_path(FILE)), DOCUMENTS)
    ]
    written = [[as_written(sentence) for sentence in document] for document in tokenised]
    splitters = {"factloom": ours, **peers()}
    texts = [" ".join(document) for document in written]
    others = {
        name: lambda split=split: [split(text) for text in texts]
        for name, split in splitters.items()
        if name != "factloom"
    }
    result = {
        "part": "sentences",
        "documents": len(texts),
        "characters": sum(map(len, texts)),
        "tokenised": {name: scores(split, tokenised) for name, split in splitters.items()},
        "written": {name: scores(split, written) for name, split in splitters.items()},
        "times": compare(lambda: [ours(text) for text in texts], others, arguments.rounds),
    }
    print(json.dumps(result))


def ours(text: str) -> Sentences:
    return [text[start:end] for start, end in split_sentences(text)]


def peers() -> dict[str, Splitter]:
    if importlib.util.find_spec("pysbd") is None:
        print(__doc__, file=sys.stderr)
        return {}
    from pysbd import Segmenter

    return {"pysbd": Segmenter(language="en", clean=False).segment}


def as_written(sentence: str) -> str:
    for pattern, replacement in WRITTEN:
        sentence = re.sub(pattern, replacement, sentence)
    return sentence


def scores(split: Splitter, documents: Iterable[Sentences]) -> dict[str, float]:
    right = found = wanted = 0
    for document in documents:
        gold, predicted = boundaries(document), boundaries(split(" ".join(document)))
        right += len(gold & predicted)
        found += len(predicted)
        wanted += len(gold)
    return {
        "precision": round(right / found, 4),
        "recall": round(right / wanted, 4),
        "f1": round(2 * right / (found + wanted), 4),
    }


def boundaries(sentences: Sentences) -> set[int]:
    """How many characters but white space stand in front of each boundary between two of them."""
    ends = set()
    end = 0
    for sentence in sentences:
        end += len("".join(sentence.split()))
        ends.add(end)
    return ends - {end}


if __name__ == "__main__":
    main()
