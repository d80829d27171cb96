"""`factloom graph`: look around in a store, see, undo and redo merges, delete, export, repair."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.printable import printable

if TYPE_CHECKING:
    from factloom.graph.lookup import Connection

_LINES = 10  # of what is damaged; a damaged table may concern every document

app = typer.Typer(help="Look around in a store of facts.", no_args_is_help=True)

StoreOption = Annotated[Path, typer.Option("--store", help="The directory of the store.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, max=LARGEST, help="How many are shown at most.")
]
TypeOption = Annotated[
    str | None, typer.Option("--type", help="The type, where several things have this name.")
]


@app.command()
def stats(
    store: StoreOption,
    documents: Annotated[
        bool, typer.Option("--documents", help="List the ids of the documents too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Count documents, things, facts and merges."""
    from dataclasses import asdict

    from factloom.graph.store import Store

    with Store.read(store) as graph:
        counted = asdict(graph.statistics())
        names = graph.relation_names()
        ids = sorted(graph.document_ids()) if documents else []
    if as_json:
        _print_json({**counted, **({"ids": ids} if documents else {})})
        return
    for name in ("documents", "entities", "things", "facts", "merges", "told_apart"):
        typer.echo(f"{name.replace('_', ' '):12}{counted[name]:10,}")
    types = counted["types"].items()
    _print_table(("type", "entities"), [(type, f"{count:,}") for type, count in types])
    relations = counted["relations"].items()
    _print_table(
        ("relation", "facts"),
        [(_named(relation, names), f"{count:,}") for relation, count in relations],
    )
    for document in ids:
        typer.echo(printable(document))


@app.command()
def neighbours(
    name: Annotated[str, typer.Argument(help="A name, in any case, or an address (urn:...).")],
    store: StoreOption,
    type: TypeOption = None,
    relation: Annotated[
        str | None, typer.Option(help="Only facts of this relation, by its name or id.")
    ] = None,
    minimum_score: Annotated[
        float, typer.Option(help="Only facts with this score or more, or without a score.")
    ] = 0.0,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the facts about a thing, the surest first, with their scores and evidence."""
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        found = graph.neighbours(name, type, relation=relation, minimum_score=minimum_score)
        names = graph.relation_names()
    _print_connections(found[:limit], names, as_json)
    _tell_left_out(len(found), limit)


@app.command(name="list")
def list_things(
    store: StoreOption,
    type: Annotated[str | None, typer.Option(help="Only things of this type.")] = None,
    name: Annotated[
        str, typer.Option(help="Only things with a name that has this part, in any case.")
    ] = "",
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the things that the documents speak of, by their names."""
    from dataclasses import asdict

    from factloom.graph.store import Store

    with Store.read(store) as graph:
        found = list(graph.things(type, name))
    found.sort(key=lambda thing: (thing.name.casefold(), thing.type, thing.iri))
    if as_json:
        for thing in found[:limit]:
            _print_json(asdict(thing))
    else:
        rows = [(thing.name, thing.type, thing.iri) for thing in found[:limit]]
        _print_table(("name", "type", "address"), rows)
    _tell_left_out(len(found), limit)


@app.command()
def path(
    start: Annotated[str, typer.Argument(help="A name, or an address (urn:...).")],
    goal: Annotated[str, typer.Argument(help="Another one.")],
    store: StoreOption,
    start_type: Annotated[str | None, typer.Option(help="The type of the first one.")] = None,
    goal_type: Annotated[str | None, typer.Option(help="The type of the other one.")] = None,
    longest: Annotated[int, typer.Option(min=1, max=LARGEST, help="Facts on the way at most.")] = 6,
    as_json: JsonOption = False,
) -> None:
    """Show a shortest chain of facts between two things; exit with 1 if there is none."""
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        types = {"start_type": start_type, "goal_type": goal_type}
        found = graph.path(start, goal, longest=longest, **types)
        names = graph.relation_names()
        same = not found and graph.find(start, start_type) == graph.find(goal, goal_type)
    if not found:
        reason = f"no chain of {longest} facts or fewer connects them"
        typer.echo("both names are the same thing" if same else reason, err=True)
        raise typer.Exit(1)
    _print_connections(found, names, as_json)


@app.command()
def merges(
    store: StoreOption,
    name: Annotated[str | None, typer.Option(help="Only those of the thing of this name.")] = None,
    type: TypeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List which entities of different documents were taken to be the same, and why."""
    if type is not None and name is None:
        raise typer.BadParameter("--type tells which thing of a name is meant: give --name too")
    from factloom.graph.identifiers import document_of_entity
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        rows = [
            {
                "entity": graph.entity_name(merge.entity),
                "document": document_of_entity(merge.entity),
                "same as": graph.entity_name(merge.parent),
                "of document": document_of_entity(merge.parent),
                "score": merge.score,
                "reason": merge.reason,
            }
            for merge in graph.merges(name, type)
        ]
    rows.sort(key=lambda row: (str(row["same as"]), str(row["document"])))
    if as_json:
        for row in rows:
            _print_json(row)
        return
    columns = ("entity", "document", "same as", "of document", "score", "reason")
    _print_table(columns, [tuple(_cell(row[column]) for column in columns) for row in rows])


@app.command()
def split(
    name: Annotated[str, typer.Argument(help="What the document calls it.")],
    document: Annotated[str, typer.Argument(help="The id of the document.")],
    store: StoreOption,
    type: TypeOption = None,
) -> None:
    """Undo a merge: what DOCUMENT calls NAME is not what other documents call so."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        others = graph.split(name, document, type)
    about = printable(f"{name} of {document}")
    _print_others(
        f"{about} is now another than that of", others, f"{about} was merged with nothing"
    )


@app.command()
def join(
    name: Annotated[str, typer.Argument(help="What the document calls it.")],
    document: Annotated[str, typer.Argument(help="The id of the document that was split off.")],
    store: StoreOption,
    type: TypeOption = None,
) -> None:
    """Take a split back: what DOCUMENT calls NAME may be what other documents call so."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        others = graph.join(name, document, type)
    about = printable(f"{name} of {document}")
    none = f"{about} is free to be merged, but nothing matches it now"
    _print_others(f"{about} is now the same as that of", others, none)


@app.command()
def delete(
    documents: Annotated[list[str], typer.Argument(help="The ids of documents.")],
    store: StoreOption,
) -> None:
    """Remove documents, their facts, and their part in merges."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        for document in documents:
            graph.delete(document)
            typer.echo(f"deleted {printable(document)}")


@app.command()
def export(
    output: Annotated[
        Path, typer.Argument(help="A file: .ttl .nq .jsonld .graphml .csv .html .jsonl")
    ],
    store: StoreOption,
) -> None:
    """Write the whole store as one file; the suffix tells the format."""
    from factloom.graph.dump import dump
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        dump(graph, output)
        counted = graph.statistics()
    counts = f"{counted.documents:,} documents, {counted.things:,} things, {counted.facts:,} facts"
    typer.echo(f"{printable(str(output))}: {counts}", err=True)


@app.command()
def check(store: StoreOption, as_json: JsonOption = False) -> None:
    """Read all of a store and tell what is damaged; exit with 1 if anything is."""
    from dataclasses import asdict

    from factloom.graph.repair import check as look

    found = look(store)
    if as_json:
        _print_json(asdict(found))
    else:
        typer.echo(f"{found.documents:,} documents are whole")
        _print_some("documents that cannot be read", _with_sources(found.lost, found.unnamed))
        _print_some("documents of which facts cannot be read", found.incomplete)
        _print_some("what the database says", found.damages)
    if not found.is_whole:
        typer.echo("factloom graph rebuild makes a new store of the documents", err=True)
        raise typer.Exit(1)


@app.command()
def rebuild(
    store: StoreOption,
    output: Annotated[Path, typer.Option("--output", help="The directory of the new store.")],
    as_json: JsonOption = False,
) -> None:
    """Make a new store of the documents of a damaged one; exit with 1 if some are lost."""
    from dataclasses import asdict

    from factloom.graph.repair import rebuild as make_anew

    found = make_anew(store, output)
    if as_json:
        _print_json(asdict(found))
    else:
        saved = f"{found.documents:,} documents, {found.decisions:,} pairs told apart"
        saved += f", {found.corrections:,} corrections"
        typer.echo(f"{printable(str(output))}: {saved}")
        _print_some("documents that are lost", _with_sources(found.lost, found.unnamed))
        _print_some("what the database says", found.damages)
    if found.lost or found.unnamed:
        typer.echo("read those again: factloom extract FILES --store NEW", err=True)
        raise typer.Exit(1)


def _with_sources(documents: Mapping[str, str | None], unnamed: int) -> list[str]:
    known = [name if source is None else f"{name} ({source})" for name, source in documents.items()]
    return [*known, f"{unnamed:,} whose names cannot be read"] if unnamed else known


def _print_some(title: str, lines: Sequence[str]) -> None:
    if lines:
        typer.echo(f"{title}:")
    for line in lines[:_LINES]:
        typer.echo(f"    {printable(line)}")
    if len(lines) > _LINES:
        typer.echo(f"    and {len(lines) - _LINES:,} more (--json has all)")


def _tell_left_out(count: int, limit: int | None) -> None:
    if limit is not None and count > limit:
        typer.echo(f"{count - limit:,} more are not shown", err=True)


def _print_connections(found: Iterable["Connection"], names: dict[str, str], as_json: bool) -> None:
    from dataclasses import asdict

    from rich.text import Text

    from factloom.cli.tables import HEAD, QUIET, RELATION, TAIL, make_console

    console = make_console()
    for connection in found:
        if as_json:
            words = names.get(connection.relation, connection.relation)
            _print_json({**asdict(connection), "name": words, "score": connection.score})
            continue
        line = Text(" ").join(
            [
                Text(printable(connection.head.name), HEAD),
                Text(printable(_named(connection.relation, names)), RELATION),
                Text(printable(connection.tail.name), TAIL),
            ]
        )
        if connection.score is not None:
            line.append(f"  {connection.score:.2f}")
        console.print(line)
        for evidence in connection.evidence:
            sentences = printable(" ".join(evidence.sentences))
            fact = printable(f"{evidence.document}#{evidence.fact.rpartition('#')[2]}")
            console.print(Text(f"    [{fact}] {sentences}", QUIET))


def _print_others(said: str, others: Iterable[str], none: str) -> None:
    """What is said of entities, by their documents; `none` where there are no others."""
    from factloom.graph.identifiers import document_of_entity

    documents = sorted({document_of_entity(other) for other in others})
    typer.echo(f"{said}: {printable(', '.join(documents))}" if documents else none)


def _print_table(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from factloom.cli.tables import TITLE, make_console

    table = Table(*columns, box=None, header_style=TITLE, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    make_console().print(table)


def _print_json(value: object) -> None:
    line = json.dumps(value, ensure_ascii=False)
    # JSON escapes the older half of the control characters only.
    typer.echo("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line))


def _named(relation: str, names: dict[str, str]) -> str:
    name = names.get(relation, relation)
    return relation if name == relation else f"{name} ({relation})"


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
