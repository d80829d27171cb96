"""Names of which a list has parts only, such as first names: marks that go on over the rest.

A list of first names finds "Andrei" in "Andrei Tiwontschik", one that has "Association" the end of
"World Boxing Association". What stands beside such a part and looks like a name is the rest of
it: a word with a capital that nothing else marks.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from factloom.text.shapes import Case, Place, places, shape
from factloom.text.tags import TypedSpan

# What of a name an entry may be: then what stands behind it, in front of it, or both belongs to it.
Part = Literal["first", "last", "any"]

_LIKE_NAMES = {Case.TITLE, Case.MIXED, Case.INITIAL}


def whole_names(
    words: Sequence[str], marks: Sequence[TypedSpan], parts: Mapping[str, Part]
) -> list[TypedSpan]:
    """The marks of a sentence, where those of the types in `parts` reach over the whole name.

    A mark goes on over words that have a capital (all in capitals only if the mark is, too), to
    the left not over the first word of the sentence, which has one anyway. Initials in front of a
    part always belong to it. Marks of one type that meet are one. In a sentence all in capitals
    nothing shows what is a name: it stays as it is.

    >>> words = "Then Andrei Tiwontschik won".split()
    >>> whole_names(words, [TypedSpan(1, 2, "PER")], {"PER": "first"})
    [TypedSpan(start=1, end=3, type='PER')]
    """
    if not parts or places(words)[:1] == [Place.HEADLINE]:
        return list(marks)
    cases = [shape(word)[0] for word in words]
    free = [True] * len(words)
    for mark in marks:
        free[mark.start : mark.end] = [False] * (mark.end - mark.start)
    grown = (
        _grown(mark, cases, free, parts[mark.type]) if mark.type in parts else mark
        for mark in marks
    )
    return _joined(grown, parts)


def _grown(mark: TypedSpan, cases: Sequence[Case], free: list[bool], part: Part) -> TypedSpan:
    """The mark over its free neighbours that look like names, which are free no longer."""
    like_names = _LIKE_NAMES | ({Case.UPPER} & set(cases[mark.start : mark.end]))

    def joins_in_front(place: int) -> bool:
        if not free[place]:
            return False
        is_name = part != "first" and place > 0 and cases[place] in like_names
        return is_name or cases[place] is Case.INITIAL

    start, end = mark.start, mark.end
    while part != "last" and end < len(cases) and free[end] and cases[end] in like_names:
        end += 1
    while start > 0 and joins_in_front(start - 1):
        start -= 1
    free[start:end] = [False] * (end - start)
    return TypedSpan(start, end, mark.type)


def _joined(marks: Iterable[TypedSpan], parts: Mapping[str, Part]) -> list[TypedSpan]:
    found: list[TypedSpan] = []
    for mark in marks:
        last = found[-1] if found else None
        if last and last.end == mark.start and last.type == mark.type and mark.type in parts:
            found[-1] = TypedSpan(last.start, mark.end, mark.type)
        else:
            found.append(mark)
    return found
