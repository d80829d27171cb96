"""The four reasoning patterns and the measures made of them, against plain loops."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation
from factloom.evaluation.relations import Counts, Prediction, evaluate, evaluate_predictions
from factloom.evaluation.tasks import TASKS, Answers
from factloom.reasoning_patterns import PATTERNS, Links, patterns_of

Triple = tuple[str, int, int]
ENTITIES = 6


def graph(triples: Iterable[Triple], entities: int = ENTITIES) -> Document:
    """A document of entities without a name that matters."""
    return Document(
        text="x" * entities,
        id="graph",
        mentions=tuple(Mention(index, index + 1, "X") for index in range(entities)),
        entities=tuple(Entity((index,), "X") for index in range(entities)),
        relations=tuple(Relation(head, tail, kind) for kind, head, tail in sorted(triples)),
    )


def bridges_by_loops(triples: Iterable[Triple], s: int, o: int) -> dict[int, set[int]]:
    """The definition, word by word."""
    pairs = {(head, tail) for _, head, tail in triples}
    found: dict[int, set[int]] = {}
    for i in range(ENTITIES):
        if s == o or i in (s, o):
            continue
        premises = {
            1: ((s, i), (i, o)),
            2: ((s, i), (o, i)),
            3: ((o, i), (i, s)),
            4: ((i, s), (i, o)),
        }
        for pattern, (first, second) in premises.items():
            if first in pairs and second in pairs:
                found.setdefault(pattern, set()).add(i)
    return found


indices = st.integers(0, ENTITIES - 1)
triples = st.sets(st.tuples(st.sampled_from(["a", "b"]), indices, indices), max_size=20)


@pytest.mark.parametrize(
    ("pattern", "premises"),
    [
        (1, {("a", 0, 1), ("b", 1, 2)}),
        (2, {("a", 0, 1), ("b", 2, 1)}),
        (3, {("a", 2, 1), ("b", 1, 0)}),
        (4, {("a", 1, 0), ("b", 1, 2)}),
    ],
)
def test_each_pattern_alone_derives_the_relation(pattern: int, premises: set[Triple]) -> None:
    document = graph({*premises, ("c", 0, 2)})
    assert patterns_of(document)["c", 0, 2] == {pattern}
    assert Links(document.relations).bridges(0, 2) == {pattern: {1}}


def test_a_relation_alone_is_not_derivable() -> None:
    assert patterns_of(graph({("a", 0, 1)})) == {("a", 0, 1): frozenset()}


def test_the_inverse_relation_of_a_pair_is_no_bridge() -> None:
    assert patterns_of(graph({("a", 0, 1), ("b", 1, 0)}))["a", 0, 1] == frozenset()


def test_an_entity_is_never_its_own_bridge() -> None:
    found = patterns_of(graph({("a", 0, 0), ("a", 1, 1), ("b", 0, 1)}))
    assert set(found.values()) == {frozenset()}


def test_entities_that_the_document_does_not_have_are_not_derivable() -> None:
    links = Links(graph({("a", 0, 1), ("b", 1, 2)}).relations)
    assert links.patterns(0, 99) == frozenset()


@given(triples=triples)
def test_bridges_of_all_pairs_equal_the_definition(triples: set[Triple]) -> None:
    links = Links(graph(triples).relations)
    for s in range(ENTITIES):
        for o in range(ENTITIES):
            assert links.bridges(s, o) == bridges_by_loops(triples, s, o)


@given(triples=triples)
def test_every_gold_triple_has_its_patterns(triples: set[Triple]) -> None:
    expected = {
        triple: frozenset(bridges_by_loops(triples, triple[1], triple[2])) for triple in triples
    }
    assert patterns_of(graph(triples)) == expected


# --- Infer F1 and Infer-Acc --------------------------------------------------------------------


def counts_by_loops(gold: set[Triple], predicted: set[Triple], patterns: set[int]) -> Counts:
    def derivable(triple: Triple) -> bool:
        return bool(patterns & bridges_by_loops(gold, triple[1], triple[2]).keys())

    return Counts(
        correct=sum(derivable(triple) for triple in gold & predicted),
        predicted=sum(derivable(triple) for triple in predicted),
        gold=sum(derivable(triple) for triple in gold),
    )


@given(gold=triples, predicted=triples)
def test_counts_equal_the_definition(gold: set[Triple], predicted: set[Triple]) -> None:
    report = evaluate([graph(gold)], [graph(predicted)])
    assert report.inferable == counts_by_loops(gold, predicted, {1, 2, 3, 4})
    assert list(report.per_pattern) == list(PATTERNS)
    for pattern, counts in report.per_pattern.items():
        assert counts == counts_by_loops(gold, predicted, {pattern})


def test_infer_accuracy_is_the_found_part_and_infer_f1_also_counts_false_alarms() -> None:
    # a chain 0 -> 1 -> 2 with its conclusion, a triangle, so that all three are derivable
    gold = {("a", 0, 1), ("b", 1, 2), ("c", 0, 2), ("d", 3, 4)}
    found = {("a", 0, 1), ("c", 0, 2), ("x", 0, 2), ("d", 3, 4), ("x", 4, 5)}
    report = evaluate([graph(gold)], [graph(found)])
    assert report.inferable == Counts(correct=2, predicted=3, gold=3)
    assert report.infer_accuracy == pytest.approx(2 / 3)
    assert report.infer_f1 == pytest.approx(2 / 3)
    assert report.per_pattern[1] == Counts(correct=1, predicted=2, gold=1)
    assert report.per_pattern[3] == Counts()


def test_a_derivable_pair_without_a_gold_relation_counts_as_a_false_alarm_only() -> None:
    report = evaluate([graph({("a", 0, 1), ("b", 1, 2)})], [graph({("c", 0, 2)})])
    assert report.inferable == Counts(correct=0, predicted=1, gold=0)
    assert (report.infer_f1, report.infer_accuracy) == (0, 0)


def test_predictions_of_unknown_documents_are_not_derivable() -> None:
    gold = graph({("a", 0, 1), ("b", 1, 2), ("c", 0, 2)})
    unknown = [Prediction("elsewhere", relation) for relation in gold.relations]
    assert evaluate_predictions([gold], unknown).inferable == Counts(0, 0, 3)


def test_training_watches_infer_measures_where_something_is_derivable() -> None:
    gold = graph({("a", 0, 1), ("b", 1, 2), ("c", 0, 2)})
    scores = TASKS["relations"].scores([gold], Answers([graph({("a", 0, 1), ("x", 0, 2)})]))
    assert scores["infer_accuracy"] == pytest.approx(1 / 3)
    assert scores["infer_f1"] == pytest.approx(2 / 5)
    nothing = graph({("a", 0, 1)})
    assert (
        not {"infer_f1", "infer_accuracy"}
        & TASKS["relations"].scores([nothing], Answers([])).keys()
    )
