"""Coreference measures: published examples, and references written from the definitions."""

from collections.abc import Callable, Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention
from factloom.errors import InputError
from factloom.evaluation.coreference import MEASURES, Cluster, agreement, disjoint, evaluate

Side = Callable[[Sequence[Cluster], Sequence[Cluster]], tuple[float, float]]


def clusters(*names: str) -> list[Cluster]:
    """Each letter is a mention."""
    return [frozenset((ord(letter), ord(letter) + 1) for letter in name) for name in names]


def measured(name: str, gold: Sequence[Cluster], found: Sequence[Cluster]) -> tuple[float, float]:
    """Recall and precision."""
    result = agreement(MEASURES[name], gold, found)
    return result.recall, result.precision


# --- published examples ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "recall", "precision"),
    [
        ("muc", 2 / 5, 2 / 5),
        ("b_cubed", 35 / 12 / 7, 4 / 8),
        ("ceaf_e", 1.3 / 2, 1.3 / 3),
        ("lea", (3 * 1 / 3 + 4 * 1 / 6) / 7, (2 * 1 + 2 * 0 + 4 * 1 / 6) / 8),
    ],
)
def test_the_example_of_pradhan_and_of_moosavi_and_strube(
    measure: str, recall: float, precision: float
) -> None:
    gold, found = clusters("abc", "defg"), clusters("ab", "cd", "fghi")
    assert measured(measure, gold, found) == pytest.approx((recall, precision))


@pytest.mark.parametrize(
    ("found", "muc", "b_cubed", "ceaf_e"),
    [
        (("12345", "6789ABC"), 9 / 10, 16 / 21, 11 / 6 / 2),
        (("1234589ABC", "67"), 9 / 10, 7 / 12, 5 / 3 / 2),
    ],
)
def test_the_precision_of_the_two_responses_of_bagga_and_baldwin(
    found: tuple[str, ...], muc: float, b_cubed: float, ceaf_e: float
) -> None:
    gold = clusters("12345", "67", "89ABC")
    for name, precision in (("muc", muc), ("b_cubed", b_cubed), ("ceaf_e", ceaf_e)):
        assert measured(name, gold, clusters(*found))[1] == pytest.approx(precision)
    assert measured("muc", gold, clusters(*found))[0] == 1.0
    assert measured("b_cubed", gold, clusters(*found))[0] == 1.0


@pytest.mark.parametrize(
    ("found", "f1"),
    [
        (("12345", "6789ABC"), 0.733),
        (("1234589ABC", "67"), 0.667),
        (("123456789ABC",), 0.294),
        (tuple("123456789ABC"), 0.178),
    ],
)
def test_the_entity_based_ceaf_of_the_four_responses_of_luo(
    found: tuple[str, ...], f1: float
) -> None:
    gold = clusters("12345", "67", "89ABC")
    result = agreement(MEASURES["ceaf_e"], gold, clusters(*found))
    assert result.f1 == pytest.approx(f1, abs=5e-4)


def test_the_example_of_vilain() -> None:
    assert measured("muc", clusters("abcd"), clusters("ab", "cd")) == pytest.approx((2 / 3, 1.0))


# --- references from the definitions -----------------------------------------------------------


def naive_muc(gold: Sequence[Cluster], found: Sequence[Cluster]) -> tuple[float, float]:
    part = whole = 0
    for cluster in gold:
        pieces = [cluster & other for other in found if cluster & other]
        loose = cluster - frozenset().union(*found)
        part += len(cluster) - (len(pieces) + len(loose))
        whole += len(cluster) - 1
    return part, whole


def naive_b_cubed(gold: Sequence[Cluster], found: Sequence[Cluster]) -> tuple[float, float]:
    part, mentions = 0.0, [(span, cluster) for cluster in gold for span in cluster]
    for span, cluster in mentions:
        for other in found:
            if span in other:
                part += len(cluster & other) / len(cluster)
    return part, len(mentions)


def naive_ceaf_e(gold: Sequence[Cluster], found: Sequence[Cluster]) -> tuple[float, float]:
    shorter, longer = sorted((gold, found), key=len)
    best = max(
        sum(2 * len(a & b) / (len(a) + len(b)) for a, b in zip(shorter, way, strict=True))
        for way in permutations(longer, len(shorter))
    )
    return best, len(gold)


def naive_lea(gold: Sequence[Cluster], found: Sequence[Cluster]) -> tuple[float, float]:
    def links(cluster: Cluster) -> set[frozenset[object]]:
        if len(cluster) == 1:
            return {frozenset([*cluster, "itself"])}
        return {frozenset(pair) for pair in combinations(cluster, 2)}

    linked = set().union(*map(links, found))
    part = sum(
        len(cluster) * len(links(cluster) & linked) / len(links(cluster)) for cluster in gold
    )
    return part, sum(map(len, gold))


NAIVE: dict[str, Side] = {
    "muc": naive_muc,
    "b_cubed": naive_b_cubed,
    "ceaf_e": naive_ceaf_e,
    "lea": naive_lea,
}


@st.composite
def partitions(draw: st.DrawFn) -> list[Cluster]:
    """Some of eight mentions in up to five clusters."""
    places = draw(st.lists(st.none() | st.integers(0, 4), min_size=8, max_size=8))
    names: dict[int, str] = {}
    for letter, place in zip("abcdefgh", places, strict=True):
        if place is not None:
            names[place] = names.get(place, "") + letter
    return clusters(*names.values())


@pytest.mark.parametrize("name", MEASURES)
@given(gold=partitions(), found=partitions())
def test_measures_follow_their_definition(
    name: str, gold: list[Cluster], found: list[Cluster]
) -> None:
    result = agreement(MEASURES[name], gold, found)
    for share, expected in (
        (result.recalled, NAIVE[name](gold, found)),
        (result.precise, NAIVE[name](found, gold)),
    ):
        assert (share.part, share.whole) == pytest.approx(expected)


# --- documents -----------------------------------------------------------------------------------


def document(name: str, *entities: str, types: str = "") -> Document:
    """A document of letters; each entity is named by its letters, "aa" twice by the same one."""
    text = "abcdefghijklmnopqrstuvwxyz"
    letters = "".join(entities)
    kinds = types or "X" * len(entities)
    order = iter(range(len(letters)))
    return Document(
        text=text,
        id=name,
        mentions=tuple(Mention(text.index(a), text.index(a) + 1, "X") for a in letters),
        entities=tuple(
            Entity(tuple(next(order) for _ in entity), kind)
            for entity, kind in zip(entities, kinds, strict=True)
        ),
    )


def test_an_entity_is_correct_only_as_a_whole() -> None:
    report = evaluate([document("d", "ab", "c", "de")], [document("d", "ab", "c", "d", "e")])
    counts = report.entities
    assert (counts.correct, counts.predicted, counts.gold) == (2, 4, 3)


def test_the_type_counts_where_it_is_asked_for() -> None:
    gold, found = document("d", "ab", "c", types="PL"), document("d", "ab", "c", types="PP")
    report = evaluate([gold], [found])
    assert report.entities.f1 == 1.0
    assert report.typed_entities.f1 == 0.5


def test_a_span_named_twice_counts_once() -> None:
    report = evaluate([document("d", "aab", "c", "c")], [document("d", "ab", "c")])
    assert (report.entities.correct, report.entities.gold) == (2, 2)
    assert all(measure.f1 == 1.0 for measure in report.measures.values())


def test_a_span_of_two_clusters_belongs_to_the_first() -> None:
    assert disjoint(clusters("ab", "bc", "ab")) == clusters("ab", "c")


def test_measures_are_summed_over_documents_before_they_are_divided() -> None:
    gold = [document("one", "abcd"), document("two", "ab", "c")]
    found = [document("one", "ab", "cd"), document("two", "abc")]
    report = evaluate(gold, found)
    assert report.measures["muc"].recall == pytest.approx((2 + 1) / (3 + 1))
    assert report.measures["muc"].precision == pytest.approx((2 + 1) / (2 + 2))


def test_the_conll_score_is_the_mean_of_three() -> None:
    report = evaluate([document("d", "abc", "defg")], [document("d", "ab", "cd", "fghi")])
    b_cubed = 2 * (35 / 84) * 0.5 / (35 / 84 + 0.5)
    ceaf_e = 2 * 1.3 / 5
    assert report.conll_f1 == pytest.approx((0.4 + b_cubed + ceaf_e) / 3)


def test_missing_documents_lower_recall_and_unknown_ones_precision() -> None:
    report = evaluate([document("a", "a"), document("b", "b")], [document("c", "a")])
    assert (report.entities.correct, report.entities.predicted, report.entities.gold) == (0, 1, 2)
    assert list(report.per_document) == ["a", "b", "c"]
    assert report.conll_f1 == 0.0


def test_documents_with_one_id_are_refused() -> None:
    with pytest.raises(InputError, match="2 documents have this id"):
        evaluate([document("a", "a")], [document("a", "a")] * 2)


def test_gold_that_is_annotated_in_parts_has_no_entities_to_count() -> None:
    gold = [Document("Ada met Bob", "1", mentions=(Mention(0, 3, "PER"), Mention(8, 11, "?")))]
    with pytest.raises(InputError, match="'1'") as caught:
        evaluate(gold, gold)
    assert caught.value.code == "partly-annotated-gold"
