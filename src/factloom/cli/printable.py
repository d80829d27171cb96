"""Text from documents on a terminal: it must not steer it."""


def printable(text: str) -> str:
    """The text on one line, without what would move the cursor, change colours or hide text.

    >>> printable("a\\x1b[31mb\\nc")
    'a [31mb c'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)
