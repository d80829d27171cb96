"""`factloom relations`: what a model can find, before anything is read."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from factloom.schema import KnownRelation


def relations(
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model directory or hub name. May be repeated, as for extract."),
    ] = None,
    thresholds: Annotated[
        Path | None, typer.Option(help="Show the least scores (and types) of this file as well.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """List the relations of a model: ids, names, and types that head and tail may have."""
    from factloom.errors import ModelError, Place
    from factloom.pipeline import Pipeline
    from factloom.schema import read_schema_file

    settings = {} if thresholds is None else read_schema_file(thresholds)
    pipeline = Pipeline.load_later(*(model or ()), **settings)
    if not pipeline.relations:
        raise ModelError("finds-no-relations", Place(file=pipeline.name))
    if as_json:
        import json

        for relation in pipeline.relations:
            typer.echo(json.dumps(asdict(relation), ensure_ascii=False))
    else:
        _show(pipeline.relations)


def _show(known: "Iterable[KnownRelation]") -> None:
    from rich.table import Table
    from rich.text import Text

    from factloom.cli.tables import make_console

    table = Table("id", "name", "least score", "head -> tail", box=None, pad_edge=False)
    for relation in known:
        score = f"{relation.least_score:g}" if relation.least_score else ""
        cells = (relation.id, relation.name, score, types_in_words(relation.type_pairs))
        table.add_row(*map(Text, cells))
    make_console().print(table)


def types_in_words(pairs: Iterable[tuple[str, str]] | None) -> str:
    """Heads with the same tails stand together: "LOC ORG -> PER, PER -> LOC PER"."""
    if pairs is None:
        return "any -> any"
    tails: dict[str, list[str]] = {}
    for head, tail in pairs:
        tails.setdefault(head, []).append(tail)
    heads: dict[str, list[str]] = {}
    for head, own in tails.items():
        heads.setdefault(" ".join(own), []).append(head)
    return ", ".join(f"{' '.join(own)} -> {tail}" for tail, own in heads.items())
