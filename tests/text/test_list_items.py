"""Numbers of list items and lonely signs are no names; everything else may be one."""

import pytest

from factloom.text.list_items import names_nothing


def asked(marked: str) -> bool:
    """About the piece between two bars."""
    before, piece, behind = marked.split("|")
    return names_nothing(before + piece + behind, len(before), len(before) + len(piece))


@pytest.mark.parametrize(
    "marked",
    [
        "|1|. Ada opened the meeting.",
        "|1.| Ada opened the meeting.",
        "Agenda\n  |12|) Ada",
        "Agenda\n(|3|) Ada",
        "Agenda\n[|3|] Ada",
        "Agenda\r\n|3|.\tAda",
        "a price of |$|",
        "Ada |—| and others",
    ],
)
def test_item_numbers_and_lonely_signs_name_nothing(marked: str) -> None:
    assert asked(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "|3| million kroner",
        "|2. Bundesliga| is a league.",
        "They were |12|. Then came more.",
        "Agenda\nitem |3|. Ada",
        "|1997|. A year",
        "|3|.5 litres",
        "|3|.\nAda",
        "|12 delegates|) came",
        "a price of |$5|",
        "|北京|",
    ],
)
def test_anything_else_may_be_a_name(marked: str) -> None:
    assert not asked(marked)
