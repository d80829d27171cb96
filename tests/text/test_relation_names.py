import doctest

import pytest

import factloom.text.relation_names
from factloom.formats.loom_markup import TYPES
from factloom.text.relation_names import RELATION_NAMES, RELATIONS, RelationLookup


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(factloom.text.relation_names).failed == 0


def test_the_table_has_docreds_relations_and_those_of_business_texts() -> None:
    assert len(RELATIONS) == 96 + 10
    assert RELATION_NAMES["P19"] == "place of birth"
    assert RELATION_NAMES["P1037"] == "director / manager"
    assert len(set(RELATION_NAMES.values())) == len(RELATIONS)


def test_every_relation_takes_heads_and_tails_that_can_be() -> None:
    for relation in RELATIONS.values():
        assert relation.heads
        assert relation.tails
        assert relation.heads <= set(TYPES) - {"TIME", "NUM"}, relation.name
        assert relation.tails <= set(TYPES), relation.name


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("P6", ["P6"]),
        ("p6", ["P6"]),
        ("Director/Manager", ["P1037"]),
        ("dissolved abolished or demolished", ["P576"]),
        ("director", ["P57"]),
        ("birthplace", []),
    ],
)
def test_relations_are_found_in_any_spelling(given: str, found: list[str]) -> None:
    assert RelationLookup(RELATION_NAMES).ids(given) == found


def test_what_is_spelled_alike_is_suggested() -> None:
    assert "place of birth (P19)" in RelationLookup(RELATION_NAMES).near("place of brith")
    assert RelationLookup(RELATION_NAMES).near("xyzzy") == "none"
