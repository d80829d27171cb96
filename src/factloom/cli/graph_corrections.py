"""`factloom graph reject, accept, correct, merge, rename, retype, corrections, undo`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.graph_output import (
    ByOption,
    JsonOption,
    StoreOption,
    TypeOption,
    WhyOption,
    print_json,
    print_table,
    who,
)
from factloom.cli.printable import printable

if TYPE_CHECKING:
    from factloom.graph.corrections import Correction

FactArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FACT",
        help="A number of the last listing, an address (ada.txt#fact=0), or HEAD RELATION TAIL.",
    ),
]
NameArgument = Annotated[str, typer.Argument(help="A name, in any case, or an address (urn:...).")]


def reject(
    fact: FactArgument, store: StoreOption, why: WhyOption = "", by: ByOption = None
) -> None:
    """Say that a fact does not hold: it is hidden, whichever document states it, now or later."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        _tell(graph.edit(who(by), why).reject(graph.fact(*fact)))


def accept(
    fact: FactArgument, store: StoreOption, why: WhyOption = "", by: ByOption = None
) -> None:
    """Say that a fact holds."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        _tell(graph.edit(who(by), why).accept(graph.fact(*fact)))


def correct(
    fact: FactArgument,
    store: StoreOption,
    relation: Annotated[str | None, typer.Option(help="The right relation, name or id.")] = None,
    head: Annotated[str | None, typer.Option(help="The right head.")] = None,
    tail: Annotated[str | None, typer.Option(help="The right tail.")] = None,
    why: WhyOption = "",
    by: ByOption = None,
) -> None:
    """Say what holds in the place of a fact: another relation, head or tail."""
    if relation is None and head is None and tail is None:
        raise typer.BadParameter("give what is right: --relation, --head or --tail")
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        editor, found = graph.edit(who(by), why), graph.fact(*fact)
        _tell(editor.correct(found, relation=relation, head=head, tail=tail))


def merge(
    names: Annotated[list[str], typer.Argument(help="Names or addresses of two things or more.")],
    store: StoreOption,
    type: TypeOption = None,
    why: WhyOption = "",
    by: ByOption = None,
) -> None:
    """Say that things are one; it is called as the first of them."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        _tell(graph.edit(who(by), why).merge([graph.find(name, type) for name in names]))


def rename(
    name: NameArgument,
    new: Annotated[str, typer.Argument(help="What it is called.")],
    store: StoreOption,
    type: TypeOption = None,
    why: WhyOption = "",
    by: ByOption = None,
) -> None:
    """Say what a thing is called; it is found by its old names, too."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        _tell(graph.edit(who(by), why).rename(graph.find(name, type), new))


def retype(
    name: NameArgument,
    new: Annotated[str, typer.Argument(help="The right type.")],
    store: StoreOption,
    type: TypeOption = None,
    why: WhyOption = "",
    by: ByOption = None,
) -> None:
    """Say of which type a thing is."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        _tell(graph.edit(who(by), why).retype(graph.find(name, type), new))


def undo(
    store: StoreOption,
    number: Annotated[
        int | None, typer.Argument(help="The number of a correction; without one, the last.")
    ] = None,
) -> None:
    """Take a correction back."""
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        _tell(graph.edit().undo(number))


def corrections(
    store: StoreOption,
    everything: Annotated[
        bool, typer.Option("--all", help="List also what was undone, and skipped facts.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Write them as documents to train on: a .jsonl file."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Take over what people have corrected in a file of an export."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="The format of that file, if it cannot be told.")
    ] = None,
    accept_rest: Annotated[
        bool, typer.Option("--accept", help="Accept the facts that they have left as they were.")
    ] = False,
    why: WhyOption = "",
    by: ByOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what people have said, write it as documents to train on, or take it from a file."""
    if source is not None:
        _take_back(store, source, format, accept_rest, who(by), why)
        return
    from factloom.graph.lessons import write_lessons
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        if output is not None:
            typer.echo(f"{printable(str(output))}: {write_lessons(graph, output)}", err=True)
            return
        found = [
            said
            for said in graph.corrections()
            if everything or not (said.undone or said.action == "skip")
        ]
    if as_json:
        for said in found:
            print_json(_record(said))
        return
    rows = [tuple(str(value) for value in _record(said).values()) for said in found]
    print_table(("number", "what", "about", "who", "when", "why", "undone"), rows)


def _take_back(
    store: str, source: Path, format: str | None, accept: bool, name: str, why: str
) -> None:
    from factloom.graph.annotating import take_back
    from factloom.graph.store import Store

    with Store.open(store, must_exist=True) as graph:
        taken = take_back(graph.edit(name, why), source, format, accept=accept)
    for said in taken.corrections:
        _tell(said)
    typer.echo(f"{printable(str(source))}: {taken}", err=True)


def _record(said: "Correction") -> dict[str, object]:
    return {
        "number": said.number,
        "action": said.action,
        "about": said.words,
        "who": said.who,
        "when": said.when,
        "why": said.why,
        "undone": said.undone,
    }


def _tell(said: "Correction") -> None:
    done = "undone: " if said.undone else ""
    typer.echo(printable(f"{said.number}: {done}{said.action} {said.words}"))
