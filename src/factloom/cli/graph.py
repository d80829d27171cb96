"""`factloom graph`: look around in a store, see, undo and redo merges, delete, export, repair."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from factloom.cli import graph_corrections, graph_review
from factloom.cli.graph_output import (
    ByOption,
    JsonOption,
    LimitOption,
    StoreDirectoryOption,
    StoreOption,
    TypeOption,
    WhyOption,
    cell,
    named,
    print_connections,
    print_json,
    print_others,
    print_table,
    tell_left_out,
    who,
)
from factloom.cli.numbers import LARGEST
from factloom.cli.printable import printable

_LINES = 10  # of what is damaged; a damaged table may concern every document

app = typer.Typer(help="Look around in a store of facts.", no_args_is_help=True)
app.command()(graph_corrections.reject)
app.command()(graph_corrections.accept)
app.command()(graph_corrections.correct)
app.command()(graph_corrections.merge)
app.command()(graph_corrections.rename)
app.command()(graph_corrections.retype)
app.command()(graph_corrections.corrections)
app.command()(graph_corrections.undo)
app.command()(graph_review.conflicts)
app.command()(graph_review.review)


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
        print_json({**counted, **({"ids": ids} if documents else {})})
        return
    for name in ("documents", "entities", "things", "facts", "merges", "told_apart"):
        typer.echo(f"{name.replace('_', ' '):12}{counted[name]:10,}")
    types = counted["types"].items()
    print_table(("type", "entities"), [(type, f"{count:,}") for type, count in types])
    relations = counted["relations"].items()
    print_table(
        ("relation", "facts"),
        [(named(relation, names), f"{count:,}") for relation, count in relations],
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
    rejected: Annotated[
        bool, typer.Option("--rejected", help="Show also those that people have rejected.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the facts about a thing, the surest first, numbered, with scores and evidence."""
    from factloom.graph.fact_names import keep_listing
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        found = graph.neighbours(
            name, type, relation=relation, minimum_score=minimum_score, rejected=rejected
        )
        names = graph.relation_names()
        keep_listing(graph.disk.directory, found[:limit])
    print_connections(found[:limit], names, as_json)
    tell_left_out(len(found), limit)


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
            print_json(asdict(thing))
    else:
        rows = [(thing.name, thing.type, thing.iri) for thing in found[:limit]]
        print_table(("name", "type", "address"), rows)
    tell_left_out(len(found), limit)


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
    print_connections(found, names, as_json, first=None)


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
            print_json(row)
        return
    columns = ("entity", "document", "same as", "of document", "score", "reason")
    print_table(columns, [tuple(cell(row[column]) for column in columns) for row in rows])


@app.command()
def split(
    name: Annotated[str, typer.Argument(help="What the document calls it.")],
    document: Annotated[str, typer.Argument(help="The id of the document.")],
    store: StoreOption,
    type: TypeOption = None,
    why: WhyOption = "",
    by: ByOption = None,
) -> None:
    """Take a merge apart: what DOCUMENT calls NAME is not what other documents call so."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        others = graph.edit(who(by), why).split(name, document, type)
    about = printable(f"{name} of {document}")
    print_others(f"{about} is now another than that of", others, f"{about} was merged with nothing")


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
    print_others(f"{about} is now the same as that of", others, none)


@app.command()
def delete(
    documents: Annotated[list[str], typer.Argument(help="The ids of documents.")],
    store: StoreOption,
) -> None:
    """Remove documents, their facts, and their part in merges; the index of passages follows."""
    from factloom.extraction.passages import index_follows
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph, index_follows(graph):
        for document in documents:
            graph.delete(document)
            typer.echo(f"deleted {printable(document)}")


@app.command()
def export(
    output: Annotated[
        Path, typer.Argument(help="A file: .ttl .nq .jsonld .graphml .csv .html .jsonl")
    ],
    store: StoreOption,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="Write also facts that people have rejected.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(help="label-studio or doccano: the facts, for people to correct there."),
    ] = None,
) -> None:
    """Write the whole store as one file; the suffix tells the format, unless it is given."""
    if rejected and format is not None:
        raise typer.BadParameter("--rejected: only facts that stand go out to be corrected")
    from factloom.graph.annotating import write_tasks
    from factloom.graph.dump import dump
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        if format is None:
            dump(graph, output, rejected=rejected)
        else:
            write_tasks(graph, output, format)
        counted = graph.statistics()
    counts = f"{counted.documents:,} documents, {counted.things:,} things, {counted.facts:,} facts"
    typer.echo(f"{printable(str(output))}: {counts}", err=True)


@app.command()
def check(store: StoreDirectoryOption, as_json: JsonOption = False) -> None:
    """Read all of a store and tell what is damaged; exit with 1 if anything is."""
    from dataclasses import asdict

    from factloom.graph.repair import check as look

    found = look(store)
    if as_json:
        print_json(asdict(found))
    else:
        typer.echo(f"{found.documents:,} documents are whole")
        _print_some("documents that cannot be read", _with_sources(found.lost, found.unnamed))
        _print_some("documents of which facts cannot be read", found.incomplete)
        _print_some("what the database says", found.damages)
    if not found.is_whole:
        typer.echo("factloom graph rebuild makes a new store of the documents", err=True)
        raise typer.Exit(1)


@app.command()
def move(store: StoreDirectoryOption) -> None:
    """Bring a store that an older factloom made to the layout of this one, where it is."""
    from factloom.graph.moving import move as move_store

    documents = move_store(store)
    typer.echo(f"{documents:,} documents were moved" if documents else "nothing is left to move")


@app.command()
def rebuild(
    store: StoreDirectoryOption,
    output: Annotated[Path, typer.Option("--output", help="The directory of the new store.")],
    as_json: JsonOption = False,
) -> None:
    """Make a new store of the documents of a damaged one; exit with 1 if some are lost."""
    from dataclasses import asdict

    from factloom.graph.repair import rebuild as make_anew

    found = make_anew(store, output)
    if as_json:
        print_json(asdict(found))
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
