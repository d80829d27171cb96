"""Which formats there are, and which of them a file has."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.formats import cdr, docred, jsonl, plain_text, pubtator
from factloom.formats.report import Report
from factloom.formats.source import Source

Reader = Callable[[Source, Report], Iterator[Document]]
Writer = Callable[[Iterable[Document]], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind are recognised, read and written."""

    name: str
    write: Writer
    suffixes: tuple[str, ...] = ()  # for writing, and to choose between equal candidates
    read: Reader | None = None
    looks_like: Callable[[str], bool] | None = None
    loses: str = ""  # what of a Document has no place in it


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
                loses="candidates, entity identifiers, mentions outside entities, provenance",
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
                loses="scores, evidence, provenance, entities outside pairs",
            ),
            Format(
                "pubtator",
                suffixes=(".pubtator",),
                looks_like=pubtator.looks_like,
                read=pubtator.read,
                write=pubtator.write,
                loses="scores, evidence, provenance, candidates, sentences, tokens",
            ),
            # Prose has no mark of its own: `detect` asks for it when nothing else fits.
            Format(
                "text",
                suffixes=(".txt",),
                read=plain_text.read,
                write=plain_text.write,
                loses="anything but the text",
            ),
        )
    }
)
READABLE = tuple(name for name, found in FORMATS.items() if found.read is not None)


def reader(source: Source, name: str | None = None) -> Reader:
    """The reader of the named format, or of the one that the content shows."""
    found = FORMATS.get(detect(source) if name is None else name)
    if found is None or found.read is None:
        raise InputError("no-such-format", source.place, format=name, formats=", ".join(READABLE))
    return found.read


def detect(source: Source) -> str:
    """The name of the format that the file's content shows."""
    head = source.head()
    found = [
        entry
        for entry in FORMATS.values()
        if entry.looks_like is not None and entry.looks_like(head)
    ]
    if len(found) > 1:
        found = [entry for entry in found if _suffix(source.path) in entry.suffixes] or found
    if len(found) > 1:
        names = ", ".join(entry.name for entry in found)
        raise InputError("ambiguous-format", source.place, found=names)
    if found:
        return found[0].name
    if plain_text.looks_like(head) or _suffix(source.path) in FORMATS["text"].suffixes:
        return "text"
    next(source.pieces())  # a wrong encoding is the better explanation, if it is one
    raise InputError("unknown-format", source.place, formats=", ".join(READABLE))


def target_format(path: Path, name: str | None = None) -> Format:
    """The named format, or the one that the suffix of the output's path tells."""
    place = Place(file=str(path))
    names = ", ".join(FORMATS)
    if name is not None:
        if name not in FORMATS:
            raise InputError("no-such-format", place, format=name, formats=names)
        return FORMATS[name]
    for found in FORMATS.values():
        if _suffix(path) in found.suffixes:
            return found
    suffixes = ", ".join(suffix for found in FORMATS.values() for suffix in found.suffixes)
    raise InputError("no-format-for-suffix", place, formats=names, suffixes=suffixes)


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix
