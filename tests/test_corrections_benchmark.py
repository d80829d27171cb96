"""The benchmark of corrections takes what the model really gets wrong."""

import importlib
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from factloom.document import Document, Entity, Mention, Relation

TEXT = "Ada of Oslo"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "benchmarks")
    return importlib.import_module("corrections")


def document(key: str, *relations: str) -> Document:
    return Document(
        text=TEXT,
        id=key,
        mentions=(Mention(0, 3, "PER"), Mention(7, 11, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=tuple(Relation(0, 1, relation) for relation in relations),
    )


def test_wrong_facts_are_those_that_the_annotation_lacks(benchmark: ModuleType) -> None:
    gold, found = document("a", "P19"), document("a", "P19", "P27", "P551")
    assert benchmark.wrong_facts(gold, found) == Counter({"P27": 1, "P551": 1})


def test_the_relation_that_is_wrong_most_often_is_corrected_in_as_few_documents_as_it_takes(
    benchmark: ModuleType,
) -> None:
    gold = {key: document(key) for key in "abcdef"}
    wrong = {key: Counter({"P27": 2, "P19": 1}) for key in gold}
    relation, corpus = benchmark.divided(gold, wrong, None, 3)
    assert relation == "P27"
    assert len(corpus.looked_at) == 2, "two of each"
    assert sorted([*corpus.looked_at, *corpus.others]) == sorted(gold)


def test_too_few_wrong_facts_are_told_with_what_there_is(benchmark: ModuleType) -> None:
    gold = {"a": document("a")}
    with pytest.raises(SystemExit, match=r"1 wrong facts of P19.*P27"):
        benchmark.divided(gold, {"a": Counter({"P27": 9, "P19": 1})}, "P19", 2)
