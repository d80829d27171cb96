"""`factloom complete`: facts that a store is likely to lack, with scores and why."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from factloom.cli.graph_output import JsonOption, StoreDirectoryOption, print_json
from factloom.cli.numbers import LARGEST

if TYPE_CHECKING:
    from factloom.graph.store import Store
    from factloom.knowledge.completion import Missing


def complete(
    store: StoreDirectoryOption,
    relation: Annotated[
        str | None, typer.Option(help="Of this relation alone, by its id or name: P17, country.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(help="About this thing alone, by its name, identifier or IRI.")
    ] = None,
    minimum_score: Annotated[
        float, typer.Option(min=0, max=1, help="Least score of what is shown.")
    ] = 0.2,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST, help="How many at most.")] = 20,
    vectors: Annotated[
        bool, typer.Option(help="Learn vectors of the graph, too, beside its rules.")
    ] = True,
    epochs: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="How often the vectors see every fact.")
    ] = 50,
    as_json: JsonOption = False,
) -> None:
    """List facts that are likely missing, the likeliest first; nothing is added to the store."""
    from factloom.graph.store import Store
    from factloom.knowledge.completion import Completion
    from factloom.knowledge.countries import countries_as_one, facts_as_one
    from factloom.knowledge.fact_table import FactTable
    from factloom.knowledge.rules import find_rules
    from factloom.knowledge.stored import StoredKnowledge

    with Store.read(store) as graph:
        base = StoredKnowledge(graph, described=False)
        one = countries_as_one(base)
        table = FactTable.from_certainties(facts_as_one(base.certainties(), one))
        rejected = facts_as_one(dict.fromkeys(base.rejected(), 1.0), one)
        words = graph.relation_names()
        asked = None if relation is None else _relation(relation, table.relations, words)
        about = None if entity is None else _entity(entity, graph, table.entities, one)
        learned = None
        if vectors and len(table.facts):
            from factloom.training.graph_vectors import SETTINGS, learn_vectors

            learned = learn_vectors(table, SETTINGS.model_copy(update={"epochs": epochs}))
        completion = Completion(table, learned, find_rules(table))
        found = completion.missing(
            relation=asked, entity=about, least=minimum_score, most=limit, but=rejected
        )
        for missing in found:
            _show(missing, _Names(base, words), as_json)
    known = f"{len(table.facts):,} facts are known"
    typer.echo(f"{len(found):,} likely facts; {known}", err=True)


def _relation(given: str, known: tuple[str, ...], words: dict[str, str]) -> str:
    from factloom.errors import InputError

    wanted = given.casefold().replace("_", " ")
    for relation in known:
        if wanted in (relation.casefold(), words.get(relation, relation).casefold()):
            return relation
    named = ", ".join(words.get(each, each) for each in known) or "none"
    raise InputError("no-relation-to-complete", relation=given, known=named)


def _entity(given: str, graph: "Store", known: tuple[str, ...], one: Mapping[str, str]) -> str:
    """By its identifier, else the thing that has this name, or the country that is meant by it."""
    from factloom.errors import InputError
    from factloom.knowledge.stored import StoredKnowledge

    id = given if given in known else StoredKnowledge(graph).id_of(graph.find(given).iri)
    id = one.get(id, id)
    if id not in known:
        raise InputError("no-facts-to-complete", name=given)
    return id


class _Names:
    """What things and relations are called."""

    def __init__(self, base: Any, words: dict[str, str]) -> None:
        self.base = base
        self.words = words

    def fact(self, subject: str, relation: str, object: str) -> tuple[str, str, str]:
        ends = self.base.entity(subject).name, self.base.entity(object).name
        return ends[0], self.words.get(relation, relation), ends[1]


def _show(missing: "Missing", names: _Names, as_json: bool) -> None:
    from dataclasses import asdict

    fact = names.fact(missing.subject, missing.relation, missing.object)
    because = [names.fact(*known) for known in missing.because]
    if as_json:
        print_json({**asdict(missing), "fact": fact, "why": because})
        return
    typer.echo(f"{missing.score:.2f}  {' | '.join(fact)}")
    if missing.confidence is not None:
        reason = f"by a rule that holds in {missing.confidence:.0%} of what it leads to"
        if missing.certainty is not None and missing.certainty < 1:
            reason += f", from what is {missing.certainty:.0%} sure"
    elif missing.alike is not None:
        reason = "of what is most alike"
    else:
        reason = "by what was learned of the graph, and no fact alone"
    known = "; ".join(" | ".join(each) for each in because)
    typer.echo(f"      because {known} ({reason})" if known else f"      {reason}")
