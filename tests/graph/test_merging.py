"""Entities of many documents become things."""

from itertools import combinations, permutations

import pytest
from graph_documents import NAMES, ada, engine, make_document
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document
from factloom.graph import judging
from factloom.graph.identifiers import document_of_entity, entity_iris
from factloom.graph.judging import MERGED_FROM, judge
from factloom.graph.merging import Cluster, KnownThings, merge_entities
from factloom.graph.profiles import profiles


def groups(clusters: list[Cluster]) -> set[frozenset[str]]:
    return {frozenset(cluster.members) for cluster in clusters}


def same(clusters: list[Cluster], one: str, other: str) -> bool:
    return any({one, other} <= set(cluster.members) for cluster in clusters)


def test_the_things_of_two_documents() -> None:
    clusters = merge_entities([ada(), engine()], NAMES)
    a, b = entity_iris(ada()), entity_iris(engine())
    assert groups(clusters) == {
        frozenset({a[0], b[0]}),
        frozenset({a[1], b[2]}),
        frozenset({a[2]}),
        frozenset({b[1]}),
    }


def test_a_cluster_tells_why() -> None:
    clusters = merge_entities([ada(), engine()], NAMES)
    [person] = [cluster for cluster in clusters if cluster.canonical == entity_iris(ada())[0]]
    [merge] = person.merges
    assert (merge.entity, merge.parent) == (entity_iris(engine())[0], person.canonical)
    assert merge.score == judging.SAME_FULL_NAME
    assert merge.reason == 'the same name "Ada Lovelace"'


def test_an_entity_with_two_names_unites_the_things_that_have_one_each() -> None:
    long = make_document("a", [("ORG", "World Health Organization")])
    short = make_document("b", [("ORG", "WHO")])
    both = make_document("c", [("ORG", "World Health Organization|WHO")])
    assert len(merge_entities([long, short])) == 2
    [thing] = merge_entities([long, short, both])
    assert len(thing.members) == 3
    assert {merge.shown_by for merge in thing.merges} == {entity_iris(both)[0]}


def test_things_that_a_document_speaks_of_side_by_side_are_not_united() -> None:
    beside = make_document("a", [("ORG", "Quillmark Ltd"), ("ORG", "Quillmark Group")])
    confused = make_document("b", [("ORG", "Quillmark Group|Quillmark Ltd")])
    clusters = merge_entities([beside, confused])
    assert not same(clusters, *entity_iris(beside))
    assert sorted(len(cluster.members) for cluster in clusters) == [1, 2]


def test_things_that_stand_side_by_side_are_not_united_through_a_third() -> None:
    alone = make_document("a", [("ORG", "Quillmark Publishing")])
    beside = make_document("b", [("ORG", "Quillmark Ltd"), ("ORG", "Quillmark Group")])
    confused = make_document("c", [("ORG", "Quillmark Publishing|Quillmark Group|Quillmark Ltd")])
    clusters = merge_entities([alone, beside, confused])
    assert not same(clusters, *entity_iris(beside))
    assert sorted(len(cluster.members) for cluster in clusters) == [1, 3]


def test_a_surname_that_fits_two_people_joins_neither() -> None:
    facts = [(0, "P108", 1), (0, "P108", 2)]
    firms = [("ORG", "Quillmark"), ("ORG", "Ostrion")]
    mara = make_document("a", [("PER", "Mara Velden"), *firms], facts)
    petra = make_document("b", [("PER", "Petra Velden"), *firms], facts)
    somebody = make_document("c", [("PER", "Velden"), *firms], facts)
    known, unknown = entity_iris(mara)[0], entity_iris(somebody)[0]
    assert same(merge_entities([mara, somebody]), known, unknown)
    assert not same(merge_entities([mara, petra, somebody]), known, unknown)


def test_context_that_two_documents_of_a_thing_have_between_them_counts_together() -> None:
    def velden(key: str, name: str, *firms: str) -> Document:
        others = [("ORG", firm) for firm in firms]
        facts = [(0, "P108", number) for number in range(1, len(firms) + 1)]
        return make_document(key, [("PER", name), *others], facts)

    documents = [
        velden("a", "Mara Velden", "Quillmark"),
        velden("b", "Mara Velden", "Ostrion"),
        velden("c", "Velden", "Quillmark", "Ostrion"),
    ]
    [person] = [c for c in merge_entities(documents) if "PER" in c.canonical]
    assert len(person.members) == 3


def test_a_doubted_year_of_one_document_does_not_part_a_thing_whatever_comes_first() -> None:
    def quist(key: str, year: str, score: float) -> Document:
        entities = [("ORG", "Quist Foods"), ("TIME", year)]
        return make_document(key, entities, [(0, "inception", 1)], score)

    documents = [quist("a", "1980", 0.76), quist("b", "1980", 0.76), quist("c", "1950", 0.51)]
    for order in permutations(documents):
        [firm] = [c for c in merge_entities(order) if "ORG" in c.canonical]
        assert len(firm.members) == 3


def test_a_year_that_any_document_of_a_thing_is_sure_of_counts() -> None:
    def velden(key: str, names: str, year: str, score: float) -> Document:
        return make_document(key, [("PER", names), ("TIME", year)], [(0, "P569", 1)], score)

    documents = [
        velden("a", "Mara Velden", "1931", 0.5),
        velden("b", "Mara Velden|Mara Elise Velden", "1931", 0.9),
        velden("c", "Mara Elise Velden|Mara Velden", "1975", 0.9),
    ]
    people = [c for c in merge_entities(documents, NAMES) if "PER" in c.canonical]
    assert [len(person.members) for person in people] == [2, 1]


NAMES_TO_DRAW = ["Ada Lovelace", "Ada", "Lovelace", "WHO", "World Health Organization", "1931"]
ENTITIES = st.tuples(
    st.sampled_from(["PER", "ORG", "TIME"]),
    st.lists(st.sampled_from(NAMES_TO_DRAW), min_size=1, max_size=2).map("|".join),
)
DOCUMENTS = st.lists(st.lists(ENTITIES, max_size=3), max_size=6).map(
    lambda found: [make_document(str(number), entities) for number, entities in enumerate(found)]
)


@given(DOCUMENTS)
def test_things_part_the_entities_and_hold_one_of_a_document_and_one_type(
    documents: list[Document],
) -> None:
    clusters = merge_entities(documents)
    members = [member for cluster in clusters for member in cluster.members]
    assert sorted(members) == sorted(iri for d in documents for iri in entity_iris(d))
    for cluster in clusters:
        keys = [document_of_entity(member) for member in cluster.members]
        assert len(keys) == len(set(keys))
        assert len({member.split("/")[1] for member in cluster.members}) == 1
        assert len(cluster.merges) == len(cluster.members) - 1
        assert all(merge.score >= MERGED_FROM for merge in cluster.merges)
        assert {merge.entity for merge in cluster.merges} == set(cluster.members[1:])


@given(DOCUMENTS)
def test_two_documents_merge_what_comparing_all_pairs_merges(documents: list[Document]) -> None:
    """Keys leave out only pairs that would not merge: against brute force, a pair of documents."""
    for left, right in combinations(documents, 2):
        merged_pairs = {
            (one.iri, other.iri)
            for one in profiles(left, {})
            for other in profiles(right, {})
            if (judgement := judge(one, other)) and judgement.score >= MERGED_FROM
        }
        clusters = merge_entities([left, right])
        found = {cluster.members for cluster in clusters if len(cluster.members) == 2}
        assert found <= merged_pairs
        # Where an entity has several partners it takes one of them.
        assert {one for one, _ in found} | {other for _, other in found} >= {
            iri
            for pair in merged_pairs
            for iri in pair
            if sum(iri in other for other in merged_pairs) == 1
            and all(sum(end in other for other in merged_pairs) == 1 for end in pair)
        }


def test_the_number_of_comparisons_does_not_square(monkeypatch) -> None:
    calls = []
    original = judging.judge
    monkeypatch.setattr(
        "factloom.graph.merging.judge", lambda *both: calls.append(both) or original(*both)
    )
    for count in (50, 100):
        documents = [
            make_document(str(n), [("LOC", "United States"), ("PER", f"Person Number{n}")])
            for n in range(count)
        ]
        calls.clear()
        merge_entities(documents)
        assert len(calls) == count - 1  # each new United States meets one thing


def test_names_that_tell_nothing_make_no_more_work_the_more_documents_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    root = KnownThings.root
    monkeypatch.setattr(
        KnownThings, "root", lambda things, entity: asked.append(entity) or root(things, entity)
    )
    counts = []
    for count in (300, 600):
        documents = [
            make_document(
                str(number),
                [
                    ("TIME", "Monday"),
                    ("ORG", "the company"),
                    ("ORG", f"Town{number} University|University"),
                ],
            )
            for number in range(count)
        ]
        asked.clear()
        things = merge_entities(documents)
        assert len(things) == 3 * count
        counts.append(len(asked))
    assert counts[1] < 2 * counts[0]


def test_a_common_name_still_merges_what_has_another_name_in_common() -> None:
    documents = [
        make_document(str(number), [("ORG", f"Town{number // 2} University|University")])
        for number in range(500)
    ]
    assert len(merge_entities(documents)) == 250
