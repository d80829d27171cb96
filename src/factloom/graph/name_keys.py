"""Names made comparable: spelling that carries no meaning is taken away.

>>> name_key("The  Analytical-Engine's")
'analytical engine'
>>> value_key("May 3, 1931"), value_key("3 May 1931"), value_key("last Monday")
('1931-05-03', '1931-05-03', None)
"""

import re
import unicodedata
from functools import lru_cache

from factloom.text.pronouns import is_pronoun


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Entities that are values: the same value is the same thing, whatever is said about it.
VALUE_TYPES = _set_of("TIME DATE NUM NUMBER CARDINAL ORDINAL QUANTITY PERCENT MONEY")
PERSON_TYPES = _set_of("PER PERSON NAME")
PLACE_TYPES = _set_of("LOC GPE LOCATION PLACE")

_POSSESSIVE = re.compile(r"['’]s?(?=\s|$)")
_INNER_DOT = re.compile(r"(?<=\w)\.(?=\w\b)")  # U.S.A. is USA
_NOT_A_WORD = re.compile(r"[\W_]+")
_TITLES = _set_of("mr mrs ms miss dr prof professor sir lord lady dame st saint")
_SMALL_WORDS = _set_of("of the and for in de la")
_IDEOGRAPHS = re.compile(r"[㐀-鿿豈-﫿぀-ヿ가-힯]")
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
_MONTHS = {
    month[:length]: number
    for number, month in enumerate(_MONTH_NAMES.split(), start=1)
    for length in (3, 4, len(month))  # Sep, Sept, September
}
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_CHINESE_DATE = re.compile(r"(\d{4})年(?:(\d{1,2})月(?:(\d{1,2})日)?)?")
_VALUE_WORD = re.compile(r"(?:(?<![\w.)])-)?\d+(?:\.\d+)?|[^\W\d_]+|[%$€£¥]")
_FILLERS = _set_of("the of on in st nd rd th")
_VOICING = "\u3099\u309a"  # of Japanese syllables: combining marks, but no accents
_RELATIVE = _set_of("ago later earlier before after last next this past")
_YEARLESS = re.compile(r"\d{1,2}月|\d{1,2}[日号]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


@lru_cache(maxsize=65536)
def name_key(name: str) -> str:
    """Lower case without accents, punctuation, possessive and article."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(
        letter
        for letter in plain
        if not unicodedata.combining(letter) or letter in _VOICING  # パリ is not バリ
    )
    plain = _INNER_DOT.sub("", _POSSESSIVE.sub("", unicodedata.normalize("NFKC", plain)))
    words = _NOT_A_WORD.sub(" ", plain).split()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return " ".join(words) or name


def is_name(mention: str) -> bool:
    """Whether a mention names something outside its document; "she" and "the firm" do not."""
    nominal = mention.startswith("the ") and mention.islower()
    return not nominal and not is_pronoun(mention)


def person_key(name: str) -> str:
    """As `name_key`, without titles such as Dr."""
    words = name_key(name).split()
    while len(words) > 1 and words[0] in _TITLES:
        words = words[1:]
    return " ".join(words) or name


def tells_who(key: str) -> bool:
    """Whether a person's name is more than a surname or a first name."""
    if _IDEOGRAPHS.search(key):
        return len(key) > 1
    words = key.split()
    return len(words) > 1 and sum(len(word) > 1 for word in words) > 1


def surname(key: str) -> str:
    """The last word of a person's name."""
    return (key.split() or [key])[-1]


def are_related(left: str, right: str) -> bool:
    """Whether two names share a word, or one is the initials of the other."""
    left_words, right_words = set(_words(left)), set(_words(right))
    if left_words & right_words:
        return True
    return left in _initials(right) or right in _initials(left)


def value_key(text: str) -> str | None:
    """A date as year-month-day and a number without commas; None for "yesterday" or "Monday"."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold()).replace("−", "-")
    found = _ISO_DATE.fullmatch(plain.strip()) or _CHINESE_DATE.fullmatch(plain.strip())
    if found:
        return _date(*(int(part) for part in found.groups() if part))
    words = [word for word in _VALUE_WORD.findall(plain) if word not in _FILLERS]
    months = [_MONTHS[word] for word in words if word in _MONTHS]
    if months:
        return _date_in_words([word for word in words if word not in _MONTHS], months)
    # A number or a year has the same meaning everywhere; a day without its year has not.
    relative = any(word in _RELATIVE or word[-1] in "前后後" for word in words)
    if relative or _YEARLESS.search(plain):
        return None
    return " ".join(words) if any(word[-1].isdigit() for word in words) else None


def _date_in_words(words: list[str], months: list[int]) -> str | None:
    years = [int(word) for word in words if word.isdecimal() and len(word) == 4]
    days = [int(word) for word in words if word.isdecimal() and len(word) < 3]
    if len(months) != 1 or len(years) != 1 or len(days) > 1 or len(words) > len(years + days):
        return None
    return _date(years[0], months[0], *days)


def _date(year: int, *month_and_day: int) -> str:
    return "-".join([f"{year:04}", *(f"{part:02}" for part in month_and_day)])


def _words(key: str) -> list[str]:
    found = [word for word in key.split() if len(word) > 2]
    # Chinese and Japanese do not part words: two signs together are the measure.
    if _IDEOGRAPHS.search(key):
        found = [key[index : index + 2] for index in range(len(key) - 1)]
    return found


def _initials(key: str) -> tuple[str, str]:
    words = key.split()
    if len(words) < 2:
        return "", ""
    return (
        "".join(word[0] for word in words),
        "".join(word[0] for word in words if word not in _SMALL_WORDS),
    )
