"""Sentences of plain English and Chinese text, found by rule.

Rules, not a model: they are fast, need no download, and give exact offsets. A full stop ends a
sentence unless it belongs to an abbreviation, an initial, a number or a list item; what decides
the unclear cases is whether the next word usually begins a sentence.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from factloom.document import Sentence, Span

_CHINESE = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_CLOSING = r"\"'”’»)\]}」』）】》"
_CHINESE_MARKS = "。！？；"
_NEVER_FIRST = tuple(".,;:!?…)]}%")
_OPENING = "\"'“‘«([{「『（【《"

# The end of a sentence, with the quotes and brackets that close behind it. Runs of marks are
# taken whole (no backtracking, no start inside a run), so that the time stays linear.
_END = re.compile(
    rf"[{_CHINESE_MARKS}]+[{_CLOSING}]*"  # nothing needs to follow a Chinese mark
    rf"|(?<![!?])[!?]++[{_CLOSING}]*+(?=[{_CHINESE}])"
    rf"|(?<![.!?…])[.!?…]++[{_CLOSING}]*+(?=\s)"
)
# In tokenised text the closing quote stands alone; a straight one may open as well.
_LONELY_QUOTE = re.compile(r"\s+[\"”»](?=\s|$)")
_WORD_IN_FRONT = re.compile(rf"[^\s{re.escape(_OPENING)}—–/-]*")  # of the reversed text
_WORD_BEHIND = re.compile(rf"\s*[{re.escape(_OPENING)}]*(\S{{0,40}})")
_LETTERS = re.compile(r"[^\W\d_]+")
_LINE_BREAK = re.compile(r"\r?\n")
_LINE_END = re.compile(r"\r?\n\s*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")

# Lower-case words that can begin a sentence: mRNA, p53, iPhone.
_ODD_NAME = re.compile(r"[a-z]{1,3}-?[A-Z0-9]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]|Ph\.D|M\.Sc|B\.Sc")
_LIST_NUMBER = re.compile(r"\d{1,3}")
_SMALL_LETTER = re.compile(r"[a-z]\)\s")  # of a list


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words("e.g i.e eg ie a.k.a cf vs viz approx ca resp fig figs eq eqs esp incl tel")
_NOT_BEFORE_A_NUMBER = _words("no nos nr op pp pt vol vols ch sec art ref refs rs")
_SELDOM_LAST = _words(
    "st ste mt ft al inc ltd co corp llc jr sr bros est dept univ assn ave blvd rd ed eds"
)
# Only with a capital, and so not "the cat sat", "a sales rep", "he fell ill".
_TITLES = _words(
    "Mr Mrs Ms Dr Drs Prof Sen Rep Gov Gen Maj Brig Col Lt Capt Sgt Cpl Pvt Cmdr Cdr Adm Insp Supt "
    "Rev Hon Pres Amb Messrs Mme Mlle Fr"
)
_SHORT_NAMES = _words(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun "
    "Ala Ariz Ark Calif Colo Conn Del Fla Ill Ind Kan Ky Mass Mich Minn Mont Neb Nev Okla Ore Penn "
    "Tenn Tex Vt Va Wash Wis Wyo"
)
_CLOCK = _words("a.m p.m")
_BEHIND_A_CLOCK = _words(
    "Mon Tue Wed Thu Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday Eastern "
    "Central Mountain Pacific EST EDT CST CDT MST MDT PST PDT GMT UTC CET"
)
_USUAL_FIRST_WORDS = _words(
    "the a an this that these those there here it its he she they we you i his her their our my "
    "in on at as for from with by to of if when while although though because since after before "
    "during however but and or nor so yet then thus therefore moreover furthermore also both some "
    "many most all each one two three no not what who how why where which whose upon under until "
    "within without despite following according later today meanwhile instead another other such "
    "several once even only"
)
_BEHIND_A_NAME = _words("inc ltd corp co llc")  # Yahoo! Inc.
_GOES_ON = re.compile(
    r"[,，、(\[–—-]$|\b(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with)$", re.IGNORECASE
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


def find_sentences(
    text: str, whole: Iterable[Span] = (), breaks: Iterable[int] = ()
) -> tuple[Sentence, ...]:
    """The sentences that `split_sentences` tells, as a Document has them."""
    return tuple(Sentence(start, end) for start, end in split_sentences(text, whole, breaks))


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
    paragraphs = [text[start:end] for start, end in itertools.pairwise(edges)]
    widths = [_wrapped_width(paragraph) for paragraph in paragraphs]
    width = max(widths)
    for start, paragraph, wrapped in zip(edges, paragraphs, widths, strict=False):
        yield start
        if wrapped:
            continue
        line_start = 0
        for line_end in _LINE_END.finditer(paragraph):
            line = paragraph[line_start : line_end.start()]
            line_start = line_end.end()
            full = _is_full(len(line), width)  # as wide as the wrapped lines elsewhere
            if not full and not _goes_on(line, paragraph[line_start : line_start + 3]):
                yield start + line_start


def _goes_on(line: str, behind: str) -> bool:
    small = behind[:1].islower() and not _SMALL_LETTER.match(behind)
    return small or _GOES_ON.search(line) is not None


def _wrapped_width(paragraph: str) -> int:
    """The width at which an editor seems to have broken the lines; 0 if it has not."""
    lengths = [len(line) for line in _LINE_BREAK.split(paragraph.strip())]
    full, last = lengths[:-1], lengths[-1]
    widest = max(full, default=0)
    wrapped = len(full) >= 2 and last <= widest and all(_is_full(n, widest) for n in full)
    return widest if wrapped else 0


def _is_full(length: int, width: int) -> bool:
    return max(50, 0.75 * width) <= length <= width


def _mark_cuts(text: str) -> Iterator[int]:
    quotes = counted = 0  # straight quotes of the line, up to the mark
    for mark in _END.finditer(text):
        line_start = text.rfind("\n", counted, mark.start())
        if line_start >= 0:
            quotes, counted = 0, line_start
        quotes += text.count('"', counted, mark.start())
        counted = mark.start()
        end = _end_with_quote(text, mark, quoted=quotes % 2 == 1)
        if _ends_sentence(text, mark, end):
            yield end


def _end_with_quote(text: str, mark: re.Match[str], quoted: bool) -> int:
    """The end of a mark with the quotes that close behind it, and none that open."""
    chinese = mark[0][0] in _CHINESE_MARKS
    if chinese and not quoted and '"' in mark[0]:
        return mark.start() + mark[0].index('"')
    lonely = _LONELY_QUOTE.match(text, mark.end())
    if lonely and (quoted or not lonely[0].endswith('"')) and '"' not in mark[0]:
        return lonely.end()
    return mark.end()


def _ends_sentence(text: str, mark: re.Match[str], end: int) -> bool:
    if mark[0][0] in _CHINESE_MARKS:
        return True
    behind = _WORD_BEHIND.match(text, end)
    next_word = behind[1] if behind else ""
    if next_word[:1].islower() and not _ODD_NAME.match(next_word):
        return False
    if next_word[:1] in _NEVER_FIRST:
        return False
    if not mark[0].startswith("."):
        return next_word.rstrip(".,").lower() not in _BEHIND_A_NAME
    if mark[0].startswith(".."):
        return True
    return not _full_stop_belongs_to_word(text, mark.start(), next_word)


def _full_stop_belongs_to_word(text: str, stop: int, next_word: str) -> bool:
    in_front = _WORD_IN_FRONT.match(text[max(0, stop - 30) : stop][::-1])
    word = in_front[0][::-1] if in_front else ""
    if not word:
        return False
    if _LIST_NUMBER.fullmatch(word):
        return not text[max(0, stop - 40) : stop - len(word)].rpartition("\n")[2].strip()
    small = word.lower()
    if small in _NEVER_LAST or _capitalised(word) in _TITLES:
        return True
    if small in _NOT_BEFORE_A_NUMBER:
        return next_word[:1].isdigit()
    letters = _LETTERS.match(next_word)
    if small in _CLOCK:
        return letters is not None and letters[0] in _BEHIND_A_CLOCK
    if small in _SELDOM_LAST or word in _SHORT_NAMES or _INITIALS.fullmatch(word):
        return letters is None or letters[0].lower() not in _USUAL_FIRST_WORDS
    return False


def _capitalised(word: str) -> str:
    """DR as Dr, but dr as it is."""
    return word.capitalize() if word.isupper() else word
