"""Countries by their adjectives."""

from collections import Counter

import pytest

from factloom.text import demonyms
from factloom.text.demonyms import country_of


@pytest.mark.parametrize(
    ("name", "country"),
    [
        ("Swedish", "Sweden"),
        ("Sweden", "Sweden"),
        ("the United States", "United States"),
        ("AMERICAN", "United States"),
        ("Costa Rican", "Costa Rica"),
        ("South Korean", "South Korea"),
        ("Austria", "Austria"),
        ("Australian", "Australia"),
        ("Skarvik", None),
        ("", None),
    ],
)
def test_a_country_is_known_by_name_and_adjective(name: str, country: str | None) -> None:
    assert country_of(name) == country


def test_no_name_belongs_to_two_countries() -> None:
    names = Counter(name for line in demonyms._TABLE.split("\n") for name in line.split())
    assert [name for name, count in names.items() if count > 1] == []
