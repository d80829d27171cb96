"""Links between mentions, and the entities and relations that they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import searched
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import Flaw, Place
from factloom.files.report import Findings
from factloom.formats.linked_mentions import (
    Link,
    join_mentions,
    links_of,
    mention_identifiers,
    same_meaning,
)

MENTIONS = tuple(Mention(n, n + 1, kind) for n, kind in enumerate("XYXYX"))
TEXT = "abcde"


def test_each_mention_is_an_entity_of_its_own() -> None:
    entities, relations = join_mentions(MENTIONS[:2], [Link(1, 0, "r", {"id": 5})])
    assert entities == (Entity((0,), "X"), Entity((1,), "Y"))
    assert relations == (Relation(1, 0, "r", attributes={"id": 5}),)


@pytest.mark.parametrize("name", ["Coreference", "coref", "EQUIV"])
def test_coreference_joins_mentions_through_others(name: str) -> None:
    links = [Link(4, 2, name), Link(0, 4, name), Link(1, 2, "r"), Link(1, 0, "r")]
    entities, relations = join_mentions(MENTIONS, links)
    assert entities == (Entity((0, 2, 4), "X"), Entity((1,), "Y"), Entity((3,), "Y"))
    assert relations == (Relation(1, 0, "r"),)  # drawn twice, between two pairs of mentions


def test_link_that_is_drawn_twice_is_reported() -> None:
    reported: list[Flaw] = []
    findings = Findings(Place(file="a"), reported.append)
    links = [Link(0, 1, "r", part="relations[0]"), Link(0, 1, "r", part="relations[1]", line=7)]
    join_mentions(MENTIONS, links, findings)
    assert [(flaw.code, flaw.place.part) for flaw in reported] == [
        ("repeated-relation", "relations[1]")
    ]
    assert reported[0].place.line == 7
    assert findings.flawless  # a warning


def connected_parts(count: int, edges: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    label = list(range(count))
    for _ in range(count):  # the lowest number spreads at least one edge further each time
        for one, other in edges:
            label[one] = label[other] = min(label[one], label[other])
    return [
        tuple(node for node in range(count) if label[node] == name) for name in sorted(set(label))
    ]


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)


@searched
@given(same=pairs, related=pairs)
def test_entities_are_the_connected_parts(
    same: list[tuple[int, int]], related: list[tuple[int, int]]
) -> None:
    links = [Link(*pair, "Coreference") for pair in same] + [Link(*pair, "r") for pair in related]
    entities, relations = join_mentions(MENTIONS, links)
    expected = connected_parts(5, same)
    assert [entity.mentions for entity in entities] == expected
    part_of = {mention: index for index, part in enumerate(expected) for mention in part}
    wanted = {(part_of[head], part_of[tail]) for head, tail in related}
    assert {(relation.head, relation.tail) for relation in relations} == wanted
    document = Document(TEXT, mentions=MENTIONS, entities=entities, relations=relations)
    assert same_meaning(document, links)
    assert join_mentions(MENTIONS, links_of(document)) == (entities, relations)


def test_other_links_do_not_mean_the_same() -> None:
    entities, relations = join_mentions(MENTIONS, [Link(0, 1, "r")])
    document = Document(TEXT, mentions=MENTIONS, entities=entities, relations=relations)
    assert same_meaning(document, [Link(0, 1, "r"), Link(0, 1, "r")])
    for links in ([], [Link(0, 1, "s")], [Link(1, 0, "r")], [Link(0, 9, "r")], [Link(-1, 1, "r")]):
        assert not same_meaning(document, links)
    assert not same_meaning(document, [Link(0, 1, "r"), Link(0, 2, "coref")])


def test_identifiers_are_kept_where_they_can_be_and_never_shared() -> None:
    own = ["1", 2, None, "1", "0"]
    mentions = tuple(Mention(n, n + 1, "X", attributes={"id": i}) for n, i in enumerate(own))
    document = Document(TEXT, mentions=mentions)
    texts = (str(number) for number in range(9))
    found = mention_identifiers(document, lambda i: i if isinstance(i, str) else None, texts)
    assert found == ["1", "2", "3", "4", "0"]
