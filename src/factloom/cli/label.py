"""`factloom label`: mark the names of a dictionary in documents."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from factloom.document import Document

if TYPE_CHECKING:
    from factloom.formats.gathering import Problem
    from factloom.text.dictionary import Dictionary
    from factloom.text.name_parts import Part


def label(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|DIR|-", help="The documents, plain or gzipped; - is standard input."
        ),
    ],
    dictionary: Annotated[
        list[str],
        typer.Option(help="A file of names, or a folder with one file a type. May be repeated."),
    ],
    output: Annotated[Path, typer.Option(help="Where to write, such as labelled.jsonl.")],
    case: Annotated[
        Literal["exact", "headlines", "ignore"],
        typer.Option(help="headlines: capitals match too (LONDON); ignore: any letters do."),
    ] = "exact",
    rename: Annotated[
        list[str] | None,
        typer.Option(help="Another name for a type: person=PER. May be repeated."),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            help="A type whose entries are the first, last or any part of names: PER=first. The "
            "words with capitals beside them are marked, too. May be repeated."
        ),
    ] = None,
    initials: Annotated[
        list[str] | None,
        typer.Option(
            help="A type whose names are known by their initials, too, such as LOC for U.S. May "
            "be repeated."
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="The format of the texts, where they do not tell.")
    ] = None,
    output_format: Annotated[
        str | None, typer.Option(help="The format of the output, where its name does not tell.")
    ] = None,
) -> None:
    """Mark the names of a dictionary, the longest first, in place of all mentions of the texts."""
    from factloom import formats
    from factloom.extraction.fan_out import write_if_any
    from factloom.files.output import check_output
    from factloom.formats import registry
    from factloom.formats.gathering import gather_files, with_own_ids
    from factloom.text.dictionary import read_dictionary

    written = registry.target_format(output, output_format)
    read = [file for text in texts for file in registry.files_read(text)]
    for path in registry.files_written(output, output_format):
        check_output(path, [*read, *dictionary])
    renamed = _pairs(rename or (), "--rename takes old=new")
    names = read_dictionary(dictionary, case, renamed, _parts(parts or ()), initials or ())
    problems: list[Problem] = []
    own = [output, *map(Path, dictionary)]  # no texts, wherever they stand
    gathered = gather_files(texts, format, problems.append, leave_out=own)
    counts = _Counts(names)
    marked = counts.marked(with_own_ids(found.document for found in gathered))
    write_if_any(marked, lambda documents: formats.write(documents, output, output_format))
    for line in counts.lines():
        typer.echo(line, err=True)
    written_documents = f"{counts.documents:,} documents" if counts.documents else "nothing"
    typer.echo(f"{written_documents} written to {output}", err=True)
    if written.loses and counts.documents:
        typer.echo(f"note: {written.name} has no place for {written.loses}", err=True)
    for problem in problems:
        typer.echo(f"problem: {problem.error}", err=True)
    if problems or not counts.documents:
        raise typer.Exit(1)


class _Counts:
    """What has been marked so far."""

    def __init__(self, dictionary: "Dictionary") -> None:
        self.dictionary = dictionary
        self.documents = 0
        self.mentions: Counter[str] = Counter()  # by type
        self.names: dict[str, set[str]] = {kind: set() for kind in dictionary.types}

    def marked(self, documents: Iterable[Document]) -> Iterator[Document]:
        from factloom.text.dictionary import mark

        for document in documents:
            marked = mark(document, self.dictionary)
            self.documents += 1
            for index, mention in enumerate(marked.mentions):
                self.mentions[mention.type] += 1
                self.names[mention.type].add(marked.mention_text(index))
            yield marked

    def lines(self) -> Iterator[str]:
        """One line a type: how many mentions, of how many names."""
        for kind in self.dictionary.types:
            names = len(self.names[kind])
            yield f"{kind}: {self.mentions[kind]:,} mentions of {names:,} names"


def _parts(given: Iterable[str]) -> dict[str, "Part"]:
    from factloom.text.name_parts import Part

    usage = f"--parts takes type=part, where part is one of {', '.join(get_args(Part))}"
    found = _pairs(given, usage)
    for kind, part in found.items():
        if part not in get_args(Part):
            raise typer.BadParameter(f"{usage}, not {f'{kind}={part}'!r}.")
    return cast(dict[str, "Part"], found)


def _pairs(given: Iterable[str], usage: str) -> dict[str, str]:
    found = {}
    for text in given:
        left, equals, right = text.partition("=")
        if not (left and equals and right):
            raise typer.BadParameter(f"{usage}, not {text!r}.")
        found[left] = right
    return found
