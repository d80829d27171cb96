"""Any text as a file of token ids, made once and mapped into memory.

    corpus = Corpus.build(["notes/", "books.txt.gz"], encoder, folder, TextReading())
    corpus.ids[:8]            # the first tokens, read from the disk when they are looked at

A folder holds `tokens.bin`, a number a token (2 bytes where the vocabulary allows); `marks.bin`, a
byte a token, what begins there; `documents.bin`, where documents begin; and `corpus.json`, which is
written last: a folder without it is not finished. Texts are streamed, so that neither building nor
reading needs more memory for more text.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Span
from factloom.encoders.encoder import Encoder
from factloom.encoders.tokens import Tokens
from factloom.errors import InputError, Place
from factloom.formats.gathering import Problem
from factloom.formats.text_parts import Division, TextPart, text_parts
from factloom.objectives import Integers
from factloom.text.sentences import find_sentences
from factloom.text.tokens import find_tokens, name_spans
from factloom.text.word_sets import WordRule, segmented

VERSION = 1
TOKENS, MARKS, DOCUMENTS, ABOUT = "tokens.bin", "marks.bin", "documents.bin", "corpus.json"
# What begins with a token: bits of its mark. What lies inside of a name has NAMED as well.
WORD, SENTENCE, NAME, NAMED = 1, 2, 4, 8
_GROUP = 2**19  # characters of texts that are tokenised together

Marker = Callable[[Sequence[Document]], Sequence[Document]]


@dataclass(frozen=True, slots=True)
class TextReading:
    """How texts become tokens; another way makes another corpus."""

    format: str | None = None
    division: Division = "file"  # what a document of a plain text is
    words: WordRule = "rule"  # "jieba": Chinese words rather than characters
    names: str = "own"  # who marks names: the documents themselves, or the model of that name


@dataclass(frozen=True, slots=True)
class Corpus:
    """Tokenised text on the disk."""

    folder: Path
    ids: NDArray[Any]  # (tokens,) mapped
    marks: NDArray[np.uint8]  # (tokens,) mapped
    documents: NDArray[np.int64]  # (documents + 1,) mapped: where each begins, and the end
    fingerprint: str  # of tokens, marks and documents

    @classmethod
    def build(
        cls,
        paths: Sequence[str],
        encoder: Encoder,
        folder: Path,
        reading: TextReading,
        skipped: Callable[[Problem], None],
        mark: Marker | None = None,
    ) -> Self:
        """Tokenise the texts, unless the folder holds these already.

        `mark` gives documents the mentions that `reading.names` speaks of.
        """
        made_of = _made_of(paths, encoder, reading)
        if _about(folder).get("made_of") != made_of:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ABOUT).unlink(missing_ok=True)
            parts = text_parts(paths, skipped, reading.format, reading.division)
            texts = _tokenised(parts, encoder, reading, mark)
            counts = _write(folder, texts, len(encoder.tokenizer))
            if not counts["tokens"]:
                raise InputError("nothing-to-learn", Place(file=", ".join(paths)))
            about = json.dumps({"version": VERSION, "made_of": made_of, **counts}, indent=2)
            aside = folder / f"{ABOUT}.new"
            aside.write_text(about + "\n", encoding="utf-8")
            aside.replace(folder / ABOUT)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """What `build` has made."""
        about = _about(folder)
        if about.get("version") != VERSION:
            raise InputError("no-corpus", Place(file=str(folder)))
        return cls(
            folder,
            np.memmap(folder / TOKENS, dtype=about["numbers"], mode="r"),
            np.memmap(folder / MARKS, dtype=np.uint8, mode="r"),
            np.memmap(folder / DOCUMENTS, dtype=np.int64, mode="r"),
            about["fingerprint"],
        )


def _about(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _made_of(paths: Sequence[str], encoder: Encoder, reading: TextReading) -> dict[str, Any]:
    """What decides the tokens; of files their names, sizes and times, which is quick."""
    tokenizer = encoder.tokenizer.backend_tokenizer.to_str()
    return {
        "files": [list(entry) for path in paths for entry in _files(Path(path))],
        "tokenizer": hashlib.sha256(tokenizer.encode()).hexdigest(),
        **dataclasses.asdict(reading),
    }


def _files(path: Path) -> Iterator[tuple[str, int, int]]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            yield str(file), file.stat().st_size, file.stat().st_mtime_ns


# --- from texts to tokens ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Marked:
    ids: Integers
    marks: NDArray[np.uint8]
    begins: bool


def _tokenised(
    parts: Iterable[TextPart], encoder: Encoder, reading: TextReading, mark: Marker | None
) -> Iterator[_Marked]:
    for group in _groups(parts):
        documents: Sequence[Document] = [part.document for part in group]
        documents = documents if mark is None else mark(documents)
        tokens = encoder.tokenize([document.text for document in documents])
        for part, document, found in zip(group, documents, tokens, strict=True):
            yield _Marked(found.ids, marks_of(document, found, reading.words), part.begins)


def _groups(parts: Iterable[TextPart]) -> Iterator[list[TextPart]]:
    """Texts in their order, some at a time: tokenizers are faster with many."""
    group: list[TextPart] = []
    characters = 0
    for part in parts:
        group.append(part)
        characters += len(part.document.text)
        if characters >= _GROUP:
            yield group
            group, characters = [], 0
    if group:
        yield group


def marks_of(document: Document, tokens: Tokens, words: WordRule) -> NDArray[np.uint8]:
    """(tokens,) where words, sentences and names begin; a part of a word begins none."""
    text = document.text
    last = np.maximum(tokens.offsets[:, 1] - 1, tokens.offsets[:, 0])  # a space may be in front
    names = _outermost(name_spans(document))
    sentences = document.sentences or find_sentences(text, whole=names)
    spans = segmented(text) if words == "jieba" else find_tokens(text, 0, len(text))
    named = _index(names, last)
    inside = (named >= 0) & (last < np.append([end for _, end in names], 0)[named])
    marks = WORD * _first_in(spans, last)
    marks |= SENTENCE * _first_in([(found.start, found.end) for found in sentences], last)
    marks |= NAME * (inside & _changes(named)) | NAMED * inside
    return marks.astype(np.uint8)


def _first_in(spans: Sequence[Span], last: Integers) -> Integers:
    """1 for tokens that are the first of the span that they lie in, or behind; else 0."""
    return _changes(_index(spans, last)).astype(np.int64)


def _index(spans: Sequence[Span], last: Integers) -> Integers:
    """The last span that begins at or in front of each token's last character; -1 for none."""
    starts = np.asarray([start for start, _ in spans], np.int64)
    return np.searchsorted(starts, last, side="right") - 1


def _changes(index: Integers) -> NDArray[np.bool_]:
    return np.asarray(np.diff(index, prepend=-2) != 0)


def _outermost(spans: Iterable[Span]) -> list[Span]:
    """The spans that do not overlap one in front; of two that begin together the longer one."""
    found: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _write(folder: Path, texts: Iterable[_Marked], vocabulary: int) -> dict[str, Any]:
    numbers = np.dtype(np.uint16 if vocabulary <= 2**16 else np.uint32)
    digest = hashlib.sha256()
    tokens, documents = 0, 0
    with ExitStack() as stack:
        names = (TOKENS, MARKS, DOCUMENTS)
        files = [stack.enter_context((folder / name).open("wb")) for name in names]

        def put(*columns: NDArray[Any]) -> None:
            for file, column in zip(files, columns, strict=True):
                file.write(column.tobytes())
                digest.update(column.tobytes())

        begins = True
        for text in texts:
            begins = begins or text.begins
            if not len(text.ids):  # what it begins, if it does, begins with the next
                continue
            border, begins = [tokens] if begins else [], False
            put(text.ids.astype(numbers), text.marks, np.asarray(border, np.int64))
            tokens += len(text.ids)
            documents += len(border)
        put(np.zeros(0, numbers), np.zeros(0, np.uint8), np.asarray([tokens], np.int64))
    return {
        "numbers": numbers.name,
        "tokens": tokens,
        "documents": documents,
        "fingerprint": digest.hexdigest(),
    }
