"""Word vectors from files, read only for the words that are needed.

    .npy            a matrix, one row a word, beside a list of the words: `words.txt`, or the same
                    name with `.words.txt` at its end; a folder with both will do as well
    .bin            word2vec's binary format
    anything else   word2vec's text format, or GloVe's, which lacks the first line

Text and binary files may be gzipped.
"""

import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from factloom.errors import InputError, Place
from factloom.files.report import raise_flaw
from factloom.files.source import Source

Wanted = Callable[[str], bool]

_GZIP_MAGIC = b"\x1f\x8b"
_LONGEST_WORD = 4096  # bytes; a longer one means that this is no vector file


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Words, each once, and a row for each."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # (words, width)

    @property
    def width(self) -> int:
        return int(self.vectors.shape[1])


def read_vectors(path: str | Path, wanted: Wanted = lambda _: True) -> WordVectors:
    """The vectors of the words that are wanted; the first one where a word stands there twice."""
    place = Path(path)
    if place.is_dir() or place.suffix == ".npy":
        return _read_matrix(_matrix_path(place), wanted)
    rows = _binary_rows(place, wanted) if _is_binary(place) else _text_rows(place, wanted)
    found: dict[str, NDArray[np.float32]] = {}
    for word, vector in rows:
        if vector is not None:
            found.setdefault(word, vector)
    if not found:
        raise InputError("vectors-none-wanted", Place(file=str(path)))
    return WordVectors(tuple(found), np.stack(list(found.values())))


def vector_words(path: str | Path) -> tuple[str, ...]:
    """The words that a file has vectors for, each once."""
    place = Path(path)
    if place.is_dir() or place.suffix == ".npy":
        return tuple(dict.fromkeys(_word_list(_matrix_path(place))))
    nothing: Wanted = lambda _: False  # noqa: E731 - no vector is looked at
    rows = _binary_rows(place, nothing) if _is_binary(place) else _text_rows(place, nothing)
    return tuple(dict.fromkeys(word for word, _ in rows))


def unit_length(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The directions: (words, width) with rows of length 1, or 0 where there is none."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: NDArray[np.float32] = vectors / np.maximum(length, 1e-12)
    return directions


# --- a matrix and a list of words ----------------------------------------------------------------


def _matrix_path(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.npy"))
    if len(found) != 1:
        raise InputError("vectors-folder", Place(file=str(path)), count=len(found))
    return found[0]


def _word_list(path: Path) -> list[str]:
    stem = path.name.removesuffix(".npy").removesuffix(".float16").removesuffix(".float32")
    beside = (path.with_name(f"{stem}.words.txt"), path.with_name("words.txt"))
    for listing in beside:
        if listing.exists():
            return [line for _, line in Source(listing).lines(raise_flaw)]
    raise InputError(
        "vectors-no-words", Place(file=str(path)), names=f"{beside[0].name}, words.txt"
    )


def _read_matrix(path: Path, wanted: Wanted) -> WordVectors:
    place = Place(file=str(path))
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError("file-missing", place) from None
    except (OSError, ValueError, EOFError) as error:
        raise InputError("file-unreadable", place, detail=error) from None
    words = _word_list(path)
    if matrix.ndim != 2 or len(matrix) != len(words):
        raise InputError("vectors-shape", place, shape=matrix.shape, words=len(words))
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        if wanted(word):
            rows.setdefault(word, row)
    if not rows:
        raise InputError("vectors-none-wanted", place)
    vectors = matrix[list(rows.values())].astype(np.float32)
    for word, vector in zip(rows, vectors, strict=True):
        _check_finite(word, vector, place)
    return WordVectors(tuple(rows), vectors)


# --- word2vec's two formats -----------------------------------------------------------------------

_Row = tuple[str, NDArray[np.float32] | None]  # a word, and its vector if it is wanted


def _text_rows(path: Path, wanted: Wanted) -> Iterator[_Row]:
    """A first line with count and width, if there is one, then a word and its numbers a line."""
    count, width, found = 0, 0, 0
    for number, line in Source(path).lines(raise_flaw):
        if not line.strip():
            continue
        columns = line.rstrip().split(" ")
        if number == 1 and len(columns) == 2 and all(column.isdecimal() for column in columns):
            count, width = (int(column) for column in columns)
            continue
        width = width or len(columns) - 1
        place = Place(file=str(path), line=number)
        if len(columns) <= width or width < 1:
            raise InputError("vectors-width", place, count=len(columns) - 1, width=width)
        word = " ".join(columns[:-width])  # a word may hold spaces
        found += 1
        yield word, _numbers(word, columns[-width:], place) if wanted(word) else None
    if found < count:
        raise InputError("vectors-cut", Place(file=str(path)), found=found, count=count)


def _numbers(word: str, columns: list[str], place: Place) -> NDArray[np.float32]:
    try:
        vector = np.array(columns, dtype=np.float32)
    except ValueError as error:
        raise InputError("vectors-number", place, detail=error) from None
    _check_finite(word, vector, place)
    return vector


def _check_finite(word: str, vector: NDArray[np.float32], place: Place) -> None:
    if not np.isfinite(vector).all():
        raise InputError("vectors-not-finite", place, word=word)


def _is_binary(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".bin")


def _binary_rows(path: Path, wanted: Wanted) -> Iterator[_Row]:
    place = Place(file=str(path))
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == _GZIP_MAGIC
            stream = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if zipped else raw
            yield from _binary_content(stream, wanted, place)
    except FileNotFoundError:
        raise InputError("file-missing", place) from None
    except (OSError, EOFError) as error:
        raise InputError("file-unreadable", place, detail=error) from None


def _binary_content(stream: BinaryIO, wanted: Wanted, place: Place) -> Iterator[_Row]:
    """A first line with count and width, then for each word: it, a space, float32 numbers."""
    header = stream.readline(_LONGEST_WORD).split()
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise InputError("vectors-header", place)
    count, width = (int(part) for part in header)
    for index in range(count):
        word = _binary_word(stream)
        numbers = stream.read(4 * width)
        if word is None or len(numbers) < 4 * width:
            raise InputError("vectors-cut", place, found=index, count=count)
        yield word, _from_bytes(word, numbers, place) if wanted(word) else None


def _from_bytes(word: str, numbers: bytes, place: Place) -> NDArray[np.float32]:
    vector = np.frombuffer(numbers, "<f4").astype(np.float32)
    _check_finite(word, vector, place)
    return vector


def _binary_word(stream: BinaryIO) -> str | None:
    """The bytes up to a space; None where there is none."""
    letters = bytearray()
    while (letter := stream.read(1)) != b" ":
        if not letter or len(letters) > _LONGEST_WORD:
            return None
        letters += letter
    # some writers put a line end behind every vector; words cut by others are no UTF-8
    return letters.lstrip(b"\n").decode("utf-8", errors="replace")
