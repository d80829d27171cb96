"""How alike two answers are: as the official script of SQuAD says, and for Chinese as CMRC's.

    SQuAD    words without case, signs and articles; F1 of the words that both have, as bags
    CMRC     Chinese characters, and what stands between them as words, without signs; F1 of the
             longest stretch that both have

An answer with a Chinese character is compared in the second way. CMRC's script cuts what is not
Chinese by NLTK, here by letters and digits.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence

_SIGNS = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CHINESE = re.compile(r"[\u4e00-\u9fa5]")
_CHINESE_SIGNS = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》…·、「」（）－～『』")
_PIECE = re.compile(r"[\u4e00-\u9fa5]|[^\W\u4e00-\u9fa5]+|[^\w\s]")


def same_answer(answer: str, gold: str) -> bool:
    """Whether the two have the same words (exact match)."""
    if _is_chinese(answer, gold):
        return _chinese_text(answer) == _chinese_text(gold)
    return _words(answer) == _words(gold)


def likeness(answer: str, gold: str) -> float:
    """F1 of the words; of two of which one has no words, whether the other has none either.

    >>> likeness("the red house", "red houses")
    0.5
    """
    if _is_chinese(answer, gold):
        found, wanted = _PIECE.findall(_chinese_text(answer)), _PIECE.findall(_chinese_text(gold))
        common = _longest_common(found, wanted) if wanted else 0
    else:
        found, wanted = _words(answer), _words(gold)
        common = (Counter(found) & Counter(wanted)).total()
    if not found or not wanted:
        return float(found == wanted)
    return 2 * common / (len(found) + len(wanted))


def best_likeness(answer: str, golds: Iterable[str]) -> float:
    """With that of several gold answers that is most like it."""
    return max((likeness(answer, gold) for gold in golds), default=0.0)


def _is_chinese(*answers: str) -> bool:
    return any(_CHINESE.search(answer) for answer in answers)


def _words(answer: str) -> list[str]:
    return _ARTICLES.sub(" ", answer.lower().translate(_SIGNS)).split()


def _chinese_text(answer: str) -> str:
    return answer.lower().strip().translate(_CHINESE_SIGNS)


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many pieces the longest stretch has that stands in both."""
    longest = 0
    before = [0] * len(second)  # of the stretches that end at each piece, in front of `one`
    for one in first:
        shifted = zip([0, *before[:-1]], second, strict=True)
        before = [length + 1 if one == other else 0 for length, other in shifted]
        longest = max(longest, *before)
    return longest
