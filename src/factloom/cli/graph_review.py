"""`factloom graph conflicts` and `factloom graph review`: what to look at, and a look at it."""

from typing import TYPE_CHECKING

import typer

from factloom.cli.graph_output import (
    ByOption,
    JsonOption,
    LimitOption,
    StoreDirectoryOption,
    evidence_lines,
    fact_line,
    print_connections,
    print_json,
    tell_left_out,
    who,
)
from factloom.cli.printable import printable

if TYPE_CHECKING:
    from factloom.graph.editing import Editor
    from factloom.graph.reviewing import Doubtful
    from factloom.graph.store import Store

_HELP = "y: it holds   n: it does not   c: correct it   s: skip   u: undo the last   q: end"


def conflicts(
    store: StoreDirectoryOption, limit: LimitOption = None, as_json: JsonOption = False
) -> None:
    """Show facts that contradict each other; exit with 1 if there are any."""
    from dataclasses import asdict

    from factloom.graph.conflicts import conflicts as find
    from factloom.graph.fact_names import keep_listing
    from factloom.graph.store import Store

    with Store.read(store) as graph:
        found = list(find(graph.lookup()))
        names = graph.relation_names()
    number = 1
    for conflict in found[:limit]:
        if as_json:
            print_json(asdict(conflict))
            continue
        typer.echo(printable(conflict.reason))
        print_connections(conflict.facts, names, as_json, first=number)
        number += len(conflict.facts)
    keep_listing(store, [fact for conflict in found[:limit] for fact in conflict.facts])
    tell_left_out(len(found), limit)
    if found:
        raise typer.Exit(1)


def review(
    store: StoreDirectoryOption,
    limit: LimitOption = None,
    by: ByOption = None,
    listing: bool = typer.Option(False, "--list", help="List them, and ask nothing."),
    as_json: JsonOption = False,
) -> None:
    """Ask about the facts whose check would tell most, one by one; go on at any time."""
    from factloom.graph.fact_names import keep_listing
    from factloom.graph.reviewing import doubtful_facts
    from factloom.graph.store import Store

    if listing or as_json:
        with Store.read(store) as graph:
            found, names = doubtful_facts(graph.lookup()), graph.relation_names()
        shown = [each.fact for each in found[:limit]]
        keep_listing(store, shown)
        print_connections(shown, names, as_json)
        tell_left_out(len(found), limit)
        return
    with Store.open(store, must_exist=True) as graph:
        found = doubtful_facts(graph.lookup())[:limit]
        typer.echo(f"{len(found):,} facts. {_HELP}")
        _Questions(graph, graph.edit(who(by), "review")).ask_all(found)


class _Questions:
    """The facts of a review one after the other, and what was said of them."""

    def __init__(self, graph: "Store", editor: "Editor") -> None:
        self.graph = graph
        self.editor = editor
        self.names = graph.relation_names()
        self.said: list[tuple[int, int]] = []  # places in the review, numbers of corrections

    def ask_all(self, found: "list[Doubtful]") -> None:
        place = 0
        while place < len(found):
            following = self._ask(found[place], place, len(found))
            if following is None:
                break
            place = following
        typer.echo(f"{len(self.said):,} answers are kept")

    def _ask(self, doubtful: "Doubtful", place: int, count: int) -> int | None:
        """Where to go on; None to end."""
        from factloom.cli.tables import make_console

        console = make_console()
        console.print(fact_line(doubtful.fact, self.names, f"{place + 1}/{count}  "))
        if doubtful.reasons:
            typer.echo(f"    {printable(', '.join(doubtful.reasons))}")
        for line in evidence_lines(doubtful.fact):
            console.print(line)
        while True:
            try:
                answer = typer.prompt("y n c s u q", prompt_suffix="> ", default="q")
                if answer == "q":
                    return None
                if answer == "u":
                    return self._undo(place)
                if self._say(answer, doubtful, place):
                    return place + 1
            except typer.Abort:  # the end of the input, or Ctrl-C: all answers are kept
                return None

    def _say(self, answer: str, doubtful: "Doubtful", place: int) -> bool:
        """Whether the answer was one."""
        from factloom.errors import InputError
        from factloom.graph.fact_names import whole_fact

        acts = {"y": self.editor.accept, "n": self.editor.reject, "s": self.editor.skip}
        try:
            fact = whole_fact(self.graph.lookup(), doubtful.fact)
            if answer in acts:
                said = acts[answer](fact)
            elif answer == "c":
                head = typer.prompt("head", default=fact.head.name)
                relation = typer.prompt("relation", default=fact.relation)
                tail = typer.prompt("tail", default=fact.tail.name)
                said = self.editor.correct(
                    fact,
                    head=None if head == fact.head.name else head,
                    relation=None if relation == fact.relation else relation,
                    tail=None if tail == fact.tail.name else tail,
                )
            else:
                typer.echo(_HELP)
                return False
        except InputError as error:  # such as a name that the documents do not have: ask again
            typer.echo(f"error: {error}", err=True)
            return False
        self.said.append((place, said.number))
        return True

    def _undo(self, place: int) -> int:
        if not self.said:
            typer.echo("nothing was said yet")
            return place
        back, number = self.said.pop()
        self.editor.undo(number)
        return back
