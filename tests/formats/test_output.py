"""Outputs appear whole under their names, or not at all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from factloom.errors import InputError
from factloom.formats.output import complete_or_nothing, try_out, write_pieces, write_together


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
