"""Mentions that a source gives by characters of its text."""

from collections.abc import Iterable, Mapping
from typing import Any

from factloom.document import Mention, Sentence
from factloom.files.report import Findings
from factloom.text.sentences import find_sentences


def mention_at(
    text: str,
    span: tuple[int, int],
    type: str,
    findings: Findings,
    part: str,
    line: int | None = None,
    *,
    name: str | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Mention:
    """The mention at half-open characters; `name` is kept where it differs from the text."""
    start, end = span
    if not 0 <= start < end <= len(text):
        outside = {"start": start, "end": end, "length": len(text)}
        findings.add("span-outside-text", part, line, **outside)
        start, end = 0, len(text)  # a stand-in: the rest can still be checked
    kept = None if name is None or name == text[start:end] else name
    return Mention(start, end, type, name=kept, attributes=attributes or {})


def found_sentences(text: str, mentions: Iterable[Mention]) -> tuple[Sentence, ...]:
    """The sentences of a text, found by rule; none ends within a mention."""
    spans = [(mention.start, mention.end) for mention in mentions]
    return find_sentences(text, whole=spans)
