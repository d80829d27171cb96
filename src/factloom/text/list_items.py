"""What only looks like a name: the number of a list item, or signs without a letter or digit."""

import re

_LINE_SO_FAR = re.compile(r"[^\S\n]*[(\[]?")
_ITEM_NUMBER = re.compile(r"(\d{1,3})[.)\]][^\S\n]")


def names_nothing(text: str, start: int, end: int) -> bool:
    """Whether a piece of text only numbers an item of a list, or holds nothing but signs.

    >>> names_nothing("Agenda\\n1. Two members resign.", 7, 8)
    True
    >>> names_nothing("3 million kroner", 0, 1)
    False
    """
    if not any(sign.isalnum() for sign in text[start:end]):
        return True
    line = text.rfind("\n", 0, start) + 1
    item = _ITEM_NUMBER.match(text, start)
    return (
        item is not None
        and item.end(1) <= end <= item.end(1) + 1  # with or without the sign behind it
        and _LINE_SO_FAR.fullmatch(text, line, start) is not None
    )
