"""Answers from the text: passages that fit the question, and a reader's best span over all of them.

All passages are read in one call. The margin over "no answer" decides between passages; a span
below the reader's threshold is no answer. Its score is the reader's calibrated probability.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from factloom.answers.answer import Answer, Proof
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found, Retriever
from factloom.document import Document
from factloom.modules.calibration import scores_from_margins
from factloom.text.sentences import find_sentences

if TYPE_CHECKING:
    from factloom.models.reader import FoundSpan, Reader

PASSAGES = 20  # that are read


class TextAnswers:
    """Answers questions from passages."""

    def __init__(self, retriever: Retriever, reader: "Reader | None" = None) -> None:
        self.retriever = retriever
        self.reader = reader

    def passages(self, question: str, top: int) -> list[Found]:
        """The passages that fit the question best."""
        return self.retriever.search(question, top)

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The best spans of all passages, the best first; empty where none is better than none."""
        if self.reader is None:
            return []
        passages = [found.passage for found in self.passages(question, PASSAGES)]
        if not passages:
            return []
        texts = [Document(passage.text) for passage in passages]
        spans = self.reader.ask(question, texts, top=top)
        least = float(self.reader.threshold)
        told = [self._answer(question, passages, span) for span in spans if span.margin > least]
        return list({answer.text.casefold(): answer for answer in reversed(told)}.values())[::-1]

    def _answer(self, question: str, passages: Sequence[Passage], span: "FoundSpan") -> Answer:
        assert self.reader is not None
        passage = passages[span.document]
        score = float(scores_from_margins(span.logit, float(self.reader.temperature)))
        proof = _proof(passage, span.start, span.end)
        return Answer(
            question,
            passage.text[span.start : span.end],
            "span",
            round(score, 4),
            (proof,),
            explanation=f"read in {passage.document}",
        )


def _proof(passage: Passage, start: int, end: int) -> Proof:
    """The sentence that holds the span, with its place in the document."""
    for sentence in find_sentences(passage.text):
        if sentence.start <= start < sentence.end:
            first, last = sentence.start, max(sentence.end, end)
            words = passage.text[first:last]
            return Proof(passage.document, words, passage.start + first, passage.start + last)
    words = passage.text[start:end]
    return Proof(passage.document, words, passage.start + start, passage.start + end)
