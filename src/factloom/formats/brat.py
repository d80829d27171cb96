"""brat: a text file, and its annotations in a file beside it (their lines: standoff.py).

`doc.ann` goes with `doc.txt`; a folder is read with all that it holds, and written if there is
more than one document. Where the lines of a file differ from those that would be written for the
Document, they are kept under `attributes["brat"]`, and written again as long as they mean the same.

Stenetorp et al., brat: a Web-based Tool for NLP-Assisted Text Annotation, EACL 2012.
"""

import itertools
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from factloom.document import Document
from factloom.errors import DocumentError, Flaw, InputError, Place
from factloom.files import source as limits
from factloom.files.output import write_together
from factloom.files.report import Findings, Report
from factloom.files.source import Source, readable
from factloom.formats.character_mentions import found_sentences
from factloom.formats.plain_text import whole_text
from factloom.formats.standoff import Line, lines_of, read_lines

_SUFFIX = ".ann"
_FIRST_LINE = re.compile(r"\s*(T\d+\t\S+ \d+ \d+|[REAMN]\d+\t\S+ |\*\t\S+ \S+ |#\d+\t\S+ )")
_BYTE_ORDER_MARK = "\ufeff"
_LONGEST_NAME = 200  # bytes of a file name: most systems take 255


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return _FIRST_LINE.match(head) is not None


def annotation_files(folder: Path) -> list[Path]:
    """All files of annotations in a folder and in the folders in it."""
    return sorted((*folder.rglob(f"*{_SUFFIX}"), *folder.rglob(f"*{_SUFFIX}.gz")))


def files_read(folder: Path) -> list[Path]:
    """All files of a folder that are read: the annotations, and the texts beside them."""
    annotations = annotation_files(folder)
    return sorted({*annotations, *map(text_beside, annotations)})


def is_annotation_file(path: Path) -> bool:
    """Whether the name is that of a pair, and not of a folder."""
    return path.name.removesuffix(".gz").endswith(_SUFFIX)


def pair(path: Path) -> list[Path]:
    """The text and the annotations that are written to a file of annotations of this name."""
    zipped = ".gz" if path.name.endswith(".gz") else ""
    name = path.name.removesuffix(".gz").removesuffix(_SUFFIX)
    return [path.with_name(f"{name}.txt{zipped}"), path]


def annotations_beside(path: Path) -> bool:
    """Whether a file is the text of a pair, and is read with its annotations."""
    name = path.name.removesuffix(".gz")
    if not name.endswith(".txt"):
        return False
    pair = name.removesuffix(".txt") + _SUFFIX
    return any(path.with_name(found).is_file() for found in (pair, f"{pair}.gz"))


def read(source: Source, report: Report) -> Iterator[Document]:
    """The document of a file of annotations, or those of a folder of them."""
    if not source.path.is_dir():
        yield from _read_pair(source, source.name, report)
        return
    paths = annotation_files(source.path)
    if not paths:
        raise InputError("file-is-directory", source.place)
    for path in paths:
        within = readable(path.relative_to(source.path).as_posix())
        name = within.removesuffix(".gz").removesuffix(_SUFFIX)
        try:
            yield from _read_pair(Source(path), name, report)
        except InputError as error:  # the other pairs are none the worse for it
            report(error.flaw)


def _read_pair(source: Source, identifier: str, report: Report) -> Iterator[Document]:
    lines = _lines(source, report)
    text = whole_text(Source(text_beside(source.path)))
    findings = Findings(source.place, report)
    findings.name_document(identifier)
    document = _document(lines, text, findings)
    if document is not None:
        yield document


def text_beside(path: Path) -> Path:
    """The text that is read with a file of annotations."""
    name = path.name.removesuffix(".gz").removesuffix(_SUFFIX)
    zipped = path.with_name(f"{name}.txt.gz")
    return zipped if zipped.is_file() else path.with_name(f"{name}.txt")


def _lines(source: Source, report: Report) -> list[Line]:
    """All lines but blank ones; there are none where nothing has been annotated."""
    found: list[Line] = []
    length = 0
    try:
        for number, text in source.lines(report):
            if text.strip():
                found.append(Line(number, text))
                length += len(text)
            if length > limits.MAXIMUM_RECORD:
                place = Place(file=str(source.path), line=number)
                raise InputError("record-too-long", place, limit=limits.MAXIMUM_RECORD)
    except InputError as error:
        if error.code != "empty-file":
            raise
    return found


def _document(lines: Sequence[Line], text: str, findings: Findings) -> Document | None:
    annotations = read_lines(lines, text, findings)
    document = findings.document(
        text=text,
        id=findings.place.document,
        sentences=found_sentences(text, annotations.mentions),
        **annotations._asdict(),
    )
    source = [line.text for line in lines]
    if document is None or _made_lines(document) == source:
        return document
    return document.replace(attributes={"brat": source})


def _made_lines(document: Document) -> list[str] | None:
    try:
        return list(lines_of(document))
    except DocumentError:  # a type of strange white space, which can be read all the same
        return None


def save(documents: Iterable[Document], path: Path) -> None:
    """Write one pair of files if the name ends in `.ann`, else a folder of pairs.

    The folder gets its name only when it is complete, and takes the place of none that is there.
    """
    if is_annotation_file(path):
        found = list(itertools.islice(documents, 2))
        if len(found) > 1:
            raise InputError("one-document-only")
        for document in found:
            _save_pair(document, path)
        return
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError("folder-not-empty", Place(file=str(path)))
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        aside.mkdir()
        for number, document in enumerate(documents, start=1):
            _save_pair(document, _new_file(aside, document, number))
        aside.replace(path)
    except OSError as error:
        detail = error.strerror or error
        raise InputError("file-unwritable", Place(file=str(path)), detail=detail) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _new_file(folder: Path, document: Document, number: int) -> Path:
    """The file of annotations of a document, named by its id, safely inside the folder."""
    identifier = document.id or f"document-{number}"
    place = Place(document=document.id)
    parts = identifier.split("/")
    usable = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
    if not usable or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        detail = "it cannot be the name of a file"
        raise DocumentError("not-writable", place, value=identifier, detail=detail)
    path = folder.joinpath(*parts[:-1], parts[-1] + _SUFFIX)
    if path.exists():
        raise DocumentError("repeated-document", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _save_pair(document: Document, path: Path) -> None:
    _check_text(document)
    text, annotations = pair(path)
    lines = [f"{line}\n" for line in _lines_to_write(document)]
    write_together({text: [document.text], annotations: lines})


def _check_text(document: Document) -> None:
    """Raise an error where the file of the text could not be read, or with other offsets."""
    detail = None
    if not document.text.strip():
        detail = "there is no text"
    elif document.text.startswith(_BYTE_ORDER_MARK):
        detail = (
            "at the beginning of a file U+FEFF is a byte-order mark and no part of the text; "
            "take it away, and move mentions and sentences by one character"
        )
    if detail is not None:
        place, value = Place(document=document.id), document.text[:40]
        raise DocumentError("not-writable", place, value=value, detail=detail)


def _lines_to_write(document: Document) -> list[str]:
    """The lines of the source if they still mean the same, else those that the document needs."""

    def ignore(found: Flaw) -> None:
        pass

    kept = document.attributes.get("brat")
    if isinstance(kept, list) and all(isinstance(line, str) for line in kept):
        findings = Findings(Place(document=document.id), ignore)
        lines = [Line(number, line) for number, line in enumerate(kept, start=1)]
        same = (document.mentions, document.entities, document.relations)
        if read_lines(lines, document.text, findings) == same and findings.flawless:
            return kept
    return list(lines_of(document))
