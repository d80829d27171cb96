"""Names of which a list has parts only, such as first names: marks that go on over the rest.

A list of first and last names finds "Andrei" in "Andrei Tiwontschik". What stands beside such a
part and looks like a name is the rest of it: a word with a capital that nothing else marks.
"""

from collections.abc import Collection, Iterable, Sequence

from factloom.text.shapes import Case, Place, places, shape
from factloom.text.tags import TypedSpan

_LIKE_NAMES = {Case.TITLE, Case.MIXED, Case.INITIAL}


def whole_names(
    words: Sequence[str], marks: Sequence[TypedSpan], types: Collection[str]
) -> list[TypedSpan]:
    """The marks of a sentence, where those of the given types reach over the whole name.

    A mark goes on over words that have a capital (all in capitals only if the mark is, too), to
    the left not over the first word of the sentence, which has one anyway. Marks of one type that
    meet are one. In a sentence all in capitals nothing shows what is a name: it stays as it is.

    >>> whole_names("Then Andrei Tiwontschik won".split(), [TypedSpan(1, 2, "PER")], ["PER"])
    [TypedSpan(start=1, end=3, type='PER')]
    """
    if not types or places(words)[:1] == [Place.HEADLINE]:
        return list(marks)
    cases = [shape(word)[0] for word in words]
    free = [True] * len(words)
    for mark in marks:
        free[mark.start : mark.end] = [False] * (mark.end - mark.start)
    return _joined(
        (_grown(mark, cases, free) if mark.type in types else mark for mark in marks), types
    )


def _grown(mark: TypedSpan, cases: Sequence[Case], free: list[bool]) -> TypedSpan:
    """The mark over its free neighbours that look like names, which are free no longer."""
    like_names = _LIKE_NAMES | ({Case.UPPER} & set(cases[mark.start : mark.end]))

    def joins(place: int) -> bool:
        return free[place] and cases[place] in like_names

    start, end = mark.start, mark.end
    while end < len(cases) and joins(end):
        end += 1
    while start > 1 and joins(start - 1):
        start -= 1
    if start == 1 and joins(0) and cases[0] is Case.INITIAL:
        start = 0
    free[start:end] = [False] * (end - start)
    return TypedSpan(start, end, mark.type)


def _joined(marks: Iterable[TypedSpan], types: Collection[str]) -> list[TypedSpan]:
    found: list[TypedSpan] = []
    for mark in marks:
        last = found[-1] if found else None
        if last and last.end == mark.start and last.type == mark.type and mark.type in types:
            found[-1] = TypedSpan(last.start, mark.end, mark.type)
        else:
            found.append(mark)
    return found
