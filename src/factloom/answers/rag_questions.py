"""Questions to a store by RAG: the index's passages, from which a generator writes the answer.

As with REALM the index of the store finds candidates, of which the passages of the greatest f(x, z)
are read. What is written has the kind `generated`. Where a passage that was read says it, the
sentence is its evidence; else it is marked as not supported, and has none.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from factloom.answers.answer import Answer
from factloom.answers.passages import Passage
from factloom.answers.realm_questions import CANDIDATES
from factloom.answers.retrieval import Found, Retriever
from factloom.answers.verbatim import supporting

if TYPE_CHECKING:
    from factloom.answers.rag import Rag
    from factloom.answers.rag_decoding import Written


@dataclass(frozen=True, slots=True)
class RagReading:
    """The passages that were read for a question, and what was written, the likeliest first."""

    passages: list[Passage]
    written: "list[Written]"


class RagAnswers:
    """Answers written from passages that a retriever finds."""

    def __init__(self, retriever: Retriever, model: "Rag") -> None:
        self.retriever, self.model = retriever, model

    def passages(self, question: str, top: int) -> list[Found]:
        """The passages that fit the question best."""
        return self.retriever.search(question, top)

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """What was written, what passages say in front."""
        found = [one.passage for one in self.retriever.search(question, CANDIDATES)]
        if not found:
            return []
        reading = self.model.ask(question, found)
        if not reading.written:
            return [Answer.none(question, "the generator has written no word")]
        told = [self._told(question, reading.passages, one) for one in reading.written]
        return sorted(told, key=lambda answer: not answer.supported)[:top]

    def _told(self, question: str, passages: list[Passage], one: "Written") -> Answer:
        held = supporting(one.text, passages)
        said = f"said by {passages[held[0]].document}" if held else "no passage read says so"
        cut = "" if one.ended else "; cut at the greatest length"
        return Answer(
            question,
            one.text,
            "generated",
            round(self.model.score(one), 4),
            (held[1],) if held else (),
            explanation=f"written from {len(passages)} passages; {said}{cut}",
            supported=held is not None,
        )
