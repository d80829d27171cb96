"""Whether the light runtime finds what torch finds: documents and facts that differ, and how far.

    python benchmarks/light_against_torch.py                     # one JSON line

The raw texts of $FACTLOOM_DATA/redocred/dev.json are read by both runtimes, eight at a time. A
document is the same if it has the same mentions, entities, relations and evidence; "furthest" is
the greatest difference of two scores in such documents. Of a document that is not the same, its id
and what only one runtime finds is told on standard error. Seconds are those of the processor.
"""

import argparse
import json
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import factloom
from factloom import formats
from factloom.document import Document
from factloom.files.data_path import data_path
from factloom.text.sentences import find_sentences

DATA = "$FACTLOOM_DATA/redocred/dev.json"
RUNTIMES = ("light", "torch")
TOGETHER = 8
PARTS = {
    "mentions": ("start", "end", "type"),
    "entities": ("mentions", "type"),
    "relations": ("head", "tail", "type"),
    "evidence": ("head", "tail", "type", "evidence"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="factloom-en-small")
    parser.add_argument("--documents", type=int, default=None)
    arguments = parser.parse_args()
    models = {name: factloom.load(arguments.model, runtime=name).model for name in RUNTIMES}
    texts = [each.text for each in islice(formats.read(Path(data_path(DATA))), arguments.documents)]
    given = [
        Document(text, id=str(number), sentences=find_sentences(text))
        for number, text in enumerate(texts)
    ]
    found: dict[str, list[Document]] = {name: [] for name in RUNTIMES}
    seconds = dict.fromkeys(RUNTIMES, 0.0)
    for start in range(0, len(given), TOGETHER):
        for name, model in models.items():
            began = time.process_time()
            found[name] += model.predict(given[start : start + TOGETHER])
            seconds[name] += time.process_time() - began
    told = compared(found["light"], found["torch"])
    took = {name: round(spent, 1) for name, spent in seconds.items()}
    print(json.dumps({"part": "light against torch", **told, "seconds": took}))


def compared(light: list[Document], torch: list[Document]) -> dict[str, Any]:
    """What differs, counted; where it does, on standard error."""
    furthest, other_documents = 0.0, 0
    other, together = dict.fromkeys(PARTS, 0), dict.fromkeys(PARTS, 0)
    for one, two in zip(light, torch, strict=True):
        own = {part: (contents(one, part), contents(two, part)) for part in PARTS}
        for part, (ours, theirs) in own.items():
            together[part] += len(theirs)
            other[part] += len(ours.keys() ^ theirs.keys())
            for item in sorted(ours.keys() ^ theirs.keys(), key=str):
                runtime = "light" if item in ours else "torch"
                print(f"document {one.id}: {part} by {runtime} alone: {item}", file=sys.stderr)
        if any(list(ours) != list(theirs) for ours, theirs in own.values()):
            other_documents += 1
        else:
            furthest = max([furthest, *distances(one, two)])
    return {
        "documents": len(light),
        "found": together,
        "other_documents": other_documents,
        "other": other,
        "furthest": round(furthest, 7),
    }


def contents(document: Document, part: str) -> dict[tuple[Any, ...], None]:
    """In the order in which they stand in the document."""
    items = document.relations if part == "evidence" else getattr(document, part)
    return {tuple(getattr(item, field) for field in PARTS[part]): None for item in items}


def distances(one: Document, two: Document) -> list[float]:
    """Of the scores of what both have, which stands in the same order."""
    return [
        abs(ours.score - theirs.score)
        for part in ("mentions", "entities", "relations")
        for ours, theirs in zip(getattr(one, part), getattr(two, part), strict=True)
        if ours.score is not None
    ]


if __name__ == "__main__":
    main()
