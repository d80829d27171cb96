"""CDR and GDA as ATLOP's authors prepared them: one document a line, columns apart by tabs.

    id, text, then 17 columns for each pair of entities:
    label, direction, crossing, two nearest spans, first entity (6), second entity (6)
    an entity: identifier, names, type, start tokens, end tokens, sentences

Sentences are separated by `|`, tokens by a space; token positions count through the whole
document. `1:CID:2` says that the relation CID leads from the first entity to the second one,
`1:NR:2` that there is none; `not_include` pairs are no candidates. Direction and crossing only
say how the mentions stand in the text: they do not turn the relation around.

Zhou et al., Document-Level Relation Extraction with Adaptive Thresholding and Localized Context
Pooling, AAAI 2021; the data sets: Li et al. 2016 (CDR), Wu et al. 2019 (GDA).
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, NamedTuple

from pydantic import Field, NonNegativeInt, TypeAdapter, ValidationError

from factloom.document import Document, Entity, Mention, Relation, Sentence, Span
from factloom.errors import DocumentError, Place
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.text.tokens import join_tokens, mention_tokens, tokenised_sentences

_PAIR_COLUMNS = 17
_LABEL = re.compile(r"([12]):([^:]+):([12])")
_NO_RELATION = "NR"
_NOT_INCLUDED = "not_include"
_NO_IDENTIFIER = "-"
_FIRST_COLUMNS = re.compile(
    r"^[^\t\n]+\t[^\t\n]*\t(?:[12]:[^\t\n:]+:[12]|not_include)\t", re.MULTILINE
)
_COUNT = re.compile(r"[0-9]{1,9}")
_COLUMN_MARKS = "\t\n\r"
_LABEL_MARKS = _COLUMN_MARKS + ":"
_NAME_MARKS = _COLUMN_MARKS + "|"
_TOKEN_MARKS = _NAME_MARKS + " "

_Hints = Annotated[list[str], Field(max_length=4)]
_SOURCE_PAIRS = TypeAdapter(list[tuple[NonNegativeInt, NonNegativeInt, _Hints]])


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return _FIRST_COLUMNS.search(head) is not None


def read(source: Source, report: Report) -> Iterator[Document]:
    for number, line in source.lines(report):
        if not line.strip():
            continue
        findings = Findings(Place(file=str(source.path), line=number), report)
        document = _Line(line.split("\t"), findings).document()
        if document is not None:
            yield document


class _Pair(NamedTuple):
    head: int
    tail: int
    label: str | None  # None: not a candidate
    hints: tuple[str, ...]  # direction, crossing, nearest span of the head, of the tail


class _Line:
    """One line on its way to a Document."""

    def __init__(self, columns: list[str], findings: Findings) -> None:
        self._columns = columns
        self._findings = findings
        self._tokens: list[Span] = []
        self._first_tokens: list[int] = []  # of each sentence
        self._sentences: tuple[Sentence, ...] = ()
        self._text = ""
        self._mentions: list[Mention] = []
        self._known: dict[tuple[str, ...], int] = {}  # columns of an entity: its index
        self._entities: list[Entity] = []

    def document(self) -> Document | None:
        identifier, *rest = self._columns
        self._findings.name_document(identifier)
        count = len(self._columns)
        if not rest or (count - 2) % _PAIR_COLUMNS:
            expected = f"2 and then {_PAIR_COLUMNS} for each pair"
            self._findings.add("wrong-columns", "", count=count, expected=expected)
            return None
        words = [sentence.split(" ") for sentence in rest[0].split("|")]
        self._text, self._sentences = join_tokens(words)
        self._tokens = [token for sentence in self._sentences for token in sentence.tokens]
        counts = (len(sentence.tokens) for sentence in self._sentences)
        self._first_tokens = list(itertools.accumulate(counts, initial=0))
        pairs = list(self._read_pairs(rest[1:]))
        return self._findings.document(
            text=self._text,
            id=identifier,
            sentences=self._sentences,
            mentions=tuple(self._mentions),
            entities=tuple(self._entities),
            relations=tuple(
                Relation(pair.head, pair.tail, pair.label)
                for pair in pairs
                if pair.label not in (None, _NO_RELATION)
            ),
            candidates=tuple(
                dict.fromkeys(  # entities that are written alike are one, and no pair
                    pair[:2] for pair in pairs if pair.label is not None and pair.head != pair.tail
                )
            ),
            # Direction, crossing and nearest spans are of no use here, but come back on writing.
            attributes={"cdr_pairs": [[*pair[:2], list(pair.hints)] for pair in pairs]},
        )

    def _read_pairs(self, columns: Sequence[str]) -> Iterator[_Pair]:
        for number, begin in enumerate(range(0, len(columns), _PAIR_COLUMNS)):
            label, *hints = columns[begin : begin + 5]
            first = self._entity(columns[begin + 5 : begin + 11], f"pair {number}, first entity")
            second = self._entity(columns[begin + 11 : begin + 17], f"pair {number}, second entity")
            match = _LABEL.fullmatch(label)
            if label == _NOT_INCLUDED:
                yield _Pair(first, second, None, tuple(hints))
            elif match is None or match[1] == match[3]:
                expected = "a label such as 1:CID:2, 1:NR:2 or not_include"
                part = f"pair {number}, label"
                self._findings.add("wrong-field", part, value=label, expected=expected)
            elif match[1] == "1":
                yield _Pair(first, second, match[2], tuple(hints))
            else:
                yield _Pair(second, first, match[2], ())

    def _entity(self, columns: Sequence[str], part: str) -> int:
        known = self._known.setdefault(tuple(columns), len(self._entities))
        if known < len(self._entities):
            return known
        identifier, names, kind, *places = columns
        first = len(self._mentions)
        lists = [names.split("|"), *(place.split(":") for place in places)]
        if len({len(values) for values in lists}) > 1:
            expected = f"a list as long as the names, which are {len(lists[0])}"
            value = " ".join(places)
            self._findings.add("wrong-field", part, value=value, expected=expected)
        for name, start, end, sentence in zip(*lists, strict=False):
            self._mentions.append(self._mention(name, kind, (start, end, sentence), part))
        mentions = tuple(range(first, len(self._mentions)))
        outside = None if identifier in ("", _NO_IDENTIFIER) else identifier
        self._entities.append(Entity(mentions, kind, id=outside))
        return known

    def _mention(self, name: str, kind: str, columns: tuple[str, ...], part: str) -> Mention:
        start, end = self._characters(columns, part)
        return Mention(start, end, kind, name=None if name == self._text[start:end] else name)

    def _characters(self, columns: tuple[str, ...], part: str) -> Span:
        stand_in = (0, len(self._text))  # keeps the indices right: the rest can be checked too
        for value in columns:
            if not _COUNT.fullmatch(value):
                expected = "a number of a token or sentence"
                self._findings.add("wrong-field", part, value=value, expected=expected)
                return stand_in
        start, end, sentence = (int(value) for value in columns)
        if sentence >= len(self._sentences):
            count = len(self._sentences)
            self._findings.add("no-such-sentence", part, sentence=sentence, count=count)
            return stand_in
        before, count = self._first_tokens[sentence], len(self._sentences[sentence].tokens)
        if not before <= start < end <= before + count:
            span = {"start": start - before, "end": end - before}
            self._findings.add(
                "span-outside-sentence", part, sentence=sentence, count=count, **span
            )
            return stand_in
        characters = self._tokens[start][0], self._tokens[end - 1][1]
        if characters[0] == characters[1]:
            self._findings.add("blank-mention", part)
            return stand_in
        return characters


def write(documents: Iterable[Document]) -> Iterator[str]:
    """One line a document, with one block of columns for each pair of entities."""
    for document in documents:
        yield "\t".join(_columns(document)) + "\n"


def _columns(document: Document) -> Iterator[str]:
    place = Place(document=document.id)
    sentences = [_with_a_token(sentence) for sentence in tokenised_sentences(document)]
    yield _clean(document.id, _COLUMN_MARKS, place)
    words = ([document.text[start:end] for start, end in sentence.tokens] for sentence in sentences)
    yield "|".join(" ".join(_clean(word, _TOKEN_MARKS, place) for word in line) for line in words)
    blocks = [_entity_block(document, index, sentences) for index in range(len(document.entities))]
    for pair in _pairs_to_write(document):
        head, tail = blocks[pair.head], blocks[pair.tail]
        yield _NOT_INCLUDED if pair.label is None else f"1:{pair.label}:2"
        hints = pair.hints if len(pair.hints) == 4 else _hints(head, tail)
        yield from (_clean(hint, _COLUMN_MARKS, place) for hint in hints)
        yield from head.columns
        yield from tail.columns


def _with_a_token(sentence: Sentence) -> Sentence:
    # A sentence without tokens is read back as one empty token: count it in.
    return sentence if sentence.tokens else replace(sentence, tokens=((sentence.start,) * 2,))


def _pairs_to_write(document: Document) -> Iterator[_Pair]:
    """The pairs of the source in its order, then the other candidates, then other relations."""
    hints: dict[tuple[int, int], tuple[str, ...]] = {}
    count = len(document.entities)
    for head, tail, columns in _pairs_of_source(document):
        if head < count and tail < count:  # else the entities are not those of the source
            hints.setdefault((head, tail), tuple(columns))
    candidates = dict.fromkeys(document.pairs())
    labels: dict[tuple[int, int], list[str]] = {}
    for index, relation in enumerate(document.relations):
        place = Place(document=document.id, part=f"relation {index}")
        if relation.type == _NO_RELATION:
            detail = "it would mean that there is no relation"
            raise DocumentError("not-writable", place, value=relation.type, detail=detail)
        label = _clean(relation.type, _LABEL_MARKS, place)
        labels.setdefault((relation.head, relation.tail), []).append(label)
    for pair in {**hints, **candidates, **labels}:
        unrelated = [_NO_RELATION] if pair in candidates else [None]
        for found in labels.get(pair, unrelated):
            yield _Pair(*pair, found, hints.get(pair, ()))


def _pairs_of_source(document: Document) -> list[tuple[int, int, list[str]]]:
    try:
        return _SOURCE_PAIRS.validate_python(document.attributes.get("cdr_pairs", ()))
    except ValidationError:  # somebody else's attribute
        return []


class _EntityBlock(NamedTuple):
    columns: tuple[str, ...]
    spans: tuple[tuple[int, int, int], ...]  # start token, end token, sentence


def _entity_block(document: Document, index: int, sentences: Sequence[Sentence]) -> _EntityBlock:
    entity = document.entities[index]
    place = Place(document=document.id, part=f"entity {index}")
    spans = []
    for mention in entity.mentions:
        sentence, start, end = mention_tokens(document, mention, sentences)
        before = sum(len(earlier.tokens) for earlier in sentences[:sentence])
        spans.append((before + start, before + end, sentence))
    names = (document.mention_name(mention) for mention in entity.mentions)
    columns = (
        _clean(entity.id or _NO_IDENTIFIER, _COLUMN_MARKS, place),
        "|".join(_clean(name, _NAME_MARKS, place) for name in names),
        _clean(entity.type, _COLUMN_MARKS, place),
        *(":".join(map(str, column)) for column in zip(*spans, strict=True)),
    )
    return _EntityBlock(columns, tuple(spans))


def _hints(head: _EntityBlock, tail: _EntityBlock) -> tuple[str, ...]:
    """How the two mentions that are nearest to each other stand in the text."""
    together = {span[2] for span in head.spans} & {span[2] for span in tail.spans}
    near = [(h, t) for h in head.spans for t in tail.spans if not together or h[2] == t[2]]
    first, second = min(
        near, key=lambda pair: max(pair[0][0], pair[1][0]) - min(pair[0][1], pair[1][1])
    )
    direction = "L2R" if first[0] < second[0] else "R2L"
    crossing = "NON-CROSS" if together else "CROSS"
    return direction, crossing, f"{first[0]}-{first[1]}", f"{second[0]}-{second[1]}"


def _clean(value: str, marks: str, place: Place) -> str:
    for mark in marks:
        if mark in value:
            detail = f"{mark!r} separates things in it"
            raise DocumentError("not-writable", place, value=value, detail=detail)
    return value
