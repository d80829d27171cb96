"""Uploaded files: read in a process with limits, under safe names, and nothing but they."""

import asyncio
import gzip
import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from fake_service import ADA, MARA, running
from test_service_routes import problem_of

from factloom.errors import RequestError
from factloom.serving import uploads
from factloom.serving.settings import ServiceSettings
from factloom.serving.uploads import Upload, UploadedTexts, file_name, texts_of

PAGE = f"<html><body><p>{ADA}</p><script>steal(document.cookie)</script></body></html>"


def read(*files: tuple[str, bytes], **settings: Any) -> UploadedTexts:
    given = [Upload(name, content) for name, content in files]
    return asyncio.run(texts_of(given, ServiceSettings(**settings)))


def zip_bomb() -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"0" * 10_000_000)
    return packed.getvalue()


def test_files_become_documents_and_those_that_cannot_problems() -> None:
    record = json.dumps({"factloom": 1, "text": MARA, "id": "m", "attributes": {"source": "/etc"}})
    found = read(
        ("ada.txt", ADA.encode()),
        ("page.html", PAGE.encode()),
        ("data.jsonl", record.encode()),
        ("bomb.zip", zip_bomb()),
        ("packed.txt.gz", gzip.compress(MARA.encode())),
        ("table.conll", b"Ada B-PER\n"),
    )
    texts = {document.id: document.text.strip() for document in found.documents}
    assert texts == {"ada.txt": ADA, "page.html": ADA, "m": MARA, "packed.txt.gz": MARA}
    assert all(document.sentences for document in found.documents if document.id != "m")
    sources = {document.id: document.source for document in found.documents}
    assert sources["m"] == "data.jsonl", "what a file says of its source is not taken over"
    told = {error.flaw.place.file: error.code for error in found.problems}
    assert told == {"bomb.zip": "foreign-file", "table.conll": "upload-kind"}


def test_what_expands_without_end_is_ended() -> None:
    record = json.dumps({"factloom": 1, "text": "a b. " * 200}).encode() + b"\n"
    with pytest.raises(RequestError) as refused:
        read(("bomb.jsonl.gz", gzip.compress(record * 3000)), body_bytes=100_000, documents=10_000)
    assert refused.value.code == "upload-limit"


def test_more_texts_than_a_request_may_bring_are_refused() -> None:
    lines = b"".join(json.dumps({"factloom": 1, "text": f"{n}"}).encode() + b"\n" for n in range(5))
    with pytest.raises(RequestError) as refused:
        read(("many.jsonl", lines), documents=4)
    assert refused.value.code == "too-many-texts"


def test_a_file_that_is_too_long_is_a_problem() -> None:
    found = read(("long.txt", ADA.encode()), text_characters=10)
    assert [error.code for error in found.problems] == ["text-too-long"]
    assert found.documents == []


def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_WAITING", 0.0001)
    with pytest.raises(RequestError) as refused:
        read(("ada.txt", ADA.encode()), upload_seconds=1)
    assert refused.value.code == "upload-limit"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("ada.txt", "ada.txt"),
        ("../../etc/passwd", "passwd"),
        (r"C:\Users\ada\notes.txt", "notes.txt"),
        ("a\x00b\n.txt", "ab.txt"),
        ("..", "file-3"),
        ("", "file-3"),
        (None, "file-3"),
        ("x" * 500, "x" * 200),
    ],
)
def test_names_of_files_are_no_paths(given: str | None, name: str) -> None:
    assert file_name(given, 3) == name


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.txt", ".txt"),
        ("a.jsonl.gz", ".jsonl.gz"),
        ("a.t;x t", ".txt"),
        ("a", ""),
        (f"a.{'x' * 99}", "x" * 20),
    ],
)
def test_of_a_name_the_suffix_alone_becomes_part_of_a_path(name: str, suffix: str) -> None:
    assert Upload(name, b"").suffix == suffix


def test_files_come_into_the_store(tmp_path: Path) -> None:
    with running(tmp_path / "store") as client:
        files = [("files", ("../ada.txt", ADA.encode())), ("files", ("b.zip", zip_bomb()))]
        told = client.post("/v1/documents/files", files=files).json()
        assert [(each["id"], each["status"]) for each in told["documents"]] == [
            ("ada.txt", "added")
        ]
        assert [(each["code"], each["where"]) for each in told["problems"]] == [
            ("foreign-file", {"file": "b.zip"})
        ]
        assert client.get("/v1/documents/ada.txt").json()["attributes"] == {"source": "ada.txt"}
        answer = client.post("/v1/documents/files", files=files[1:])
        assert problem_of(answer, 422) == "foreign-file"
