"""Which relation a question asks for: SimpleQuestions (Wikidata) against the table of phrases.

    python benchmarks/question_relations.py [--words] [--limit 1000]     # the valid part
    python benchmarks/question_relations.py --fit    # train: `first` by the weight of meaning

One JSON object. The file has neither names nor their places: the longest run of words that few
questions have is taken for the name. `known` are questions whose relation is in the table; of them
`first` is the part whose relation and direction are those of the likeliest sense, `among_3` of the
likeliest three. Of all questions with a sense above the threshold, `precision` is the part where
it is the right one; `answered` is the part of the known ones that are above it; `let_through` that
of the others."""

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from factloom.answers.graph_questions import LEAST_MEANT
from factloom.answers.meaning import SentenceVectors
from factloom.answers.senses import SenseFinder
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.files.data_path import data_path
from factloom.text.relation_phrases import SENSES, Sense

FILES = "$FACTLOOM_DATA/simplequestions_wikidata/annotated_wd_data_{part}.txt.gz"
_RARE = 12  # questions of the train part that have a word
_WEIGHTS = (0.0, 0.2, 0.4, 0.7, 1.0, 1.2, 1.4, 2.0, 3.0, 5.0)  # of meaning, beside words

Asked = tuple[str, str]  # the step, such as P19 or -P19, and the phrase with an X


def read(part: str, common: set[str] | None = None) -> tuple[list[Asked], set[str]]:
    path = Path(data_path(FILES.format(part=part)))
    rows = [line.split("\t") for line in _text(path).splitlines()]
    texts = [re.findall(r"[\w'-]+", row[3].casefold()) for row in rows]
    if common is None:
        counts = Counter(word for words in texts for word in set(words))
        common = {word for word, count in counts.items() if count >= _RARE}
    asked = [
        ("-" * (row[1][0] == "R") + "P" + row[1][1:], with_name_blanked(words, common))
        for row, words in zip(rows, texts, strict=True)
    ]
    return [one for one in asked if " X" in f" {one[1]}"], common


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def with_name_blanked(words: Sequence[str], common: set[str]) -> str:
    """X for the stretch from the first rare word to the last one, where that is not too long."""
    rare = [index for index, word in enumerate(words) if word not in common]
    if not rare or rare[-1] - rare[0] > 6:
        return " ".join(words)
    return " ".join([*words[: rare[0]], "X", *words[rare[-1] + 1 :]])


def is_right(sense: Sense, step: str) -> bool:
    return step in map(str, sense.steps[:2])


def measure(finder: SenseFinder, questions: Sequence[Asked]) -> dict[str, float]:
    known = {str(step) for sense in SENSES for step in sense.steps[:1]}
    counts: Counter[str] = Counter()
    for step, phrase in questions:
        found = finder.find(phrase)
        sure, right = found[0].score >= LEAST_MEANT, is_right(found[0].sense, step)
        counts += Counter(sure=sure, sure_right=sure and right)
        if step in known:
            among = any(is_right(meant.sense, step) for meant in found[:3])
            counts += Counter(known=1, first=right, among=among, answered=sure)
        else:
            counts += Counter(unknown=1, let_through=sure)
    return {
        "questions": len(questions),
        "known": counts["known"],
        "first": round(counts["first"] / counts["known"], 3),
        "among_3": round(counts["among"] / counts["known"], 3),
        "precision": round(counts["sure_right"] / counts["sure"], 3),
        "answered": round(counts["answered"] / counts["known"], 3),
        "let_through": round(counts["let_through"] / max(counts["unknown"], 1), 3),
    }


def fit(finder: SenseFinder, questions: Sequence[Asked]) -> dict[str, float]:
    """The part of the known questions whose likeliest sense is right, by the weight of meaning."""
    known = {str(step) for sense in SENSES for step in sense.steps[:1]}
    counts: Counter[float] = Counter()
    asked = [one for one in questions if one[0] in known]
    for step, phrase in asked:
        words, similarity = finder.words(phrase), finder.similarity(phrase)  # (phrases,) each
        for weight in _WEIGHTS:
            best = finder.senses[finder.owner[np.argmax(words + weight * similarity)]]
            counts[weight] += is_right(best, step)
    return {str(weight): round(counts[weight] / len(asked), 3) for weight in _WEIGHTS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--limit", type=int, default=1000)
    given = parser.parse_args()
    meaning = None if given.words else SentenceVectors.load(DEFAULT_ENCODER)
    finder = SenseFinder(SENSES, meaning)
    train, common = read("train")
    if given.fit:
        print(json.dumps(fit(finder, train[: given.limit])))
    else:
        print(json.dumps(measure(finder, read("valid", common)[0][: given.limit])))


if __name__ == "__main__":
    main()
