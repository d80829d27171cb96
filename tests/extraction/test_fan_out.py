"""Several writers of one stream: all get everything, in bounded memory, and fail together."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.extraction.fan_out import AHEAD, fan_out


def documents(count: int) -> list[Document]:
    return [Document(str(index), id=str(index)) for index in range(count)]


class Collecting:
    def __init__(self) -> None:
        self.seen: list[Document] = []

    def __call__(self, documents: Iterable[Document]) -> None:
        for document in documents:
            self.seen.append(document)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_writer_gets_every_document_in_order(count: int) -> None:
    writers = [Collecting() for _ in range(count)]
    fan_out(iter(documents(50)), writers)
    assert [writer.seen for writer in writers] == [documents(50)] * count


def test_no_writer_falls_far_behind() -> None:
    given = 0
    behind = []

    def source() -> Iterator[Document]:
        nonlocal given
        for document in documents(200):
            given += 1
            yield document

    def slow(documents: Iterable[Document]) -> None:
        for taken, _ in enumerate(documents, start=1):
            behind.append(given - taken)

    fan_out(source(), [slow, Collecting()])
    assert len(behind) == 200
    assert max(behind) <= AHEAD + 2  # one is on its way in, one on its way out


def test_an_error_of_the_source_leaves_no_file_behind(tmp_path: Path) -> None:
    def failing() -> Iterator[Document]:
        yield from documents(3)
        raise RuntimeError("half way")

    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    writers = [lambda found, path=path: formats.write(found, path) for path in paths]
    with pytest.raises(RuntimeError, match="half way"):
        fan_out(failing(), writers)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_of_one_writer_stops_the_others(failing: int, tmp_path: Path) -> None:
    def fail(documents: Iterable[Document]) -> None:
        for document in documents:
            if document.id == "5":
                raise OSError("disk full")

    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    writers = [lambda found, path=path: formats.write(found, path) for path in paths]
    writers.insert(failing, fail)
    threads = threading.active_count()
    with pytest.raises(OSError, match="disk full"):
        fan_out(documents(200), writers)
    assert list(tmp_path.iterdir()) == []
    assert threading.active_count() == threads


def test_an_error_at_the_very_end_is_told_too() -> None:
    def fail_at_end(documents: Iterable[Document]) -> None:
        list(documents)
        raise OSError("cannot be renamed")

    with pytest.raises(OSError, match="cannot be renamed"):
        fan_out(documents(3), [fail_at_end, Collecting()])


def test_a_writer_may_stop_early() -> None:
    last = Collecting()
    fan_out(documents(100), [lambda found: next(iter(found)), last])
    assert len(last.seen) == 100
