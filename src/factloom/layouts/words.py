"""Which tokens of the encoder a word of the document is made of."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def word_tokens(words: Integers, offsets: Integers) -> tuple[Integers, Integers]:
    """The first and the last token of each word: (words,) twice; first > last if it has none.

    `words` (words, 2) and `offsets` (tokens, 2) are characters of one text, both in text order.
    A token may begin with the space in front of a word, and a few tokenizers join words: then
    the words share the token.
    """
    first = np.searchsorted(offsets[:, 1], words[:, 0], side="right")
    last = np.searchsorted(offsets[:, 0], words[:, 1], side="left") - 1
    return first, last
