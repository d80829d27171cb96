"""`factloom calibrate`: scores that mean what they say in a user's own texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from factloom.cli.fitting import FittedOption, FormatOption, read_gold, tell_fitted
from factloom.cli.numbers import LARGEST

if TYPE_CHECKING:
    from factloom.document import Document


def calibrate(
    model: Annotated[
        str, typer.Argument(help="A joint model or a reader: a directory, or a name.")
    ],
    files: Annotated[
        list[Path],
        typer.Argument(help="Documents with their true entities and relations, or questions."),
    ],
    output: FittedOption,
    format: FormatOption = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="The files or stores that a reader's questions are asked of; the files themselves "
            "where nothing is said. May be repeated."
        ),
    ] = None,
    most_questions: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Questions that are asked, drawn evenly.")
    ] = 300,
    least_score: Annotated[
        float,
        typer.Option(min=0, max=1, help="A reader answers nothing that is less likely right."),
    ] = 0.0,
) -> None:
    """Fit scores to documents that were not trained on.

    Of a joint model those of the relations found in raw text: which relations are found stays as
    it is, and so does the order of their scores. Of a reader when it answers from many passages,
    and how sure it is then.
    """
    from factloom.errors import ModelError, Place
    from factloom.models import storage

    gold = [document.named() for document in read_gold(files, format, output)]
    loaded = storage.load(model)
    if loaded.task == "answers" and not hasattr(loaded, "answering"):  # realm and rag are fitted
        told = _fit_reader(loaded, gold, corpus, most_questions, least_score, output)
    elif hasattr(loaded, "fit_raw_scores"):
        told = _fit_raw_scores(loaded, gold, files[0], output)
    else:
        raise ModelError("reads-no-text", Place(file=model), task=loaded.task)
    tell_fitted(told, output)


def _fit_raw_scores(
    loaded: Any, gold: "Sequence[Document]", file: Path, output: Path
) -> dict[str, float]:
    from factloom.errors import InputError, Place

    if not any(document.relations for document in gold):
        raise InputError("no-true-relations", Place(file=str(file)))
    found: dict[str, float] = loaded.fit_raw_scores(gold)
    if not found["decisions"]:
        raise InputError("nothing-right", Place(file=str(file)))
    loaded.save_pretrained(output)
    return found


def _fit_reader(
    loaded: Any,
    gold: "Sequence[Document]",
    corpus: Sequence[str] | None,
    most: int,
    least_score: float,
    output: Path,
) -> dict[str, float]:
    from dataclasses import asdict

    from factloom.answers.abstaining import write_decision
    from factloom.answers.index import index_in_memory
    from factloom.answers.open_corpus import read_documents
    from factloom.answers.retrieve_and_read import RetrieveAndRead

    asked = [
        document.replace(questions=(each,)) for document in gold for each in document.questions
    ]
    drawn = asked[:: max(1, len(asked) // most)][:most]
    texts = [text for path in corpus or () for text in read_documents(path)]
    asking = RetrieveAndRead(loaded, index_in_memory(texts or list(gold)))
    decision = asking.fit(drawn).at_least(least_score)
    loaded.save_pretrained(output)
    write_decision(output, decision)
    return asdict(decision)
