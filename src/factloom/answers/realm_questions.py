"""Questions to a store by REALM: the index's passages, of which the model chooses what it reads.

The index of the store finds candidates by words and meaning; of these the passages of the greatest
f(x, z) are read, each counting by its p(z|x). So a store needs no second index, and the model reads
documents that it has never seen.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from factloom.answers.answer import Answer
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found, Retriever
from factloom.answers.text_questions import proof_in

if TYPE_CHECKING:
    from factloom.answers.realm import Realm

CANDIDATES = 40  # passages that the index finds


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


class RealmAnswers:
    """Answers from passages that a retriever finds: those that fit best by the model are read."""

    def __init__(self, retriever: Retriever, model: "Realm") -> None:
        self.retriever, self.model = retriever, model

    def passages(self, question: str, top: int) -> list[Found]:
        """The passages that fit the question best."""
        return self.retriever.search(question, top)

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The likeliest answers, or a single one of the kind none with the best guess."""
        found = [one.passage for one in self.retriever.search(question, CANDIDATES)]
        if not found:
            return []
        reading = self.model.ask(question, found)
        sure = self.model.sure(reading)[:top]
        if not sure and reading.answers:
            best = reading.answers[0]
            guess = f"the likeliest of {len(reading.passages)} passages read, {best.text!r}"
            score = round(self.model.score(best), 4)
            return [Answer.none(question, f"{guess}, is too unsure", score)]
        return [self._told(question, reading.passages[one.passage], one) for one in sure]

    def _told(self, question: str, passage: Passage, found: OpenAnswer) -> Answer:
        proof = proof_in(passage, found.start, found.end)
        score = round(self.model.score(found), 4)
        told = f"read in {passage.document}"
        return Answer(question, found.text, "span", score, (proof,), explanation=told)
