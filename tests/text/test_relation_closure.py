"""What follows from stated relations, against a search through all triples."""

import doctest
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import factloom.text.relation_closure
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.text.relation_closure import closed
from factloom.text.relation_names import RELATIONS

Triple = tuple[int, str, int]

TURNED = {
    "P22": "P40",
    "P25": "P40",
    "P26": "P26",
    "P3373": "P3373",
    "P190": "P190",
    "P2652": "P2652",
    "P36": "P1376",
    "P1376": "P36",
    "P131": "P150",
    "P150": "P131",
    "P155": "P156",
    "P156": "P155",
    "P1365": "P1366",
    "P1366": "P1365",
    "P355": "P749",
    "P749": "P355",
    "P361": "P527",
    "P527": "P361",
    "P710": "P1344",
    "P1344": "P710",
    "P176": "P1056",
    "P1056": "P176",
    "P674": "P1441",
    "P1441": "P674",
    "P169": "P108",
    "P1037": "P108",
}
CHAINED = {("P131", "P131"): "P131", ("P131", "P17"): "P17", ("P159", "P17"): "P17"}


def document_of(
    types: list[str], stated: dict[Triple, tuple[int, ...]], denied: tuple[Triple, ...] = ()
) -> Document:
    """Entities of these types, each in a sentence of its own."""
    count = range(len(types))
    return Document(
        text="a " * len(types),
        sentences=tuple(Sentence(2 * n, 2 * n + 1) for n in count),
        mentions=tuple(Mention(2 * n, 2 * n + 1, types[n]) for n in count),
        entities=tuple(Entity((n,), types[n]) for n in count),
        relations=tuple(Relation(h, t, r, evidence=e) for (h, r, t), e in stated.items()),
        denied=tuple(Relation(h, t, r) for h, r, t in denied),
    )


def triples(document: Document) -> dict[Triple, tuple[int, ...]]:
    return {(r.head, r.type, r.tail): r.evidence for r in document.relations}


def follows(document: Document, known: set[Triple], triple: Triple) -> bool:
    """Whether some rule gives the triple: by trying all premises."""
    head, type, tail = triple
    relation = RELATIONS[type]
    if head == tail or document.entities[head].type not in relation.heads:
        return False
    if document.entities[tail].type not in relation.tails:
        return False
    if any(TURNED.get(r) == type and (h, t) == (tail, head) for h, r, t in known):
        return True
    return any(
        CHAINED.get((one[1], other[1])) == type
        and (one[0], other[2]) == (head, tail)
        and one[2] == other[0]
        for one, other in itertools.product(known, repeat=2)
    )


def by_search(document: Document) -> set[Triple]:
    known = set(triples(document))
    barred = {(r.head, r.type, r.tail) for r in document.denied}
    count = range(len(document.entities))
    every = set(itertools.product(count, (*TURNED, "P40", "P108", "P17"), count)) - barred
    while new := {one for one in every - known if follows(document, known, one)}:
        known |= new
    return known


relations_of_rules = st.sampled_from(["P131", "P150", "P17", "P159", "P26", "P22", "P169", "P361"])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    types = draw(st.lists(st.sampled_from(["LOC", "LOC", "ORG", "PER"]), min_size=2, max_size=4))
    ends = st.integers(0, len(types) - 1)
    facts = st.lists(st.tuples(ends, relations_of_rules, ends), unique=True, max_size=6)
    stated, denied = draw(facts), draw(facts)
    evidence = st.lists(ends, min_size=1, max_size=2, unique=True).map(tuple)
    return document_of(
        types,
        {fact: draw(evidence) for fact in stated},
        tuple(fact for fact in denied if fact not in stated),
    )


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(factloom.text.relation_closure).failed == 0


@settings(deadline=None, max_examples=150)
@given(document=documents())
def test_the_closure_is_what_a_search_through_all_triples_finds(document: Document) -> None:
    found = closed(document)
    assert set(triples(found)) == by_search(document)
    assert found.relations[: len(document.relations)] == document.relations
    assert closed(found) == found


@settings(deadline=None, max_examples=100)
@given(document=documents())
def test_evidence_is_that_of_the_premises(document: Document) -> None:
    found = triples(closed(document))
    for relation in closed(document).relations[len(document.relations) :]:
        premises = [(h, r, t) for h, r, t in relation.provenance["premises"]]
        assert premises
        united = {sentence for premise in premises for sentence in found[premise]}
        assert relation.evidence == tuple(sorted(united))


@pytest.mark.parametrize(("type", "inverse"), TURNED.items())
def test_every_inverse(type: str, inverse: str) -> None:
    heads, tails = sorted(RELATIONS[type].heads), sorted(RELATIONS[type].tails)
    ends = next(
        (h, t)
        for h, t in itertools.product(heads, tails)
        if t in RELATIONS[inverse].heads and h in RELATIONS[inverse].tails
    )
    found = closed(document_of(list(ends), {(0, type, 1): (1,)}))
    assert triples(found) == {(0, type, 1): (1,), (1, inverse, 0): (1,)}


def test_a_chain_reaches_as_far_as_it_goes() -> None:
    stated = {(0, "P131", 1): (0,), (1, "P131", 2): (2, 1), (2, "P17", 3): (3,)}
    found = triples(closed(document_of(["LOC"] * 4, stated)))
    assert found[0, "P131", 2] == (0, 1, 2)
    assert found[0, "P17", 3] == (0, 1, 2, 3)
    assert found[2, "P150", 0] == (0, 1, 2)


def test_the_country_of_an_organisation_is_that_of_its_headquarters() -> None:
    stated = {(0, "P159", 1): (0,), (1, "P17", 2): (1,)}
    assert triples(closed(document_of(["ORG", "LOC", "LOC"], stated)))[0, "P17", 2] == (0, 1)


def test_of_several_ways_the_one_with_least_evidence_counts() -> None:
    stated = {
        (0, "P131", 1): (1, 2),
        (0, "P131", 2): (3,),
        (1, "P17", 3): (0,),
        (2, "P17", 3): (3,),
    }
    assert triples(closed(document_of(["LOC"] * 4, stated)))[0, "P17", 3] == (3,)


def test_nothing_is_added_that_is_denied_nor_what_follows_from_it() -> None:
    stated = {(0, "P131", 1): (0,), (1, "P131", 2): (1,), (2, "P17", 3): (2,)}
    document = document_of(["LOC"] * 4, stated, denied=((1, "P17", 3), (0, "P131", 2)))
    found = triples(closed(document))
    assert (1, "P17", 3) not in found
    assert (0, "P131", 2) not in found
    assert (0, "P17", 3) not in found


def test_a_child_tells_neither_father_nor_mother() -> None:
    stated = {(0, "P40", 1): (0,)}
    assert triples(closed(document_of(["PER", "PER"], stated))) == stated


def test_an_office_is_no_territory_of_the_place_where_it_lies() -> None:
    stated = {(0, "P131", 1): (0,)}
    assert triples(closed(document_of(["ORG", "LOC"], stated))) == stated
    assert len(triples(closed(document_of(["LOC", "LOC"], stated)))) == 2
