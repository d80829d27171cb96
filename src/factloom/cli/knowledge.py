"""`factloom knowledge`: make tables of knowledge that open at once."""

from pathlib import Path
from typing import Annotated

import typer


def knowledge(
    files: Annotated[
        list[Path],
        typer.Argument(help="JSON lines, tables (.tsv), RDF, or documents with identifiers."),
    ],
    output: Annotated[Path, typer.Option(help="The directory for the tables.")],
    language: Annotated[
        list[str] | None,
        typer.Option(help="Of the names in RDF, the best first. May be repeated: en, mul, zh."),
    ] = None,
) -> None:
    """Put entities, names and facts of files into tables, for link --knowledge."""
    from factloom.knowledge.opening import LANGUAGES, read_tables

    tables = read_tables(files, tuple(language or LANGUAGES))
    tables.save(output)
    facts = f"{len(tables.arrays.objects):,} facts"
    typer.echo(f"{output}: {len(tables):,} entities, {facts}", err=True)
