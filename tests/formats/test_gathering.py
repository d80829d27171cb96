"""Files, directories and standard input as one stream, past whatever cannot be read."""

import gzip
import io
import json
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import searched
from factloom.document import Document
from factloom.errors import InputError
from factloom.formats.gathering import Problem, gather, gather_files
from format_samples import BRAT, BRAT_TEXT, SAMPLES

# An error of brat's may name the text that ought to stand beside the annotations.
CONTENTS = [content for format, content in SAMPLES.items() if format != "brat"]


def gathered(*paths: Path | str, format: str | None = None) -> tuple[list[Document], list[Problem]]:
    problems: list[Problem] = []
    documents = list(gather([str(path) for path in paths], format=format, skipped=problems.append))
    return documents, problems


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def give_input(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(content.encode("utf-8")))
    monkeypatch.setattr(sys, "stdin", stream)


def test_directory_is_walked_in_order_and_documents_are_named_by_their_path(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/deep/c.txt.gz", "c/README"):
        content = f"Torvik of {name}.".encode()
        write(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    documents, problems = gathered(tmp_path)
    assert problems == []
    assert [document.id for document in documents] == [
        "a/deep/c.txt.gz",
        "a/z.txt",
        "b.txt",
        "c/README",
    ]
    assert [document.attributes["source"] for document in documents] == [
        str(tmp_path / document.id) for document in documents
    ]
    assert documents[2].text == "Torvik of b.txt."
    assert documents[2].sentences


def test_file_that_is_named_is_called_as_its_format_calls_it(tmp_path: Path) -> None:
    path = write(tmp_path / "torvik.txt", "A town.")
    [document], _ = gathered(path)
    assert (document.id, document.attributes["source"]) == ("torvik.txt", str(path))


@pytest.mark.parametrize("format", sorted(set(SAMPLES) - {"brat", "text"}))
@pytest.mark.parametrize("zipped", [False, True])
def test_data_formats_are_read_as_they_are_elsewhere(
    tmp_path: Path, format: str, zipped: bool
) -> None:
    content = SAMPLES[format].encode("utf-8")
    write(tmp_path / "data", gzip.compress(content) if zipped else content)
    documents, problems = gathered(tmp_path)
    assert problems == []
    assert documents
    assert all(document.id for document in documents)


def test_hidden_files_and_directories_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / ".git" / "a.txt", "Hidden.")
    write(tmp_path / ".b.txt", "Hidden.")
    write(tmp_path / "c.txt", "Seen.")
    documents, problems = gathered(tmp_path)
    assert [document.id for document in documents] == ["c.txt"]
    assert problems == []


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("table.csv", "name,age\nAda,36\n", "unknown-kind"),
        ("program.py", "print('Torvik')\n", "unknown-kind"),
        ("relations.json", '{"P6": "head of government"}', "unknown-format"),
        ("latin.txt", "café au lait".encode("latin-1"), "wrong-encoding"),
        ("nothing.json", "[]", "no-document"),
        ("empty.txt", "", "empty-file"),
        ("cut.txt.gz", gzip.compress(b"Torvik", mtime=0)[:-4], "broken-gzip"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_stream_goes_on(
    tmp_path: Path, name: str, content: str | bytes, code: str
) -> None:
    write(tmp_path / name, content)
    write(tmp_path / "zzz.txt", "The last one.")
    documents, [problem] = gathered(tmp_path)
    assert [document.id for document in documents] == ["zzz.txt"]
    assert problem.error.code == code
    assert problem.place.file == str(tmp_path / name)
    assert str(problem.error).startswith(str(problem.place))


def test_given_format_reads_what_the_name_does_not_tell(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.rst", "Torvik is a town.")
    _, [problem] = gathered(path)
    assert problem.error.code == "unknown-kind"
    assert ".rst" in str(problem.error)
    [document], problems = gathered(path, format="text")
    assert (document.text, problems) == ("Torvik is a town.", [])


def test_flawed_record_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    good = '{"factloom": 1, "text": "good"}\n'
    path = write(tmp_path / "a.jsonl", good + "broken\n" + good)
    documents, [problem] = gathered(path)
    assert [document.id for document in documents] == ["a-1", "a-2"]
    assert (problem.error.code, problem.place.line) == ("not-json", 2)


def test_ids_that_come_again_get_a_number(tmp_path: Path) -> None:
    lines = [f'{{"factloom": 1, "text": "x", "id": "{name}"}}' for name in ("a", "a (2)", "a")]
    paths = [write(tmp_path / name, "\n".join(lines)) for name in ("one.jsonl", "two.jsonl")]
    text = write(tmp_path / "deep" / "a.txt", "Torvik.")
    documents, _ = gathered(*paths, text)
    ids = [document.id for document in documents]
    assert ids[:3] == ["a", "a (2)", "a (3)"]
    assert len(set(ids)) == len(ids) == 7


def test_source_that_a_document_has_already_is_kept(tmp_path: Path) -> None:
    line = '{"factloom": 1, "text": "x", "attributes": {"source": "old.txt", "year": 1}}'
    [document], _ = gathered(write(tmp_path / "a.jsonl", line))
    assert document.attributes == {"source": "old.txt", "year": 1}


def test_missing_path_is_an_error_before_anything_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "Torvik.")
    missing = str(tmp_path / "missing.txt")
    with pytest.raises(InputError) as caught:
        gather([str(path), missing], skipped=print)
    assert (caught.value.code, caught.value.flaw.place.file) == ("file-missing", missing)
    with pytest.raises(InputError, match="file-missing"):
        gather(["a\0b"], skipped=print)


def test_format_that_there_is_not_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-such-format"):
        gather([str(tmp_path)], format="xml", skipped=print)


def test_empty_directory_is_told(tmp_path: Path) -> None:
    write(tmp_path / ".hidden", "x")
    documents, [problem] = gathered(tmp_path)
    assert documents == []
    assert (problem.error.code, problem.place.file) == ("nothing-to-read", str(tmp_path))


def test_what_is_to_be_left_out_is_not_read_in_directories(tmp_path: Path) -> None:
    for name in ("a.txt", "deep/found.jsonl", "graph/log", "b/graph.txt"):
        write(tmp_path / name, "Torvik.")
    (tmp_path / "link").symlink_to("deep/found.jsonl")
    left_out = [tmp_path / "b" / ".." / "deep" / "found.jsonl", tmp_path / "graph"]
    problems: list[Problem] = []
    folders = [str(tmp_path), str(tmp_path / "graph")]
    found = gather_files(folders, None, problems.append, leave_out=left_out)
    assert [one.document.id for one in found] == ["a.txt", "b/graph.txt"]
    assert problems == []


def test_graph_stores_are_no_texts(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "Torvik.")
    write(tmp_path / "graph" / "CURRENT", "MANIFEST-000005\n")
    write(tmp_path / "graph" / "LOG", "opened\n")
    write(tmp_path / "not a store" / "CURRENT", "What goes on in Torvik.")
    documents, problems = gathered(tmp_path)
    assert [document.id for document in documents] == ["a.txt", "not a store/CURRENT"]
    assert problems == []
    _, [problem] = gathered(tmp_path / "graph")
    assert problem.error.code == "nothing-to-read"


def test_names_that_are_not_utf_8_are_written_out(tmp_path: Path) -> None:
    names = (b"caf\xe8.txt", b"caf\xe9.txt", b"caf\xe9.conll")
    contents = ("One.", "Two.", SAMPLES["conll"])
    for name, content in zip(names, contents, strict=True):
        try:
            write(tmp_path / os.fsdecode(name), content)
        except OSError:
            pytest.skip("there are no such names here")
    write(tmp_path / os.fsdecode(b"caf\xe9.bin"), b"\x00")
    for paths in ([tmp_path], sorted(tmp_path.iterdir())):
        documents, [problem] = gathered(*paths)
        for document in documents:
            assert json.dumps(document.to_json(), ensure_ascii=False).encode("utf-8")
        assert {r"caf\xe8.txt", r"caf\xe9.txt", r"caf\xe9-1"} <= {one.id for one in documents}
        assert documents[0].attributes["source"] == rf"{tmp_path}/caf\xe8.txt"
        assert problem.place.file == rf"{tmp_path}/caf\xe9.bin"


def test_links_are_read_but_not_followed_in_circles(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "Torvik.")
    (tmp_path / "b.txt").symlink_to("a.txt")
    (tmp_path / "circle").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "nowhere.txt").symlink_to("missing")
    documents, problems = gathered(tmp_path)
    assert [document.id for document in documents] == ["a.txt", "b.txt"]
    assert [problem.error.code for problem in problems] == ["linked-directory", "file-missing"]


def test_pairs_of_text_and_annotations_are_one_document(tmp_path: Path) -> None:
    write(tmp_path / "ada.txt", BRAT_TEXT)
    write(tmp_path / "ada.ann", BRAT)
    write(tmp_path / "bare.txt", "Torvik.")
    write(tmp_path / "bare.ann", "")
    write(tmp_path / "other.txt", "No annotations beside it.")
    documents, problems = gathered(tmp_path)
    assert problems == []
    assert [document.id for document in documents] == ["ada.ann", "bare.ann", "other.txt"]
    assert documents[0].mentions
    assert documents[1].text == "Torvik."


def test_standard_input_is_named_by_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    identifiers = []
    for text in ("Torvik.", "Torvik.", "Another town."):
        give_input(monkeypatch, text)
        [document], problems = gathered("-")
        assert (document.text, document.attributes["source"], problems) == (text, "-", [])
        identifiers.append(document.id)
    assert identifiers[0].startswith("stdin-")
    assert identifiers[0] == identifiers[1] != identifiers[2]


def test_standard_input_may_be_data_and_its_flaws_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    give_input(monkeypatch, SAMPLES["jsonl"] + "broken\n")
    documents, [problem] = gathered("-")
    assert [document.id for document in documents] == ["ada", "stdin-2"]
    assert (problem.place.file, problem.place.line) == ("-", 3)
    assert str(problem.error).startswith("-, line 3: ")


def test_empty_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    give_input(monkeypatch, "")
    documents, [problem] = gathered("-")
    assert (documents, problem.error.code, problem.place.file) == ([], "empty-file", "-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_are_read_where_they_are_named_and_told_elsewhere(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("Torvik.",))
    writer.start()
    [document], problems = gathered(pipe)
    writer.join()
    assert (document.text, document.attributes["source"], problems) == ("Torvik.", str(pipe), [])
    write(tmp_path / "a.txt", "Beside it.")
    [document], [problem] = gathered(tmp_path)
    assert (document.text, problem.error.code) == ("Beside it.", "not-a-file")


def test_documents_are_read_one_at_a_time(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "One.")
    write(tmp_path / "b.txt", b"\xff")
    problems: list[Problem] = []
    stream = gather([str(tmp_path)], skipped=problems.append)
    assert next(stream).text == "One."
    assert problems == []
    assert list(stream) == []
    assert len(problems) == 1


@searched
@given(
    st.dictionaries(
        st.sampled_from(
            ["a.txt", "b/c.txt", "b/d", "e.jsonl", "f.json", "g.md", "h.html", "i.pdf"]
        ),
        st.binary(max_size=40) | st.sampled_from(CONTENTS).map(str.encode),
        min_size=1,
    )
)
def test_whatever_a_directory_holds_every_file_gives_documents_or_a_problem(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    for name, content in contents.items():
        write(folder / name, content)
    documents, problems = gathered(folder)
    sources = {document.attributes["source"] for document in documents}
    told = {problem.place.file for problem in problems}
    assert {str(folder / name) for name in contents} == sources | told
    assert len({document.id for document in documents}) == len(documents)
