"""Questions to a store by REALM and RAG, which choose among the passages found what they read.

The index of the store finds candidates by words and meaning; of these the passages of the greatest
f(x, z) are read, each counting by its p(z|x). So a store needs no second index, and the model reads
documents that it has never seen. What REALM reads has the kind `span`, what a generator of RAG
writes the kind `generated`: where a passage that was read says it, that sentence is its evidence;
else it is marked as not supported, and has none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factloom.answers.answer import Answer
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found, Retriever
from factloom.answers.text_questions import proof_in
from factloom.answers.verbatim import supporting

if TYPE_CHECKING:
    from factloom.answers.rag import Rag
    from factloom.answers.rag_decoding import Written
    from factloom.answers.realm import Realm

CANDIDATES = 40  # passages that the index finds


class OpenAnswers:
    """Answers from the passages that a retriever finds; `read` makes them of the candidates."""

    def __init__(
        self, retriever: Retriever, read: Callable[[str, Sequence[Passage]], list[Answer]]
    ) -> None:
        self.retriever, self.read = retriever, read

    def passages(self, question: str, top: int) -> list[Found]:
        """The passages that fit the question best."""
        return self.retriever.search(question, top)

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The best answers, or a single one of the kind none; empty where nothing is found."""
        found = [one.passage for one in self.retriever.search(question, CANDIDATES)]
        return self.read(question, found)[:top] if found else []


# --- REALM --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """Words of a passage that answer a question."""

    text: str
    passage: int  # its number among those read
    start: int  # characters of the passage
    end: int
    probability: float  # p(y|x), of all places of these words


@dataclass(frozen=True, slots=True)
class OpenReading:
    """The passages that were read for a question, and the answers, the likeliest first."""

    passages: list[Passage]
    answers: list[OpenAnswer]
    none: float  # p(null|x)


def read_by_realm(model: "Realm", question: str, candidates: Sequence[Passage]) -> list[Answer]:
    """The likeliest answers, or a single one of the kind none with the best guess."""
    reading = model.ask(question, candidates)
    sure = model.sure(reading)
    if not sure and reading.answers:
        best = reading.answers[0]
        guess = f"the likeliest of {len(reading.passages)} passages read, {best.text!r}"
        return [Answer.none(question, f"{guess}, is too unsure", round(model.score(best), 4))]
    return [_span(model, question, reading.passages[one.passage], one) for one in sure]


def _span(model: "Realm", question: str, passage: Passage, found: OpenAnswer) -> Answer:
    proof = proof_in(passage, found.start, found.end)
    score = round(model.score(found), 4)
    told = f"read in {passage.document}"
    return Answer(question, found.text, "span", score, (proof,), explanation=told)


# --- RAG ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrittenReading:
    """The passages that were read for a question, and what was written, the likeliest first."""

    passages: list[Passage]
    written: "list[Written]"


def written_by_rag(model: "Rag", question: str, candidates: Sequence[Passage]) -> list[Answer]:
    """What was written, what passages say in front."""
    reading = model.ask(question, candidates)
    if not reading.written:
        return [Answer.none(question, "the generator has written no word")]
    told = [_written(model, question, reading.passages, one) for one in reading.written]
    return sorted(told, key=lambda answer: not answer.supported)


def _written(model: "Rag", question: str, passages: list[Passage], one: "Written") -> Answer:
    held = supporting(one.text, passages)
    said = f"said by {passages[held[0]].document}" if held else "no passage read says so"
    cut = "" if one.ended else "; cut at the greatest length"
    return Answer(
        question,
        one.text,
        "generated",
        round(model.score(one), 4),
        (held[1],) if held else (),
        explanation=f"written from {len(passages)} passages; {said}{cut}",
        supported=held is not None,
    )
