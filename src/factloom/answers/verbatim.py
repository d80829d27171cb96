"""Whether a passage says what a generator has written: the same words, in the same order.

Case and what stands between words do not count. A generator may be right in other words than those
of the passages; nobody can know that from words, so that such an answer is marked as not supported.
"""

import re
from collections.abc import Sequence

from factloom.answers.answer import Proof
from factloom.answers.passages import Passage
from factloom.answers.text_questions import proof_in

_WORD = re.compile(r"\w+")


def supporting(answer: str, passages: Sequence[Passage]) -> tuple[int, Proof] | None:
    """The number of the first passage that says it, and the sentence; None where none does.

    >>> supporting("torvik", [Passage("a", 0, 24, "Ada was born in Torvik.")])[1].sentence
    'Ada was born in Torvik.'
    """
    words = _WORD.findall(answer)
    if not words:
        return None
    pattern = re.compile(r"\b" + r"\W+".join(map(re.escape, words)) + r"\b", re.IGNORECASE)
    for number, passage in enumerate(passages):
        found = pattern.search(passage.text)
        if found:
            return number, proof_in(passage, *found.span())
    return None
