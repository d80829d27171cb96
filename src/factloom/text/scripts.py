"""Which script a text is written in: what a model of other languages cannot read."""

import unicodedata
from collections import Counter
from itertools import islice

SCRIPTS = {"en": "Latin", "zh": "Chinese"}  # of languages
_LETTERS = 2_000  # that are looked at
_WEIGHTS = {"Chinese": 3}  # a character says as much as three letters of an alphabet


def main_script(text: str) -> str | None:
    """The script of more than half of the first letters; None where there is no such script.

    Texts in Chinese name products and companies in Latin letters, so a character counts thrice.

    >>> main_script("Ada 出生 in London")
    'Latin'
    >>> main_script("马云出生于杭州")
    'Chinese'
    >>> main_script("苹果公司发布了 iPhone Pro Max")
    'Chinese'
    """
    letters = islice((letter for letter in text if letter.isalpha()), _LETTERS)
    counts = Counter(map(_script, letters))
    for name in counts:
        counts[name] *= _WEIGHTS.get(name, 1)
    script, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return script if 2 * count > counts.total() else None


def _script(letter: str) -> str:
    """Unicode names a letter by its script first: LATIN SMALL LETTER A."""
    first = unicodedata.name(letter, "unknown").split()[0]
    return "Chinese" if first == "CJK" else first.capitalize()
