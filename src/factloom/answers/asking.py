"""Questions in plain words to a store: from its facts and, with a reader, from its passages.

    with load(store="graph") as ask:
        answer = ask("Where did the founder of Quillmark study?")
        answer.text, answer.score, answer.evidence

Of an answer of the graph and one of the text the surer is given. Where both say the same, that
counts: the score is 1 - (1 - p)(1 - q).
"""

import dataclasses
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from factloom.answers.answer import Answer
from factloom.answers.graph_questions import GraphAnswers
from factloom.answers.known_graph import StoreGraph
from factloom.answers.meaning import SentenceVectors
from factloom.answers.retrieval import Found, Retriever
from factloom.answers.text_questions import TextAnswers
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.errors import FactloomError, InputError, ModelError, Place
from factloom.graph.store import Store
from factloom.text.answer_words import same_answer
from factloom.text.languages import NAMES
from factloom.text.question_words import question_language
from factloom.text.scripts import main_script

if TYPE_CHECKING:
    from factloom.models.reader import Reader

LONGEST = 2_000  # characters of a question


class Ask:
    """Answers questions from an open store; a callable."""

    def __init__(
        self,
        store: Store,
        *,
        encoder: str | None = DEFAULT_ENCODER,
        reader: "Reader | None" = None,
        retriever: Callable[[], Retriever | None] = lambda: None,
    ) -> None:
        self.store = store
        self.encoder = encoder
        self.reader = reader
        self._find_retriever = retriever
        if next(store.document_ids(), None) is None:
            raise InputError("store-without-documents", Place(file=str(store.directory)))

    def __call__(self, question: str) -> Answer:
        """The surest answer, or one of the kind none: the documents do not say."""
        return self.answers(question)[0]

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The surest answers of graph and text, the first one of the kind none if there is none."""
        check(question)
        from_graph = self._graph.answers(question, top)
        from_text = self._text.answers(question, top) if self.reader and self._text else []
        if not from_text:
            return from_graph[:top]
        given = [answer for answer in from_graph if answer]
        return joined(given, from_text)[:top]

    def passages(self, question: str, top: int = 3) -> list[Found]:
        """The passages that fit the question best; none where the store has no index."""
        check(question)
        return self._text.passages(question, top) if self._text else []

    @cached_property
    def _graph(self) -> GraphAnswers:
        meaning = None if self.encoder is None else SentenceVectors.load(self.encoder)
        return GraphAnswers(StoreGraph(self.store), meaning)

    @cached_property
    def _text(self) -> TextAnswers | None:
        retriever = self._find_retriever()
        return None if retriever is None else TextAnswers(retriever, self.reader)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def load(
    store: str | Path,
    *,
    reader: str | Path | None = None,
    encoder: str | None = DEFAULT_ENCODER,
    retriever: Retriever | None = None,
) -> Ask:
    """What answers questions from the store in a directory.

    `reader` is a model of the kind reader, by its directory or name; `encoder` compares meanings,
    and None leaves that to words alone; `retriever` finds passages, the store's index by default.
    """
    directory = Path(store)
    opened = Store.read(directory)
    try:
        model = None if reader is None else load_reader(reader)
        found = (lambda: retriever) if retriever is not None else (lambda: index_of(opened))
        return Ask(opened, encoder=encoder, reader=model, retriever=found)
    except FactloomError:
        opened.close()
        raise


def load_reader(name: str | Path) -> Any:
    """A model that reads answers from texts."""
    from factloom.models import storage

    model = storage.load(name, None)
    if model.task != "answers":
        raise ModelError("not-a-reader", Place(file=str(name)), task=model.task)
    return model


def index_of(store: Store) -> Retriever | None:
    """The index beside the store, or one made of its documents; None where none can be made."""
    from importlib import import_module

    try:
        index = import_module("factloom.answers.index")
    except ImportError:
        return None
    try:
        found: Retriever = index.open_index(store.directory)
    except InputError:  # the store has none
        found = index.index_in_memory(list(store.documents()))
    return found


def check(question: str) -> None:
    """Refuse what cannot be understood, with the reason."""
    if not any(letter.isalnum() for letter in question):
        raise InputError("blank-question")
    if len(question) > LONGEST:
        raise InputError("question-long", length=len(question), longest=LONGEST)
    script = main_script(question)
    language = question_language(question)
    if script not in ("Latin", None) or language is not None:
        told = NAMES[language] if language is not None else f"{script} letters"
        raise InputError("question-language", language=told)


def joined(from_graph: list[Answer], from_text: list[Answer]) -> list[Answer]:
    """Answers of both, the surest first; what both say is one answer, and surer."""
    found = list(from_graph)
    for read in from_text:
        for index, known in enumerate(found):
            if same_answer(known.text, read.text):
                score = round(1 - (1 - known.score) * (1 - read.score), 4)
                evidence = tuple(dict.fromkeys((*known.evidence, *read.evidence)))
                found[index] = dataclasses.replace(known, score=score, evidence=evidence)
                break
        else:
            found.append(read)
    return sorted(found, key=lambda answer: -answer.score)
