"""Questions in plain words to a store: from its facts and, with a reader, from its passages.

    with load(store="graph") as ask:
        answer = ask("Where did the founder of Quillmark study?")
        answer.text, answer.score, answer.evidence

What the graph is sure of is given as it is. Else the passages that fit the question are read, too,
and of an answer of the graph and one of the text the surer is given. Where both say the same, that
counts: the score is 1 - (1 - p)(1 - q).
"""

import dataclasses
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from factloom.answers.abstaining import Decision, read_decision_of
from factloom.answers.answer import Answer
from factloom.answers.fact_hops import FactHops
from factloom.answers.graph_questions import GraphAnswers
from factloom.answers.known_graph import StoreGraph
from factloom.answers.meaning import Meaning, SentenceVectors
from factloom.answers.passage_table import FOLDER, TABLE, PassageTable
from factloom.answers.retrieval import Found, Retriever
from factloom.answers.text_questions import FromPassages, TextAnswers
from factloom.answers.text_vectors import can_read
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.errors import FactloomError, InputError, ModelError, Place
from factloom.graph.store import Store
from factloom.light.loading import can_run
from factloom.light.loading import load as load_graphs
from factloom.model_folders import load_config, model_directory
from factloom.modules.devices import torch_is_installed
from factloom.text.answer_words import same_answer
from factloom.text.languages import NAMES
from factloom.text.question_words import question_language
from factloom.text.scripts import main_script

if TYPE_CHECKING:
    from factloom.models.reader import Reader  # and whatever has its `ask`

LONGEST = 2_000  # characters of a question
SURE = 0.5  # an answer of the graph that is likelier than not needs no reading
LONG_READERS = frozenset({"cogltx", "cogqa"})  # kinds of models that read whole documents
DEFAULT_READER = "factloom-answers-en-small"  # taken where none is named, if it is installed
NO_READER = "none"  # named where texts are not to be read


Reading = tuple[Any, Decision | None]  # a model, or None, and when it answers from many passages


class Ask:
    """Answers questions from an open store; a callable."""

    def __init__(
        self,
        store: Store,
        *,
        encoder: str | Meaning | None = DEFAULT_ENCODER,
        reading: Callable[[], Reading] = lambda: (None, None),
        retriever: Callable[[], Retriever | None] = lambda: None,
    ) -> None:
        """What reads, and what finds passages, is asked for when the graph is not sure."""
        self.store = store
        self.encoder = encoder
        self._find_reading = reading
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
        given = [answer for answer in from_graph if answer]
        if (given and given[0].score >= SURE) or self.reader is None or self._text is None:
            return from_graph[:top]
        read = self._text.answers(question, top)
        if any(read):
            return joined(given, read)[:top]
        return (given or [_neither(from_graph + read)])[:top]

    def passages(self, question: str, top: int = 3) -> list[Found]:
        """The passages that fit the question best; none where the store has no index."""
        check(question)
        return self._text.passages(question, top) if self._text else []

    @property
    def reader(self) -> "Reader | None":
        """What reads passages."""
        found: Reader | None = self._reading[0]
        return found

    @property
    def decision(self) -> Decision | None:
        """When the reader answers from many passages, where that was fitted."""
        return self._reading[1]

    @cached_property
    def _reading(self) -> Reading:
        return self._find_reading()

    @property
    def has_index(self) -> bool:
        """Whether somebody has made an index of the store's passages, which questions then need
        not make."""
        return PassageTable.is_there(self.store.directory / FOLDER / TABLE)

    @cached_property
    def _graph(self) -> GraphAnswers:
        named = self.encoder
        meaning = SentenceVectors.load(named) if isinstance(named, str) else named
        return GraphAnswers(StoreGraph(self.store), meaning)

    @cached_property
    def _text(self) -> FromPassages | None:
        retriever = self._find_retriever()
        if retriever is None:
            return None
        own = getattr(self.reader, "answering", None)  # realm and rag have their own way
        if own is not None:
            answering: FromPassages = own(retriever)
            return answering
        facts = FactHops(self._graph.graph) if getattr(self.reader, "walks", False) else None
        return TextAnswers(retriever, self.reader, self.decision, facts)

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

    `reader` is a model of the kind reader, realm or rag, by its directory or name, that which comes
    with factloom where none is named, and "none" for none at all; `encoder` compares meanings, and
    None leaves that to words alone, as where nothing can run it; `retriever` finds passages, the
    store's index by default.
    """
    directory = Path(store)
    opened = Store.read(directory)
    try:
        reading = default_reading if reader is None else _known(reader)
        found = (lambda: retriever) if retriever is not None else (lambda: index_of(opened))
        if encoder is not None and not reads_meaning(encoder):
            encoder = None
        return Ask(opened, encoder=encoder, reading=reading, retriever=found)
    except FactloomError:
        opened.close()
        raise


def reads_meaning(encoder: str = DEFAULT_ENCODER) -> bool:
    """Whether the encoder can be run, by torch or by graphs; if not, words alone are compared."""
    return can_read(encoder)


def default_reader() -> str | None:
    """The reader that comes with factloom, where it does and can be run."""
    if model_directory(DEFAULT_READER) is None:
        return None
    return DEFAULT_READER if torch_is_installed() or can_run(DEFAULT_READER) else None


def default_reading() -> Reading:
    """The reader that comes with factloom, loaded, where it does and can be run."""
    name = default_reader()
    return (None, None) if name is None else load_reader(name)


def _known(reader: str | Path) -> Callable[[], Reading]:
    """One that is named, which is loaded at once: what is wrong with it is told."""
    read = (None, None) if reader == NO_READER else load_reader(reader)
    return lambda: read


def load_reader(name: str | Path) -> Reading:
    """A model that reads answers from texts, and when it answers from many, if that was fitted.

    By torch where it is installed, else by its graphs.
    """
    if torch_is_installed():
        from factloom.models import storage

        model = storage.load(name, None)
    else:
        model = load_graphs(name)
    if model.task != "answers":
        raise ModelError("not-a-reader", Place(file=str(name)), task=model.task)
    return model, read_decision_of(name)


def reads_long_texts(name: str | Path) -> bool:
    """Whether the model is of a kind that reads documents whole, whatever their length."""
    _, config = load_config(name)
    return config["model"] in LONG_READERS


def index_of(store: Store) -> Retriever | None:
    """The index beside the store, or one made of its documents; None where none can be made.

    By words alone where its encoder cannot be run.
    """
    try:
        index = import_module("factloom.answers.index")
    except ModelError:  # what it needs is not installed
        return None
    if not reads_meaning(index.encoder_of(store.directory) or DEFAULT_ENCODER):
        by_words: Retriever = index.ByWords(list(store.documents()))
        return by_words
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


def _neither(nothing: list[Answer]) -> Answer:
    """No answer, with the reasons of graph and text."""
    reasons = "; ".join(answer.explanation for answer in nothing if answer.explanation)
    return Answer.none(nothing[0].question, reasons, max(answer.score for answer in nothing))


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
