import gzip
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError
from format_samples import TEXT


def test_file_is_one_document_named_after_it(tmp_path: Path) -> None:
    path = tmp_path / "velden.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode("utf-8")))
    [document] = formats.read(path)
    assert (document.id, document.text) == ("velden", TEXT)
    assert [document.sentence_text(index) for index in range(len(document.sentences))] == [
        "Mara Velden was born in Torvik.",
        "She founded Quillmark Ltd. in 1956.",
        "马云出生于杭州。",
        "他很好。",
    ]


def test_text_is_kept_to_the_character(tmp_path: Path) -> None:
    text = " a\r\n\tb\u2028c \n"
    formats.write([Document(text)], tmp_path / "a.txt")
    [document] = formats.read(tmp_path / "a.txt")
    assert document.text == text


def test_two_documents_do_not_fit_into_one_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one-document-only"):
        formats.write([Document("a"), Document("b")], tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []
