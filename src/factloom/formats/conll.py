"""CoNLL columns: a word a line with its tags, a blank line behind each sentence.

    EU B-ORG          吴 B-NAME
    rejects O         重 M-NAME
    German B-MISC     阳 E-NAME

Delimiter, columns and scheme are found from the content, or given as options (conll_layout.py).
`-DOCSTART-` begins a document; without it every sentence is a document of its own. Each column of
tags is one level of nested names. What else a file holds (other columns, comments, illegal tags)
is kept under `attributes["conll"]`, so that the same file can be written again.

Tjong Kim Sang, De Meulder, Introduction to the CoNLL-2003 Shared Task, CoNLL 2003.
"""

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from factloom.document import Document, Mention, Sentence
from factloom.errors import Flaw, InputError, Place, flaw
from factloom.files import source as limits
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.conll_layout import (
    Kept,
    Layout,
    Options,
    character_and_position,
    find_layout,
    usual_end,
)
from factloom.text.tags import (
    OUTSIDE,
    Scheme,
    TypedSpan,
    find_scheme,
    parse_tag,
    spans_of,
    tags_of,
)
from factloom.text.tokens import join_tokens

_SENTENCES_THAT_TELL_THE_SCHEME = 1000


@dataclass(slots=True)
class _SentenceLines:
    start: list[str]  # -DOCSTART- and the blank lines behind it, if a document begins here
    before: list[str]  # comments and blank lines
    words: list[tuple[int, str]]


@dataclass(slots=True)
class _DocumentLines:
    start: list[str]
    sentences: list[_SentenceLines] = field(default_factory=list)
    behind: list[str] | None = None
    length: int = 0


def read(source: Source, report: Report, options: Options) -> Iterator[Document]:
    layout = find_layout(source.head(), options)
    if options.scheme is None:
        scheme = find_scheme(_first_tags(source, layout))
        layout = dataclasses.replace(layout, scheme=scheme)
    if not layout.tags:
        report(flaw("no-tag-column", source.place))
    for number, lines in enumerate(_documents(source, layout, report), start=1):
        numbers = [number for sentence in lines.sentences for number, _ in sentence.words]
        findings = Findings(Place(str(source.path), numbers[0] if numbers else None), report)
        findings.name_document(f"{source.name}-{number}")
        document = _Reader(layout, findings).document(lines)
        if document is not None:
            yield document


def _first_tags(source: Source, layout: Layout) -> Iterator[list[str]]:
    """The tags of the first sentences that have any but O."""

    def ignore(found: Flaw) -> None:  # it is reported when the documents are read
        pass

    def sequences() -> Iterator[list[str]]:
        for sentence in _sentences(source, layout, ignore):
            rows = [layout.split(line) for _, line in sentence.words]
            for column in layout.tags:
                tags = [row[column] for row in rows if column < len(row)]
                if any(tag != OUTSIDE for tag in tags):
                    yield tags

    return itertools.islice(sequences(), _SENTENCES_THAT_TELL_THE_SCHEME)


def _sentences(source: Source, layout: Layout, report: Report) -> Iterator[_SentenceLines]:
    """The lines of each sentence; the last may have no words, only what ends the file."""
    start: list[str] = []
    before: list[str] = []
    words: list[tuple[int, str]] = []
    length = 0
    for number, line in source.lines(report):
        blank = not line.strip()
        begins = layout.starts_document(line)
        if words and not blank and not begins:
            words.append((number, line))
            length += len(line)
            _check_length(length, source, number)
            continue
        if words:
            yield _SentenceLines(start, before, words)
            start, before, words = [], [], []
            if blank:
                continue
        if begins:
            if start:
                yield _SentenceLines(start, before, [])
                before = []
            start, before = [*before, line], []
        elif blank and start and not before:
            start.append(line)
        elif blank or layout.is_comment(line):
            before.append(line)
        else:
            words, length = [(number, line)], len(line)
    yield _SentenceLines(start, before, words)


def _documents(source: Source, layout: Layout, report: Report) -> Iterator[_DocumentLines]:
    current: _DocumentLines | None = None
    behind: list[str] = []
    for sentence in _sentences(source, layout, report):
        if sentence.words or sentence.start:
            if current is None or sentence.start or not current.start:
                if current is not None:
                    yield current
                current = _DocumentLines(sentence.start)
            _append(current, sentence, source)
            behind = [] if sentence.words else sentence.before
        else:
            behind = ["", *sentence.before]
    if current is not None:
        current.behind = behind
        yield current


def _append(document: _DocumentLines, sentence: _SentenceLines, source: Source) -> None:
    if sentence.words:
        document.sentences.append(sentence)
        document.length += sum(len(line) for _, line in sentence.words)
        _check_length(document.length, source, sentence.words[-1][0])


def _check_length(length: int, source: Source, line: int) -> None:
    if length > limits.MAXIMUM_RECORD:
        place = Place(file=str(source.path), line=line)
        raise InputError("record-too-long", place, limit=limits.MAXIMUM_RECORD)


class _Reader:
    """Makes a Document of the lines of one."""

    def __init__(self, layout: Layout, findings: Findings) -> None:
        self._layout = layout
        self._findings = findings

    def document(self, lines: _DocumentLines) -> Document | None:
        layout = self._layout
        rows = [self._rows(sentence) for sentence in lines.sentences]
        if not self._findings.flawless:
            return None
        words = [[row[layout.word] for row in sentence] for sentence in rows]
        positions: list[str] = []
        if layout.positions:
            parts = [[character_and_position(word) for word in sentence] for sentence in words]
            words = [[character for character, _ in sentence] for sentence in parts]
            positions = [place for sentence in parts for _, place in sentence]
        text, sentences = join_tokens(words, layout.separator)
        mentions: list[Mention] = []
        tags: dict[str, list[str]] = {}
        for column in layout.tags:
            found = [[row[column] for row in sentence] for sentence in rows]
            mentions.extend(self._mentions(lines, sentences, column, found, tags))
        kept = Kept(
            layout=str(layout),
            columns={str(n): [row[n] for part in rows for row in part] for n in layout.others},
            tags=tags,
            positions=positions,
            start=lines.start,
            before={str(n): s.before for n, s in enumerate(lines.sentences) if s.before},
            behind=None if lines.behind == usual_end(sentences) else lines.behind,
        )
        return self._findings.document(
            text=text,
            id=self._findings.place.document,
            sentences=sentences,
            mentions=tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end))),
            attributes={"conll": kept.model_dump(exclude_defaults=True)},
        )

    def _rows(self, sentence: _SentenceLines) -> list[list[str]]:
        width = self._layout.width
        rows = [self._layout.split(line) for _, line in sentence.words]
        for (number, _), row in zip(sentence.words, rows, strict=True):
            if len(row) != width:
                count = {"count": len(row), "expected": width}
                self._findings.add("ragged-columns", "", number, **count)
        return rows

    def _mentions(
        self,
        lines: _DocumentLines,
        sentences: Sequence[Sentence],
        column: int,
        found: list[list[str]],
        kept: dict[str, list[str]],
    ) -> Iterator[Mention]:
        """The names of one column; its tags are kept if they are not those that are written."""
        as_written = True
        for part, sentence, tags in zip(lines.sentences, sentences, found, strict=True):
            numbers = [number for number, _ in part.words]
            spans = self._spans(tags, numbers)
            empty = any(start == end for start, end in sentence.tokens)
            as_written = as_written and not empty and tags == self._repaired(tags, spans)
            first = column == self._layout.tags[0]
            attributes: dict[str, Any] = {} if first else {"column": column}
            for span in spans:
                start, end = sentence.tokens[span.start][0], sentence.tokens[span.end - 1][1]
                if start == end:
                    self._findings.add("blank-mention", "", numbers[span.start])
                else:
                    yield Mention(start, end, span.type, attributes=attributes)
        if not as_written:
            kept[str(column)] = [tag for tags in found for tag in tags]

    def _spans(self, tags: list[str], numbers: list[int]) -> list[TypedSpan]:
        if all(tag == OUTSIDE for tag in tags):
            return []
        scheme = self._layout.scheme
        unknown = [_unknown_tag(tag, scheme) for tag in tags]
        if any(unknown):
            for found, number in zip(unknown, numbers, strict=True):
                if found is not None:
                    self._findings.add_found(found, number)
            return []
        spans = spans_of(tags, scheme)
        repaired = self._repaired(tags, spans)
        for tag, right, number in zip(tags, repaired, numbers, strict=True):
            if _typed(tag) != right:
                wrong = {"tag": tag, "repaired": right, "scheme": scheme}
                self._findings.add("illegal-tag", "", number, **wrong)
        return spans

    def _repaired(self, tags: Sequence[str], spans: Sequence[TypedSpan]) -> list[str]:
        return tags_of(spans, len(tags), self._layout.scheme)


@functools.lru_cache(maxsize=1000)
def _unknown_tag(tag: str, scheme: Scheme) -> Flaw | None:
    try:
        parse_tag(tag, scheme)
    except InputError as error:
        return error.flaw
    return None


def _typed(tag: str) -> str:
    letter, _, kind = tag.partition("-")
    return tag if tag == OUTSIDE or kind else f"{letter}-_"
