"""`factloom find-threshold`: the least scores that serve best, from annotated documents."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.predict import in_batches
from factloom.errors import InputError, Place

if TYPE_CHECKING:
    from rich.table import Table

    from factloom.evaluation.relations import Counts
    from factloom.evaluation.threshold_search import Scored, Thresholds


def find_threshold(
    model: Annotated[str, typer.Argument(help="A model directory, or a name.")],
    file: Annotated[Path, typer.Argument(help="Documents with their true relations.")],
    output: Annotated[Path, typer.Option(help="Where to write, such as thresholds.toml.")],
    per_relation: Annotated[
        bool, typer.Option("--per-relation", help="A threshold for each frequent relation, too.")
    ] = False,
    metric: Annotated[
        str, typer.Option(help="What to reach: f1 (the highest), or precision=0.9.")
    ] = "f1",
    minimum_support: Annotated[
        int,
        typer.Option(
            min=1, max=LARGEST, help="Relations seen less often in FILE share the common threshold."
        ),
    ] = 20,
    format: Annotated[
        str | None, typer.Option(help="The format of FILE, where its content does not tell.")
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Documents given to the model at a time.")
    ] = 32,
) -> None:
    """Find the least scores that relations should have."""
    import factloom
    from factloom import formats
    from factloom.evaluation import relations
    from factloom.evaluation.threshold_search import scored_relations
    from factloom.files.output import check_output, write_pieces

    precision = _wanted_precision(metric)
    check_output(output, [file])
    gold, place = list(formats.read(file, format)), Place(file=str(file))
    if not any(document.relations for document in gold):
        raise InputError("no-true-relations", place)
    relations.require_distinct_ids(gold)
    pipeline = factloom.load(model)
    asked = [document.without_relations() for document in gold]
    predicted = in_batches(pipeline.relate, asked, batch_size, 0, len(gold), ("entities",))
    scored = scored_relations(relations.evaluate(gold, predicted))
    if not any(one.correct.any() for one in scored.values()):
        raise InputError("nothing-right", place)
    found = _search(scored, precision, minimum_support if per_relation else None)
    write_pieces(_toml(found, pipeline.relation_names), output)
    _show(scored, found, pipeline.relation_names)
    typer.echo(f"written to {output}", err=True)


def _wanted_precision(metric: str) -> float | None:
    """None: the highest F1."""
    if metric == "f1":
        return None
    number = re.fullmatch(r"precision=(0?\.\d+|1|1\.0+)", metric)
    if number is None:
        raise typer.BadParameter(f"--metric takes f1 or such as precision=0.9, not {metric!r}.")
    return float(number[1])


def _search(
    scored: Mapping[str, "Scored"], precision: float | None, minimum_support: int | None
) -> "Thresholds":
    """One threshold for all, and one for each relation with that support, if it is given."""
    from factloom.evaluation import threshold_search as search

    whole = search.together(scored)
    if precision is None:
        minimum = search.threshold_for_f1(whole)
    else:
        minimum = search.threshold_for_precision(whole, precision)
    if minimum_support is None:
        return search.Thresholds(minimum)
    frequent = {name: one for name, one in scored.items() if one.gold >= minimum_support}
    if precision is None:
        rare = {name: one for name, one in scored.items() if name not in frequent}
        own = search.thresholds_for_f1(frequent, search.together(rare).counts(minimum))
    else:
        own = {
            name: search.threshold_for_precision(one, precision) for name, one in frequent.items()
        }
    return search.Thresholds(minimum, own)


def _toml(found: "Thresholds", names: Mapping[str, str]) -> Iterator[str]:
    yield "# Least scores, found by `factloom find-threshold`; use: factloom extract --thresholds\n"
    yield f"minimum_score = {found.minimum_score}\n"
    if found.of_relations:
        yield "\n[thresholds]\n"
    for relation, least in found.of_relations.items():
        comment = f"  # {' '.join(names[relation].split())}" if relation in names else ""
        yield f"{_quoted(relation)} = {least}{comment}\n"


def _quoted(key: str) -> str:
    """A key as TOML has it: as in JSON, but without halves of surrogate pairs, and without DEL."""
    return json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")


def _show(scored: Mapping[str, "Scored"], found: "Thresholds", names: Mapping[str, str]) -> None:
    from rich.table import Table

    from factloom.cli.tables import make_console
    from factloom.evaluation.relations import Counts
    from factloom.evaluation.threshold_search import together

    table = Table("", "least score", "support", "precision", "recall", "F1", "F1 without it")
    for column in table.columns[1:]:
        column.justify = "right"
    before = together(scored).counts(0.0)
    parts = {name: one.counts(found.least_score(name)) for name, one in scored.items()}
    after = sum(parts.values(), Counts())
    _add(table, "all relations", found.minimum_score, after, before)
    for name, least in found.of_relations.items():
        _add(table, names.get(name, name), least, parts[name], scored[name].counts(0.0))
    make_console().print(table)


def _add(table: "Table", name: str, least: float, after: "Counts", before: "Counts") -> None:
    from rich.markup import escape

    measures = (after.precision, after.recall, after.f1, before.f1)
    table.add_row(
        escape(name), f"{least:g}", f"{after.gold:,}", *(f"{100 * value:.1f}" for value in measures)
    )
