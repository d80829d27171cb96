"""Writing CoNLL columns: the reverse of conll.py, to the letter where nothing has changed.

The columns hold names: a tag cannot say that "she" is a pronoun.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from factloom.document import Document
from factloom.errors import DocumentError, Place
from factloom.formats.conll_layout import (
    DOCUMENT_START,
    Kept,
    Layout,
    Options,
    kept_options,
    layout_to_write,
    usual_end,
)
from factloom.text.tags import OUTSIDE, TypedSpan, spans_of, tags_of
from factloom.text.tokens import mention_tokens, tokenised_sentences

_NOTHING = "_"  # in a column of which nothing is known
_NO_FIT = "it does not fit into a column; another delimiter may do, such as conll:delimiter=tab"
_FILLER = "-X-"  # in the line of -DOCSTART-, as CoNLL-2003 has it


def write(documents: Iterable[Document], options: Options) -> Iterator[str]:
    """The lines of a file; the first document decides on its layout where options do not."""
    layout: Layout | None = None
    started = False  # behind a -DOCSTART- every document needs one
    ending: list[str] = []
    for number, document in enumerate(documents):
        kept = _kept(document)
        if layout is None:
            columns = map(int, kept.columns)
            layout = layout_to_write(kept_options(kept.layout), options, columns)
        written = _Writer(document, kept, layout)
        if number > 0 and ending:
            yield "\n"
        lines = list(written.lines(started))
        yield "".join(f"{line}\n" for line in lines)
        started = started or written.starts
        ending = usual_end(written.sentences)
        behind = ending if kept.behind is None else kept.behind
    if layout is not None:
        yield "".join(f"{line}\n" for line in behind)


def _kept(document: Document) -> Kept:
    try:
        kept = Kept.model_validate(document.attributes.get("conll", {}))
    except ValidationError:  # somebody else's attribute
        return Kept()
    return kept if all(name.isdecimal() for name in kept.columns) else Kept()


class _Writer:
    """Makes the lines of a Document."""

    def __init__(self, document: Document, kept: Kept, layout: Layout) -> None:
        self._document = document
        self._layout = layout
        source = layout_to_write(kept_options(kept.layout), Options(), map(int, kept.columns))
        same = (source.word, source.tags, source.delimiter)
        # Lines and columns of another layout have no place in this file.
        self._kept = kept if same == (layout.word, layout.tags, layout.delimiter) else Kept()
        self.sentences = [s for s in tokenised_sentences(document) if s.tokens]
        self.starts = bool(self._kept.start) or len(self.sentences) != 1
        self._place = Place(document=document.id)

    def lines(self, started: bool) -> Iterator[str]:
        if self._kept.start:
            yield from self._kept.start
        elif started or self.starts:
            cells = [_FILLER] * self._layout.width
            cells[self._layout.word] = DOCUMENT_START
            for column in self._layout.tags:
                cells[column] = OUTSIDE
            yield self._layout.join(cells)
            yield ""
        rows = self._rows()
        for number, sentence in enumerate(self.sentences):
            if number > 0:
                yield ""
            yield from self._kept.before.get(str(number), ())
            yield from itertools.islice(rows, len(sentence.tokens))

    def _rows(self) -> Iterator[str]:
        """One line a word, for all sentences."""
        layout, text = self._layout, self._document.text
        tokens = [token for sentence in self.sentences for token in sentence.tokens]
        words = [text[start:end] for start, end in tokens]
        for word in words:
            if not layout.holds_word(word):
                raise self._not_writable(word, _NO_FIT)
        if layout.positions:
            places = self._whole(self._kept.positions, len(tokens), "0")
            words = [word + place for word, place in zip(words, places, strict=True)]
        columns = {layout.word: words}
        for name, values in self._kept.columns.items():
            if int(name) >= layout.width:
                raise self._not_writable(name, "the first document has fewer columns")
            columns[int(name)] = self._whole(values, len(tokens), _NOTHING)
        for column in layout.tags:
            columns[column] = []
        for number, spans in enumerate(self._levels()):
            for column in layout.tags:
                length = len(self.sentences[number].tokens)
                columns[column].extend(tags_of(spans[column], length, layout.scheme))
        for column in layout.tags:
            self._check_types(columns[column])
            columns[column] = self._source_tags(column, columns[column])
        nothing = [_NOTHING] * len(tokens)
        filled = [columns.get(column, nothing) for column in range(layout.width)]
        return (layout.join(cells) for cells in zip(*filled, strict=True))

    def _whole(self, values: list[str], length: int, otherwise: str) -> list[str]:
        # Where a mention has cut a word there are more words than there were.
        return values if len(values) == length else [otherwise] * length

    def _check_types(self, tags: list[str]) -> None:
        for tag in dict.fromkeys(tags):
            if not self._layout.holds(tag):
                raise self._not_writable(tag, _NO_FIT)

    def _levels(self) -> list[Mapping[int, list[TypedSpan]]]:
        """The spans of each sentence by column: the one they came from, else the first free."""
        columns = self._layout.tags
        found: list[dict[int, list[TypedSpan]]] = [
            {column: [] for column in columns} for _ in self.sentences
        ]
        mentions = self._document.mentions
        order = sorted(
            (index for index, mention in enumerate(mentions) if mention.kind == "name"),
            key=lambda index: (mentions[index].start, -mentions[index].end),
        )
        for index in order:
            sentence, span = self._span(index)
            wanted = mentions[index].attributes.get("column", columns[0] if columns else None)
            first = [column for column in columns if column == wanted]
            for column in (*first, *columns):
                level = found[sentence][column]
                if not level or level[-1].end <= span.start:
                    level.append(span)
                    break
            else:
                detail = "it overlaps another one: give more columns of tags, conll:tag=1+2"
                raise self._not_writable(self._document.mention_text(index), detail)
        return list(found)

    def _span(self, index: int) -> tuple[int, TypedSpan]:
        sentence, start, end = mention_tokens(self._document, index, self.sentences)
        tokens = self.sentences[sentence].tokens
        # Empty words at the edges, where nothing stands between words, are not its own.
        while start < end - 1 and tokens[start][0] == tokens[start][1]:
            start += 1
        while start < end - 1 and tokens[end - 1][0] == tokens[end - 1][1]:
            end -= 1
        return sentence, TypedSpan(start, end, self._document.mentions[index].type)

    def _source_tags(self, column: int, written: list[str]) -> list[str]:
        """The tags of the source, illegal as they are, if they still mean the same."""
        source = self._kept.tags.get(str(column), [])
        scheme = kept_options(self._kept.layout).scheme
        if len(source) != len(written) or scheme != self._layout.scheme:
            return written
        return source if self._names(source) == self._names(written) else written

    def _names(self, tags: list[str]) -> list[tuple[int, int, str]]:
        names: list[tuple[int, int, str]] = []
        position = 0
        for sentence in self.sentences:
            tokens = sentence.tokens
            found = spans_of(tags[position : position + len(tokens)], self._layout.scheme)
            names.extend((tokens[s.start][0], tokens[s.end - 1][1], s.type) for s in found)
            position += len(tokens)
        return names

    def _not_writable(self, value: str, detail: str) -> DocumentError:
        return DocumentError("not-writable", self._place, value=value, detail=detail)
