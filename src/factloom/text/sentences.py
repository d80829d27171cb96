"""Sentences of plain English and Chinese text, found by rule.

Rules, not a model: they are fast, need no download, and give exact offsets. A full stop ends a
sentence unless it belongs to an abbreviation, an initial, a number or a list item; what decides
the unclear cases is whether the next word usually begins a sentence.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from factloom.document import Span

_CHINESE = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_CLOSING = r"\"'”’»)\]}」』）】》"
_OPENING = "\"'“‘«([{「『（【《"

# The end of a sentence, with the quotes and brackets that close behind it. Runs of marks are
# taken whole (no backtracking, no start inside a run), so that the time stays linear.
_END = re.compile(
    rf"[。！？；]+[{_CLOSING}]*"  # nothing needs to follow a Chinese mark
    rf"|(?<![!?])[!?]++[{_CLOSING}]*+(?=[{_CHINESE}])"
    rf"|(?<![.!?…])[.!?…]++[{_CLOSING}]*+(?=\s)"
)
_WORD_IN_FRONT = re.compile(rf"[^\s{re.escape(_OPENING)}—–/]*")  # of the reversed text
_WORD_BEHIND = re.compile(rf"\s*[{re.escape(_OPENING)}]*(\S{{0,40}})")
_LETTERS = re.compile(r"[^\W\d_]+")
_LINE_END = re.compile(r"\n\s*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")

# Lower-case words that can begin a sentence: mRNA, p53, iPhone.
_ODD_NAME = re.compile(r"[a-z]{1,3}-?[A-Z0-9]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]|Ph\.D|M\.Sc|B\.Sc")
_LIST_NUMBER = re.compile(r"\d{1,3}")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    "mr mrs ms dr prof sen rep gov gen col lt capt sgt cmdr adm rev hon pres messrs mme mlle fr "
    "e.g i.e eg ie cf vs viz approx ca resp fig figs eq eqs esp incl"
)
_NOT_BEFORE_A_NUMBER = _words("no nos pp vol vols ch sec art ref refs")
_SELDOM_LAST = _words(
    "st ste mt ft etc al inc ltd co corp llc jr sr bros est dept univ assn ave blvd rd "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur fri sat sun"
)
_USUAL_FIRST_WORDS = _words(
    "the a an this that these those there here it its he she they we you i his her their our my "
    "in on at as for from with by to of if when while although though because since after before "
    "during however but and so then thus therefore moreover furthermore also both some many most "
    "all each one two three no not what who how why where"
)


def split_sentences(
    text: str, whole: Iterable[Span] = (), breaks: Iterable[int] = ()
) -> list[Span]:
    """Half-open spans of the sentences, without white space at their edges.

    Every character that is not white space lies in exactly one sentence. A sentence begins at
    each of the `breaks`, such as the end of a title. No sentence ends inside one of the spans
    `whole`, such as mentions that are known already.

        >>> split_sentences("Dr. Who left. He is back!")
        [(0, 13), (14, 25)]
    """
    cuts = _outside_spans(sorted({*_line_cuts(text), *_mark_cuts(text), *breaks}), whole)
    sentences = []
    for start, end in itertools.pairwise([0, *cuts, len(text)]):
        piece = text[start:end]
        if piece and not piece.isspace():
            left = len(piece) - len(piece.lstrip())
            sentences.append((start + left, start + len(piece.rstrip())))
    return sentences


def _outside_spans(cuts: list[int], spans: Iterable[Span]) -> list[int]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))

    def inside(cut: int) -> bool:
        index = bisect_right(merged, cut, key=lambda span: span[0]) - 1
        return index >= 0 and merged[index][0] < cut < merged[index][1]

    return [cut for cut in cuts if not inside(cut)]


def _line_cuts(text: str) -> Iterator[int]:
    """Blank lines, and the line ends of paragraphs whose lines were not merely wrapped."""
    edges = [0, *(blank.end() for blank in _BLANK_LINE.finditer(text)), len(text)]
    for start, end in itertools.pairwise(edges):
        yield start
        paragraph = text[start:end]
        if _is_wrapped(paragraph):
            continue
        for line_end in _LINE_END.finditer(paragraph):
            if not paragraph[line_end.end() : line_end.end() + 1].islower():
                yield start + line_end.end()


def _is_wrapped(paragraph: str) -> bool:
    """Whether the lines look as if an editor had broken them at a fixed width."""
    lengths = [len(line) for line in paragraph.strip().split("\n")]
    full, last = lengths[:-1], lengths[-1]
    return len(full) >= 2 and min(full) >= max(50, 0.75 * max(full)) and last <= max(full)


def _mark_cuts(text: str) -> Iterator[int]:
    for mark in _END.finditer(text):
        if _ends_sentence(text, mark):
            yield mark.end()


def _ends_sentence(text: str, mark: re.Match[str]) -> bool:
    if mark[0][0] in "。！？；":
        return True
    behind = _WORD_BEHIND.match(text, mark.end())
    next_word = behind[1] if behind else ""
    if next_word[:1].islower() and not _ODD_NAME.match(next_word):
        return False
    if not mark[0].startswith(".") or mark[0].startswith(".."):
        return True
    return not _full_stop_belongs_to_word(text, mark.start(), next_word)


def _full_stop_belongs_to_word(text: str, stop: int, next_word: str) -> bool:
    in_front = _WORD_IN_FRONT.match(text[max(0, stop - 30) : stop][::-1])
    word = in_front[0][::-1] if in_front else ""
    if not word:
        return False
    if _LIST_NUMBER.fullmatch(word):
        return not text[max(0, stop - 40) : stop - len(word)].rpartition("\n")[2].strip()
    if word.lower() in _NEVER_LAST:
        return True
    if word.lower() in _NOT_BEFORE_A_NUMBER:
        return next_word[:1].isdigit()
    if word.lower() in _SELDOM_LAST or _INITIALS.fullmatch(word):
        letters = _LETTERS.match(next_word)
        return letters is None or letters[0].lower() not in _USUAL_FIRST_WORDS
    return False
