"""Outputs appear whole under their names, or not at all."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factloom.errors import InputError
from factloom.files.output import (
    check_output,
    complete_or_nothing,
    try_out,
    write_pieces,
    write_together,
)


def failing() -> Iterator[str]:
    yield "new"
    raise OSError("the disk is full")


def test_files_that_belong_together_stay_as_they_were_if_one_fails(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_together({first: ["old"], second: ["old"]})
    with pytest.raises(InputError, match=r"second: .*the disk is full"):
        write_together({first: ["new"], second: failing()})
    assert first.read_text() == second.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_a_folder_in_the_place_of_one_file_keeps_the_other_as_it_was(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_pieces(["old"], first)
    second.mkdir()
    with pytest.raises(InputError, match="second: the file cannot be written"):
        write_together({first: ["new"], second: ["new"]})
    assert first.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [first, second]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "data").mkdir()
    target, link = tmp_path / "data" / "a.txt", tmp_path / "link.txt"
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    try_out(link)
    write_pieces(["new"], link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    with complete_or_nothing(link) as stream:
        stream.write(b"newer")
    assert link.is_symlink()
    assert target.read_text() == "newer"
    assert list(target.parent.iterdir()) == [target]


def test_a_path_below_a_file_is_told_as_one_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file-unwritable"):
        write_pieces(["new"], tmp_path / "file" / "a.txt")


def interrupted() -> Iterator[str]:
    yield "new"
    raise KeyboardInterrupt


def test_nothing_is_left_behind_by_whoever_interrupts(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_pieces(interrupted(), tmp_path / "a.txt")
    with pytest.raises(KeyboardInterrupt), complete_or_nothing(tmp_path / "a.txt"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def write_stream(path: Path) -> None:
    with complete_or_nothing(path) as stream:
        stream.write(b"new")


@pytest.mark.parametrize("write", [write_stream, try_out, lambda path: write_pieces(["new"], path)])
def test_what_is_read_only_is_not_replaced(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(InputError, match="read-only") as raised:
        write(path)
    assert raised.value.code == "read-only"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_disk_is_told_as_one() -> None:
    with pytest.raises(InputError) as raised:
        write_pieces(["new"], Path("/dev/full"))
    assert raised.value.code == "disk-full"


# --- the one rule: input is never overwritten ------------------------------------------------


def refusal(path: Path, *inputs: str | Path, others: tuple[Path, ...] = ()) -> str | None:
    try:
        check_output(path, inputs, others)
    except InputError as error:
        return error.code
    return None


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder with a file in it and in a folder in it."""
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "more" / "b.txt").write_text("b")
    return folder


def test_an_input_is_no_output_by_whatever_name(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "soft.txt").symlink_to(texts / "a.txt")
    (tmp_path / "hard.txt").hardlink_to(texts / "a.txt")
    (tmp_path / "folder").symlink_to(texts)
    roundabout = texts / "more" / ".." / "a.txt"
    for name in ("soft.txt", "hard.txt", "folder/a.txt", str(roundabout)):
        assert refusal(tmp_path / name, texts / "a.txt") == "output-is-input"
        assert refusal(texts / "a.txt", "missing", str(tmp_path / name)) == "output-is-input"
    assert refusal(texts / "b.txt", texts / "a.txt") is None


def test_what_is_there_in_a_folder_that_is_read_is_no_output(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to(texts)
    for path in (texts / "a.txt", texts / "more" / "b.txt", tmp_path / "folder" / "a.txt"):
        assert refusal(path, texts) == refusal(path, tmp_path / "folder") == "output-is-input"
    assert refusal(texts / "new.txt", texts) is None
    (texts / ".hidden").touch()  # is not read
    assert refusal(texts / ".hidden", texts) is None


def test_standard_input_may_be_a_file_too(texts: Path) -> None:
    kept = os.dup(0)
    try:
        with (texts / "a.txt").open() as file:
            os.dup2(file.fileno(), 0)
            assert refusal(texts / "a.txt", "-") == "output-is-input"
            assert refusal(texts / "more" / "b.txt", "-") is None
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def test_two_outputs_do_not_share_a_place(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for other in ("out", "link", "out/deep"):
        assert refusal(tmp_path / "out", others=(tmp_path / other,)) == "repeated-output"
    assert refusal(texts / "out", others=(texts,)) == "repeated-output"
    (tmp_path / "hard.txt").hardlink_to(texts / "a.txt")
    assert refusal(texts / "a.txt", others=(tmp_path / "hard.txt",)) == "repeated-output"
    assert refusal(tmp_path / "out", others=(tmp_path / "outer",)) is None


def test_an_output_has_a_name_in_a_folder(texts: Path) -> None:
    assert refusal(texts) == "output-name"
    assert refusal(texts / "none" / "out") == "output-name"
    assert refusal(texts / "a.txt" / "out") == "output-name"


def test_a_device_may_be_read_and_written() -> None:
    assert refusal(Path(os.devnull), os.devnull) is None
