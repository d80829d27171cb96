"""The colours of types, run by node where there is one."""

import json
import zlib
from itertools import pairwise

from page_scripts import result_of


def hues(*types: str) -> list[int]:
    found: list[int] = result_of(f"{json.dumps(types)}.map(hueOf)", "type_colours.js")
    return found


def test_the_usual_types_are_far_from_each_other_and_synonyms_are_not() -> None:
    usual = sorted(hues("PER", "ORG", "LOC", "TIME", "NUM", "MISC"))
    assert min(after - before for before, after in pairwise([*usual, usual[0] + 360])) >= 40
    person, name, place, country = hues("PER", "name", "LOC", "GPE")
    assert (person, place) == (name, country)


def test_other_types_have_a_colour_by_their_name() -> None:
    for type, hue in zip(("SHIP", "疾病"), hues("Ship", "疾病"), strict=True):
        assert hue == zlib.crc32(type.encode()) % 360
