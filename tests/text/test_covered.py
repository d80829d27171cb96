"""What shares a character with some spans, against a look at every character."""

from hypothesis import given
from hypothesis import strategies as st

from factloom.text.covered import Covered

spans = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: tuple(sorted(pair)))


@given(st.lists(spans, max_size=6), spans)
def test_spans_touch_where_they_share_a_character(
    covering: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    characters = {place for span in covering for place in range(*span)}
    assert Covered(covering).touches(*asked) == bool(characters & set(range(*asked)))
