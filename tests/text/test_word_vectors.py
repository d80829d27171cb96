"""Word vectors of all formats, read for some words only, with a clear error for every defect."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from factloom.errors import InputError
from factloom.text.word_vectors import read_vectors, unit_length, vector_words

WORDS = ["马", "云", "New York", "𠮷野家", "马"]  # one word twice: the first counts
VECTORS = np.arange(15, dtype=np.float32).reshape(5, 3) / 8 - 0.5


def text_file(path: Path, header: bool = True) -> Path:
    lines = [f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, VECTORS.tolist(), strict=True)]
    path.write_text("\n".join((["5 3"] if header else []) + lines) + "\n", encoding="utf-8")
    return path


def binary_file(path: Path, line_ends: bool = False) -> Path:
    words = ["马", "云", "New_York", "𠮷野家", "马"]  # the format ends a word with a space
    content = b"5 3\n" + b"".join(
        word.encode() + b" " + vector.astype("<f4").tobytes() + (b"\n" if line_ends else b"")
        for word, vector in zip(words, VECTORS, strict=True)
    )
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def matrix_file(path: Path, words: str = "words.txt", kind: str = "float16") -> Path:
    np.save(path, VECTORS.astype(kind))
    (path.parent / words).write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return path


def gzipped_text(path: Path) -> Path:
    plain = text_file(path.with_suffix(""))
    path.write_bytes(gzip.compress(plain.read_bytes()))
    return path


FILES = [
    pytest.param(lambda f: text_file(f / "v.vec"), id="word2vec text"),
    pytest.param(lambda f: text_file(f / "v.txt", header=False), id="GloVe"),
    pytest.param(lambda f: gzipped_text(f / "v.txt.gz"), id="gzipped text"),
    pytest.param(lambda f: binary_file(f / "v.bin"), id="binary"),
    pytest.param(lambda f: binary_file(f / "v.bin", line_ends=True), id="binary with line ends"),
    pytest.param(lambda f: binary_file(f / "v.bin.gz"), id="gzipped binary"),
    pytest.param(lambda f: matrix_file(f / "vectors.float16.npy"), id="matrix"),
    pytest.param(lambda f: matrix_file(f / "a.float16.npy", "a.words.txt"), id="named matrix"),
    pytest.param(lambda f: matrix_file(f / "a.npy", kind="float32").parent, id="folder"),
]


@pytest.mark.parametrize("make", FILES)
def test_only_the_wanted_words_are_read_in_the_order_of_the_file(make, tmp_path: Path) -> None:
    found = read_vectors(make(tmp_path), {"𠮷野家", "马", "nowhere"}.__contains__)
    assert found.words == ("马", "𠮷野家")
    assert found.width == 3
    assert found.vectors.dtype == np.float32
    np.testing.assert_array_equal(found.vectors, VECTORS[[0, 3]])


@pytest.mark.parametrize("make", FILES)
def test_all_words_are_listed_once(make, tmp_path: Path) -> None:
    path = make(tmp_path)
    expected = list(dict.fromkeys(WORDS))
    assert [word.replace("_", " ") for word in vector_words(path)] == expected
    assert read_vectors(path).words == vector_words(path)


def cut(path: Path, count: int) -> Path:
    path.write_bytes(path.read_bytes()[:-count])
    return path


def text(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def without_words(path: Path) -> Path:
    np.save(path, VECTORS)
    return path


def too_few_words(path: Path) -> Path:
    matrix_file(path)
    (path.parent / "words.txt").write_text("马\n云\n", encoding="utf-8")
    return path


def not_finite(make: Callable[[Path], Path], path: Path) -> Path:
    """A file in which one number of the second word is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "VECTORS", np.where(VECTORS[1, 1] == VECTORS, np.nan, VECTORS))
        return make(path)


def two_matrices(folder: Path) -> Path:
    matrix_file(folder / "a.npy")
    matrix_file(folder / "b.npy")
    return folder


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (lambda f: f / "none.vec", "file-missing", "none.vec"),
        (lambda f: f / "none.bin", "file-missing", "none.bin"),
        (lambda f: f / "none.npy", "file-missing", "none.npy"),
        (lambda f: text(f / "v.vec", "2 3\n马 1 2 3\n云 1 2\n"), "vectors-width", "line 3"),
        (lambda f: text(f / "v.vec", "马 1 2 3\n云 1 2\n"), "vectors-width", "line 2"),
        (lambda f: text(f / "v.vec", "马 1 x 3\n"), "vectors-number", "line 1"),
        (lambda f: text(f / "v.vec", "马\n"), "vectors-width", "line 1"),
        (lambda f: text(f / "v.bin", "马 1 2 3\n"), "vectors-header", "v.bin"),
        (lambda f: text(f / "v.vec", "2 3\n马 1 2 3\n"), "vectors-cut", "1 of 2"),
        (lambda f: text(f / "v.vec", "马 1 2\n云 1 nan\n"), "vectors-not-finite", "line 2"),
        (lambda f: text(f / "v.vec", "马 1 -inf\n"), "vectors-not-finite", "line 1"),
        (lambda f: not_finite(binary_file, f / "v.bin"), "vectors-not-finite", "'云'"),
        (lambda f: not_finite(matrix_file, f / "v.npy"), "vectors-not-finite", "'云'"),
        (lambda f: cut(binary_file(f / "v.bin"), 5), "vectors-cut", "4 of 5"),
        (lambda f: cut(binary_file(f / "v.bin"), 14), "vectors-cut", "4 of 5"),
        (lambda f: cut(binary_file(f / "v.bin.gz"), 12), "file-unreadable", "v.bin.gz"),
        (lambda f: cut(matrix_file(f / "v.npy"), 8), "file-unreadable", "v.npy"),
        (lambda f: without_words(f / "v.npy"), "vectors-no-words", "v.words.txt"),
        (lambda f: too_few_words(f / "v.npy"), "vectors-shape", "2 words"),
        (two_matrices, "vectors-folder", "2 .npy files"),
    ],
)
def test_a_defect_is_told_with_its_place(make, code: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_vectors(make(tmp_path))
    assert caught.value.code == code
    assert said in str(caught.value)


@pytest.mark.parametrize("header", [True, False])
def test_blank_lines_are_passed_over(tmp_path: Path, header: bool) -> None:
    path = text_file(tmp_path / "v.vec", header)
    path.write_text(path.read_text(encoding="utf-8") + "\n \n", encoding="utf-8")
    assert read_vectors(path).words == vector_words(path) == tuple(dict.fromkeys(WORDS))


def test_numbers_of_words_that_nobody_wants_are_not_looked_at(tmp_path: Path) -> None:
    path = text(tmp_path / "v.vec", "2 2\n马 1 2\n云 1 nan\n")
    assert read_vectors(path, {"马"}.__contains__).words == ("马",)


@pytest.mark.parametrize("make", [FILES[0], FILES[3], FILES[6]])
def test_a_file_without_any_wanted_word_is_told(make, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_vectors(make(tmp_path), lambda _: False)
    assert caught.value.code == "vectors-none-wanted"


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "words.txt").write_text("a\n")
    with pytest.raises(InputError, match="file-unreadable"):
        read_vectors(tmp_path / "v.npy")


def test_directions_have_length_one_and_nothing_has_none() -> None:
    vectors: NDArray[np.float32] = np.array([[3, 4], [0, 0], [0, -2]], np.float32)
    np.testing.assert_allclose(unit_length(vectors), [[0.6, 0.8], [0, 0], [0, -1]])
