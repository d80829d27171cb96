"""Which formats there are, and which of them a file has."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.files.output import write_pieces
from factloom.files.report import Report
from factloom.files.source import Source
from factloom.formats import (
    brat,
    cdr,
    cluener,
    cmeee,
    conll,
    conll_layout,
    conll_output,
    doccano,
    docred,
    fewrel,
    genia,
    hotpotqa,
    html,
    jsonl,
    knowledgenet,
    label_studio,
    loom,
    markdown,
    mrc_json,
    musique,
    nq_open,
    offsets,
    pdf,
    plain_text,
    pubtator,
    squad,
    tekgen,
)
from factloom.formats.options import checked_options, split_format

Reader = Callable[[Source, Report], Iterator[Document]]


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind are recognised, read and written.

    `read` takes a Source and a Report and gives Documents, `write` takes Documents and gives
    pieces of text; each takes options too, if it has any. What is more than one file is written
    by `save` instead.
    """

    name: str
    write: Callable[..., Iterator[str]] | None = None
    save: Callable[[Iterable[Document], Path], None] | None = None
    suffixes: tuple[str, ...] = ()  # for writing, and to choose between equal candidates
    suffix_decides: bool = False  # pages may quote what looks like data
    whole_file: bool = False  # a file is one document
    files_in: Callable[[Path], list[Path]] | None = None  # of a folder, if that is read as one
    read: Callable[..., Iterator[Document]] | None = None
    looks_like: Callable[[str], bool] | None = None
    loses: str = ""  # what of a Document has no place in it
    read_options: type[BaseModel] | None = None
    write_options: type[BaseModel] | None = None


_LOST_KINDS = "kinds of mentions, denied and unknown relations, questions"
_LOST_BETWEEN_MENTIONS = (
    "sentences, tokens, scores, evidence, provenance, candidates, mentions of several entities, "
    f"{_LOST_KINDS}"
)

_LOST_BESIDE_QUESTIONS = "sentences, tokens, mentions, entities, relations, scores, evidence"

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        found.name: found
        for found in (
            Format(
                "jsonl",
                suffixes=(".jsonl", ".ndjson"),
                looks_like=jsonl.looks_like,
                read=jsonl.read,
                write=jsonl.write,
            ),
            Format(
                "docred",
                suffixes=(".json",),
                looks_like=docred.looks_like,
                read=docred.read,
                write=docred.write,
                loses="candidates, entity identifiers, mentions outside entities, provenance, "
                f"{_LOST_KINDS}",
            ),
            Format(
                "docred-submission",
                write=docred.write_submission,
                loses="anything but relations and their evidence",
            ),
            Format(
                "cdr",
                suffixes=(".data",),
                looks_like=cdr.looks_like,
                read=cdr.read,
                write=cdr.write,
                loses=f"scores, evidence, provenance, entities outside pairs, {_LOST_KINDS}",
            ),
            Format(
                "pubtator",
                suffixes=(".pubtator",),
                looks_like=pubtator.looks_like,
                read=pubtator.read,
                write=pubtator.write,
                loses=f"scores, evidence, provenance, candidates, sentences, tokens, {_LOST_KINDS}",
            ),
            Format(
                "conll",
                suffixes=(".conll",),
                looks_like=conll_layout.looks_like,
                read=conll.read,
                write=conll_output.write,
                loses="ids, entities, relations, scores, names, kinds of mentions, white space, "
                "questions",
                read_options=conll_layout.Options,
                write_options=conll_layout.Options,
            ),
            Format(
                "mrc",
                looks_like=mrc_json.looks_like,
                read=mrc_json.read,
                write=mrc_json.write,
                loses="sentences, entities, relations, scores, names, kinds of mentions, "
                "white space, questions",
                write_options=mrc_json.WriteOptions,
            ),
            Format(
                "genia",
                looks_like=genia.looks_like,
                read=genia.read,
                write=genia.write,
                loses="entities, relations, scores, kinds of mentions, white space, questions",
            ),
            Format(
                "cluener",
                looks_like=cluener.looks_like,
                read=cluener.read,
                write=cluener.write,
                loses="sentences, tokens, entities, relations, scores, kinds of mentions, "
                "questions",
            ),
            Format(
                "cmeee",
                looks_like=cmeee.looks_like,
                read=cmeee.read,
                write=cmeee.write,
                loses="sentences, tokens, entities, relations, scores, kinds of mentions, "
                "questions",
            ),
            Format(
                "offsets",
                looks_like=offsets.looks_like,
                read=offsets.read,
                write=offsets.write,
                loses=f"names, entity identifiers, {_LOST_BETWEEN_MENTIONS}",
            ),
            Format(
                "squad",
                looks_like=squad.looks_like,
                read=squad.read,
                write=squad.write,
                loses=_LOST_BESIDE_QUESTIONS,
            ),
            Format("hotpotqa", looks_like=hotpotqa.looks_like, read=hotpotqa.read),
            Format("musique", looks_like=musique.looks_like, read=musique.read),
            Format("knowledgenet", looks_like=knowledgenet.looks_like, read=knowledgenet.read),
            Format("fewrel", looks_like=fewrel.looks_like, read=fewrel.read),
            Format("tekgen", looks_like=tekgen.looks_like, read=tekgen.read),
            Format("nq-open", looks_like=nq_open.looks_like, read=nq_open.read),
            Format(
                "loom",
                suffixes=(".loom",),
                files_in=loom.files_in,
                looks_like=loom.looks_like,
                read=loom.read,
            ),
            Format(
                "brat",
                suffixes=(".ann",),
                whole_file=True,
                files_in=brat.annotation_files,
                looks_like=brat.looks_like,
                read=brat.read,
                save=brat.save,
                loses=_LOST_BETWEEN_MENTIONS,
            ),
            Format(
                "doccano",
                looks_like=doccano.looks_like,
                read=doccano.read,
                write=doccano.write,
                loses=f"names, entity identifiers, {_LOST_BETWEEN_MENTIONS}",
            ),
            Format(
                "label-studio",
                looks_like=label_studio.looks_like,
                read=label_studio.read,
                write=label_studio.write,
                loses="entity identifiers, sentences, tokens, relation scores, evidence, "
                f"provenance, candidates, mentions of several entities, {_LOST_KINDS}",
            ),
            Format(
                "markdown",
                suffixes=(".md", ".markdown"),
                suffix_decides=True,
                whole_file=True,
                read=markdown.read,
            ),
            Format(
                "html",
                suffixes=(".html", ".htm", ".xhtml"),
                suffix_decides=True,
                whole_file=True,
                looks_like=html.looks_like,
                read=html.read,
            ),
            Format(
                "pdf",
                suffixes=(".pdf",),
                suffix_decides=True,
                whole_file=True,
                looks_like=pdf.looks_like,
                read=pdf.read,
            ),
            # Prose has no mark of its own: `detect` asks for it when nothing else fits.
            Format(
                "text",
                suffixes=(".txt",),
                whole_file=True,
                read=plain_text.read,
                write=plain_text.write,
                loses="anything but the text",
            ),
        )
    }
)
# How files of other kinds begin, as `Source.head` shows them.
_FOREIGN = {
    "PK\x03\x04": "an archive or an office document (docx, odt, epub, xlsx, zip, ...)",
    "{\\rtf": "a document in Rich Text Format",
    "\ufffd\ufffd\x11": "an old office document (doc, xls, ppt)",
    "\ufffdPNG": "a picture",
    "\ufffd\ufffd\ufffd\ufffd": "a picture",
    "GIF8": "a picture",
}

READABLE = tuple(name for name, found in FORMATS.items() if found.read is not None)
WRITABLE = tuple(name for name, found in FORMATS.items() if found.write or found.save)


def reader(source: Source, given: str | None = None) -> Reader:
    """The reader of the format that is given, with its options, or that the content shows."""
    return reader_of(detect(source) if given is None else given, source.place)


def reader_of(given: str, place: Place) -> Reader:
    """The reader of the format that is given, with its options; `place` is for errors."""
    name, options = split_format(given)
    found = FORMATS.get(name)
    if found is None or found.read is None:
        raise InputError("no-such-format", place, format=name, formats=", ".join(READABLE))
    checked = checked_options(found.read_options, options, place)
    return found.read if checked is None else partial(found.read, options=checked)


def detect(source: Source) -> str:
    """The name of the format that the content of the file, or folder, shows."""
    if source.path.is_dir():
        found = [f for f in FORMATS.values() if f.files_in is not None and f.files_in(source.path)]
        if found:
            return _only(found, source)
    for entry in FORMATS.values():
        if entry.suffix_decides and suffix_of(source.path) in entry.suffixes:
            return entry.name
    head = source.head()
    for beginning, kind in _FOREIGN.items():
        if head.startswith(beginning):
            raise InputError("foreign-file", source.place, kind=kind)
    found = [
        entry
        for entry in FORMATS.values()
        if entry.looks_like is not None and entry.looks_like(head)
    ]
    if len(found) > 1:
        found = [entry for entry in found if suffix_of(source.path) in entry.suffixes] or found
    if found:
        return _only(found, source)
    named = _named_by_suffix(source.path)
    if named is None and plain_text.looks_like(head):
        return "text"
    next(source.pieces())  # a wrong encoding is the better explanation, if it is one
    many = head.lstrip().startswith(("{", "["))  # JSON is of many formats, whatever its suffix
    if named is not None and (named == "text" or not many):
        return named
    raise InputError("unknown-format", source.place, formats=", ".join(READABLE))


def _only(found: Sequence[Format], source: Source) -> str:
    if len(found) > 1:
        names = ", ".join(entry.name for entry in found)
        raise InputError("ambiguous-format", source.place, found=names)
    return found[0].name


def _named_by_suffix(path: Path) -> str | None:
    """The format whose suffix the file has: it says what is wrong with lines that fit none."""
    suffix = suffix_of(path)
    return next((name for name in READABLE if suffix in FORMATS[name].suffixes), None)


def target_format(path: Path, given: str | None = None) -> Format:
    """The format that is given, or that the suffix of the output's path tells."""
    place = Place(file=str(path))
    names = ", ".join(WRITABLE)
    if given is not None:
        name, _ = split_format(given)
        if name not in WRITABLE:
            raise InputError("no-such-format", place, format=name, formats=names)
        return FORMATS[name]
    written = [FORMATS[name] for name in WRITABLE]
    for found in written:
        if suffix_of(path) in found.suffixes:
            return found
    suffixes = ", ".join(suffix for found in written for suffix in found.suffixes)
    raise InputError("no-format-for-suffix", place, formats=names, suffixes=suffixes)


def files_read(path: str | Path) -> list[str | Path]:
    """The file itself and, if it holds annotations of brat's, the text that is read with it."""
    annotated = Path(path)
    return [path, *([brat.text_beside(annotated)] if brat.is_annotation_file(annotated) else [])]


def files_written(path: Path, given: str | None = None) -> list[Path]:
    """The files that `save` would write; none where it makes a new folder of them."""
    if target_format(path, given).name != "brat":
        return [path]
    return brat.pair(path) if brat.is_annotation_file(path) else []


def save(documents: Iterable[Document], path: Path, given: str | None = None) -> None:
    """Write the documents in the format, and with the options, that `target_format` finds."""
    found = target_format(path, given)
    _, options = split_format(given or "")
    checked = checked_options(found.write_options, options, Place(file=str(path)))
    if found.save is not None:
        found.save(documents, path)
    elif found.write is not None:
        pieces = found.write(documents) if checked is None else found.write(documents, checked)
        write_pieces(pieces, path)


def suffix_of(path: Path) -> str:
    """The suffix in small letters, that of `a.txt.gz` being `.txt`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix
