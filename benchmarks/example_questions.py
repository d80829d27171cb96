"""How many of the sixty example questions are answered right, wrong, or not at all.

    python benchmarks/example_questions.py [--store DIR] [--words] [--reader MODEL] [--show]

The ten example texts are extracted into a store with the model that ships (or `--store` is asked,
which holds them already), and every question of examples/questions.jsonl is asked of it. `right`
are answers whose words are those of a gold answer, or questions without an answer that are not
answered; `abstained` are questions with an answer that are not answered; all others are `wrong`.
One JSON object; `--words` leaves the encoder out, `--show` prints every question."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from factloom import answers, extraction
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.pipeline import Pipeline
from factloom.text.answer_words import same_answer

EXAMPLES = Path(__file__).parent.parent / "examples"


def verdict(gold: Mapping[str, Any], answer: answers.Answer) -> str:
    """right, wrong or abstained; a list has to have all items and no other."""
    if not answer:
        return "abstained" if gold["answers"] else "right"
    if answer.items and "items" in gold:
        return "right" if set(answer.items) == set(gold["items"]) else "wrong"
    return "right" if any(same_answer(answer.text, one) for one in gold["answers"]) else "wrong"


def measure(store: Path, encoder: str | None, reader: str | None, show: bool) -> dict[str, Any]:
    lines = (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    counts: Counter[str] = Counter()
    with answers.load(store, encoder=encoder, reader=reader) as ask:
        ask(questions[0]["question"])  # what is loaded with the first one
        started = time.perf_counter()
        for gold in questions:
            answer = ask(gold["question"])
            found = verdict(gold, answer)
            kind = "answerable" if gold["answers"] else "unanswerable"
            counts[f"{kind}_{found}"] += 1
            counts[found] += 1
            if show:
                said = f"{answer.text!r} {answer.score} ({answer.explanation})"
                print(f"{found:9} {gold['question']} -> {said}", file=sys.stderr)
        elapsed = time.perf_counter() - started
    return {
        "questions": len(questions),
        **dict(sorted(counts.items())),
        "milliseconds": round(1000 * elapsed / len(questions), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--reader")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    encoder = None if given.words else DEFAULT_ENCODER
    if given.store is not None:
        print(json.dumps(measure(given.store, encoder, given.reader, given.show)))
        return
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        extraction.extract(
            Pipeline.load(), [str(EXAMPLES / "texts")], extraction.Targets([], store)
        )
        print(json.dumps(measure(store, encoder, given.reader, given.show)))


if __name__ == "__main__":
    main()
