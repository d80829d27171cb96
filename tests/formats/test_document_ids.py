"""Documents that stand one behind the other, and their ids."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document
from factloom.formats.document_ids import told_apart


def ids(*given: str) -> list[str]:
    return [document.id for document in told_apart(Document("x", id) for id in given)]


@pytest.mark.parametrize(
    ("given_ids", "expected"),
    [
        (("a", "b", "a"), ["a", "b", "a"]),
        (("a", "a", "a", "b", "b"), ["a", "a (2)", "a (3)", "b", "b (2)"]),
        (("", "x", ""), ["document-1", "x", "document-3"]),
        (("document-2", ""), ["document-2", "document-2 (2)"]),
        (("a", "a", "a (2)"), ["a", "a (2)", "a (2) (2)"]),
    ],
)
def test_ids_are_numbered_only_where_documents_would_be_taken_for_one(
    given_ids: tuple[str, ...], expected: list[str]
) -> None:
    assert ids(*given_ids) == expected


@given(st.lists(st.sampled_from(["", "a", "a (2)", "a (3)", "document-2"]), max_size=8))
def test_no_two_neighbours_have_one_id(given_ids: list[str]) -> None:
    found = ids(*given_ids)
    assert all(found)
    assert all(one != other for one, other in itertools.pairwise(found))
