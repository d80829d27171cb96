"""`factloom data`: look at files of documents, check them, and turn one format into another."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from factloom.errors import Flaw
    from factloom.formats.checking import Check
    from factloom.formats.statistics import Statistics

app = typer.Typer(help="Check, measure and convert files of documents.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The documents, plain or gzipped.")]
FormatOption = Annotated[
    str | None,
    typer.Option(
        help="The format of FILE, where its content does not tell, with options where it has any: "
        "docred, conll:tag=3, ... (docs/formats.md lists all)."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def check(
    file: File,
    format: FormatOption = None,
    types: Annotated[
        str | None,
        typer.Option(help="The allowed entity types: A,B,C, or a file that lists them."),
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(help="The allowed relation types: A,B,C, or a file that lists them."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List every flaw of FILE with its place; exit with 1 if there is an error."""
    from factloom.files.report import WARNINGS
    from factloom.formats.checking import Check
    from factloom.formats.type_names import read_type_names

    looking = Check(
        file,
        format,
        types=None if types is None else read_type_names(types),
        relation_types=None if relations is None else read_type_names(relations),
    )
    errors: list[Flaw] = []
    warnings: list[Flaw] = []
    for flaw in looking.flaws():
        is_warning = flaw.code in WARNINGS and not strict
        (warnings if is_warning else errors).append(flaw)
        if not as_json:
            typer.echo(f"{'warning' if is_warning else 'error'}: {flaw}")
    if as_json:
        _print_check_json(file, looking, errors, warnings)
    else:
        typer.echo(_summary(file, looking, len(errors), len(warnings)))
    if errors:
        raise typer.Exit(1)


def _summary(file: Path, looking: "Check", errors: int, warnings: int) -> str:
    counts = ", ".join(f"{count:,} {name}" for name, count in _counts(looking).items())
    found = [
        f"{count:,} {name}{'' if count == 1 else 's'}"
        for name, count in (("error", errors), ("warning", warnings))
        if count
    ]
    verdict = ", ".join(found) if errors else ", ".join(["ok", *found])
    return f"{printable(str(file))}: {verdict} ({counts})"


def _counts(looking: "Check") -> dict[str, int]:
    """What a file may have none of at all, questions, is counted where it has some."""
    asked = {"questions": looking.questions} if looking.questions else {}
    return {
        "documents": looking.documents,
        "mentions": looking.mentions,
        "entities": looking.entities,
        "relations": looking.relations,
        **asked,
    }


def _print_check_json(
    file: Path, looking: "Check", errors: Iterable["Flaw"], warnings: Iterable["Flaw"]
) -> None:
    import dataclasses

    found = {
        "errors": [dataclasses.asdict(flaw) for flaw in errors],
        "warnings": [dataclasses.asdict(flaw) for flaw in warnings],
    }
    result = {"file": str(file), "ok": not found["errors"], **_counts(looking), **found}
    typer.echo(json.dumps(result, ensure_ascii=False))


@app.command()
def stats(
    file: File,
    format: FormatOption = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw lengths and labels into this file (.png, ...).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count what FILE holds: documents, lengths, types of entities and relations."""
    from factloom import formats
    from factloom.files.output import check_output
    from factloom.formats import plots
    from factloom.formats.statistics import measure

    if plot is not None:
        plots.check_drawable(plot)
        check_output(plot, [file])
    found = measure(formats.read(file, format))
    if plot is not None:
        plots.draw(found, plot)
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _print_tables(found)


def _print_tables(found: "Statistics") -> None:
    from rich.console import Console
    from rich.table import Table

    counts = Table("", "count", "share", title="What there is")
    counts.add_row("documents", f"{found.documents:,}", "")
    for name, count in found.counts.items():
        share = f"{found.shares[name]:.1%}" if name in found.shares else ""
        counts.add_row(name, f"{count:,}", share)
    lengths = Table("", "min", "median", "mean", "max", title="Lengths")
    for name, spread in found.spreads.items():
        middle = f"{spread.median:,.1f}", f"{spread.mean:,.2f}"
        lengths.add_row(name, f"{spread.minimum:,}", *middle, f"{spread.maximum:,}")
    tables = [counts, lengths, _label_table("Entity types", found.entity_types)]
    if len(found.mention_kinds) > 1:
        tables.append(_label_table("Kinds of mentions", found.mention_kinds))
    if found.counts["relations"]:
        tables += [
            _label_table("Relation types", found.relation_types),
            _coverage_table(found),
        ]
    console = Console()
    for table in tables:
        for column in table.columns[1:]:
            column.justify = "right"
        console.print(table)


def _coverage_table(found: "Statistics") -> "Table":
    """Relations that follow from two others through a bridge entity i."""
    from rich.table import Table

    from factloom.reasoning_patterns import in_letters

    table = Table("", "relations", "share", title="Derivable relations of s and o")
    for pattern, (count, share) in found.coverage.items():
        table.add_row(f"pattern {pattern}: {in_letters(pattern)}", f"{count:,}", f"{share:.1%}")
    whole = found.shares.get("derivable relations", 0.0)
    table.add_row("any of them", f"{found.counts['derivable relations']:,}", f"{whole:.1%}")
    return table


def _label_table(title: str, labels: Counter[str]) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "count", "share", title=title)
    for name, count in labels.most_common():
        table.add_row(escape(name), f"{count:,}", f"{count / labels.total():.1%}")
    return table


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The documents to read.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The file, or brat folder; gzipped if it ends in .gz."),
    ],
    source_format: Annotated[
        str | None,
        typer.Option("--from", help="The format of IN, where its content does not tell."),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="The format of OUT, where its suffix does not tell: docred, "
            "conll:scheme=BIOES, ... (docs/formats.md lists all).",
        ),
    ] = None,
) -> None:
    """Read the documents of IN and write them to OUT in another format."""
    from factloom import formats
    from factloom.files.output import check_output
    from factloom.formats import registry

    written = registry.target_format(target, target_format)
    for path in registry.files_written(target, target_format):
        check_output(path, registry.files_read(source))
    count = formats.write(formats.read(source, source_format), target, target_format)
    typer.echo(f"{target}: {count:,} documents written as {written.name}", err=True)
    if written.loses:
        typer.echo(f"note: {written.name} has no place for {written.loses}", err=True)


@app.command()
def complete(
    file: File,
    output: Annotated[Path, typer.Option(help="Where to write the documents.")],
    model: Annotated[
        list[str], typer.Option(help="A model of relations. May be repeated: all have to agree.")
    ],
    sure: Annotated[
        float, typer.Option(min=0, max=1, help="What all models are so sure of is added.")
    ] = 0.7,
    doubt: Annotated[
        float,
        typer.Option(min=0, help="How far below its threshold a relation makes a pair unknown."),
    ] = 0.0,
    format: FormatOption = None,
    batch_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Documents given to the models at a time.")
    ] = 32,
) -> None:
    """Add relations that the annotators of FILE forgot, and mark pairs that models doubt."""
    import factloom
    from factloom import formats
    from factloom.cli.predict import in_batches
    from factloom.files.output import check_output
    from factloom.training.completion import complete as completed
    from factloom.training.completion import doubting

    check_output(output, [file])
    relate = [doubting(factloom.load(name).model, doubt) for name in model]
    found = in_batches(
        lambda documents: completed(documents, relate, sure),
        formats.read(file, format),
        batch_size,
        join_words=0,
        needs=("entities",),
    )
    typer.echo(f"{formats.write(found, output):,} documents written to {output}", err=True)


@app.command()
def complete_names(
    file: File,
    output: Annotated[Path, typer.Option(help="Where to write the documents.")],
    model: Annotated[
        str, typer.Option(help="A model that finds names and entities.")
    ] = "factloom-en-small",
    format: FormatOption = None,
    relations: Annotated[
        str | None,
        typer.Option(help="The relations to keep: A,B,C, or a file that lists them; else all."),
    ] = None,
    longest: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="Leave out texts of more words.")
    ] = None,
    at_most: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="So many documents, chosen by chance.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST, help="Of this chance.")] = 42,
    batch_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Documents given to the model at a time.")
    ] = 32,
) -> None:
    """Add all names to documents of FILE that state facts, and mark nothing but their arguments."""
    import factloom
    from factloom import formats
    from factloom.cli.predict import in_batches
    from factloom.errors import ModelError, Place
    from factloom.files.output import check_output
    from factloom.formats.type_names import read_type_names
    from factloom.training.name_completion import complete_names as completed
    from factloom.training.name_completion import worth_completing

    check_output(output, [file])
    types = None if relations is None else read_type_names(relations)
    pipeline = factloom.load(model, any_language=True)
    if "entities" not in pipeline.role.adds:
        raise ModelError("finds-no-entities", Place(file=model))
    chosen = worth_completing(formats.read(file, format), types, longest, at_most, seed)
    found = in_batches(
        lambda documents: completed(documents, pipeline),
        chosen,
        batch_size,
        join_words=0,
        total=len(chosen),
    )
    typer.echo(f"{formats.write(found, output):,} documents written to {output}", err=True)
