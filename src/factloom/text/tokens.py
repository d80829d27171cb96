"""Tokens as spans of a text: laying out given tokens, and finding them where none are given."""

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from factloom.document import Document, Sentence, Span
from factloom.errors import DocumentError, Place
from factloom.text.sentences import find_sentences
from factloom.text.tags import UNKNOWN_TYPE

# A number such as 1,150.5, an abbreviation such as U.S., a word, one Chinese/Japanese character, or
# one sign; white space belongs to no token.
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+(?![^\W\u3040-\u9fff])"
    r"|(?<![^\W\u3040-\u9fff])(?:[^\W\d_\u3040-\u9fff]\.){2,}"
    r"|[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]|[^\W_\u3040-\u9fff]+|[^\s]"
)
# Chinese and Japanese characters and their signs, such as the full-width comma.
_CHARACTER = re.compile(
    r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def separator_of(tokens: Iterable[str]) -> str:
    """What stood between the tokens: nothing if most are single Chinese characters, else a space.

    The text of a Chinese character corpus has no spaces, also not around the Latin letters and
    digits in it; a tokenizer sees it as people write it.
    """
    characters, others = 0, 0
    for token in tokens:
        if _CHARACTER.fullmatch(token):
            characters += 1
        else:
            others += 1
    return "" if characters > others else " "


def join_tokens(
    sentences: Iterable[Sequence[str]], separator: str = " "
) -> tuple[str, tuple[Sentence, ...]]:
    """The text of a tokenised document: all its tokens joined by single spaces, or by nothing."""
    words: list[str] = []
    laid_out: list[Sentence] = []
    position = 0
    for sentence in sentences:
        spans: list[Span] = []
        for word in sentence:
            spans.append((position, position + len(word)))
            position += len(word) + len(separator)
        words.extend(sentence)
        # A sentence without tokens stands, empty, where the one in front of it ends.
        here = max(position - len(separator), 0)
        start, end = (spans[0][0], spans[-1][1]) if spans else (here, here)
        laid_out.append(Sentence(start, end, tuple(spans)))
    return separator.join(words), tuple(laid_out)


def find_tokens(text: str, start: int, end: int) -> tuple[Span, ...]:
    """Words, single Chinese characters and signs of `text[start:end]`."""
    return tuple(match.span() for match in _TOKEN.finditer(text, start, end))


def tokenised_sentences(document: Document) -> tuple[Sentence, ...]:
    """The sentences with tokens that are never cut by the edge of a mention.

    The document's own sentences and tokens are kept; only what is missing is found by rule.
    """
    spans = name_spans(document)
    edges = sorted({edge for span in spans for edge in span})
    sentences = document.sentences or find_sentences(document.text, whole=spans)
    return tuple(_with_tokens(document.text, sentence, edges) for sentence in sentences)


def name_spans(document: Document) -> list[Span]:
    """The spans of all mentions but those of which nothing is known: they may reach anywhere."""
    return [(m.start, m.end) for m in document.mentions if m.type != UNKNOWN_TYPE]


def _with_tokens(text: str, sentence: Sentence, edges: Sequence[int]) -> Sentence:
    tokens = sentence.tokens or find_tokens(text, sentence.start, sentence.end)
    cut: list[Span] = []
    for start, end in tokens:
        inner = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        corners = [start, *inner, end]
        cut.extend(itertools.pairwise(corners))
    return Sentence(sentence.start, sentence.end, tuple(cut))


def mention_tokens(
    document: Document, index: int, sentences: Sequence[Sentence]
) -> tuple[int, int, int]:
    """Sentence, first token and end token (half-open) of a mention.

    `sentences` are those of `tokenised_sentences`, whose tokens end at the mention's edges.
    """
    mention = document.mentions[index]
    sentence = bisect_right(sentences, mention.start, key=lambda found: found.start) - 1
    tokens = sentences[sentence].tokens if sentence >= 0 else ()
    start = bisect_left(tokens, mention.start, key=lambda token: token[0])
    end = bisect_right(tokens, mention.end, key=lambda token: token[1])
    if start >= end or mention.end > sentences[sentence].end:
        place = Place(document=document.id, part=f"mention {index}")
        if document.mention_text(index).isspace():
            raise DocumentError("blank-mention", place)
        span = {"start": mention.start, "end": mention.end}
        raise DocumentError("mention-across-sentences", place, **span)
    return sentence, start, end
