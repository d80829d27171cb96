"""What can be judged of a document that is annotated in parts: only what touches known words."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from factloom.document import Document
from factloom.text.covered import Covered
from factloom.text.tags import UNKNOWN_TYPE


class Span(Protocol):
    """A mention, or what becomes one."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def type(self) -> str: ...


SpanT = TypeVar("SpanT", bound=Span)


def of_known_words(gold: Document, spans: Iterable[SpanT]) -> list[SpanT]:
    """Those that share no character with words of which the gold says that it knows nothing."""
    unknown = Covered((m.start, m.end) for m in gold.mentions if m.type == UNKNOWN_TYPE)
    return [span for span in spans if not unknown.touches(span.start, span.end)]


def judged(gold: Document, spans: Iterable[SpanT]) -> list[tuple[SpanT, bool]]:
    """Those of known words, each with whether the gold has it."""
    known = {(mention.start, mention.end, mention.type) for mention in gold.mentions}
    return [
        (span, (span.start, span.end, span.type) in known) for span in of_known_words(gold, spans)
    ]
