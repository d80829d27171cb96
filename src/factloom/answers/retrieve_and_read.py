"""Questions to a corpus, answered by a reader from the passages that are found for them.

Chen, Fisch, Weston, Bordes: Reading Wikipedia to Answer Open-Domain Questions, ACL 2017.

    passages   the k of the corpus that fit the question best (retrieval.py)
    answer     the span of the greatest margin over "no answer" in any of them, if the decision
               says that it is one (abstaining.py)

The decision is fitted on questions that the reader was not trained with. Each is asked twice: of
all passages, and of those that do not hold its answer, so that there is one to abstain from.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from factloom.answers.abstaining import Decision, OwnDecision, fit_decision
from factloom.answers.finding import having
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Retriever
from factloom.answers.text_questions import PASSAGES
from factloom.document import Answer, Document, Question
from factloom.models.answer_decisions import FoundSpan
from factloom.text.answer_words import best_likeness, same_answer

if TYPE_CHECKING:
    from factloom.models.reader import Reader


class RetrieveAndRead:
    """A component that answers the questions of documents from a corpus, not from their texts."""

    task: ClassVar[str] = "answers"

    def __init__(
        self, reader: "Reader", retriever: Retriever, decision: Decision | None = None
    ) -> None:
        self.reader = reader
        self.retriever = retriever
        self.decision = decision or OwnDecision(reader)

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        """The documents with answers from the corpus, and the passages that were read."""
        return [
            document.replace(questions=tuple(map(self._answered, document.questions)))
            for document in documents
        ]

    def _answered(self, question: Question) -> Question:
        passages = self._found(question.text, PASSAGES)
        asked = having(question.without_answers(), [passage.place() for passage in passages])
        best = self._best(question.text, passages)
        if best is None:
            return dataclasses.replace(asked, answers=(), no_answer=1.0)
        span, words = best
        score = self.decision.score(span)
        given = (Answer(words, score=score, attributes=passages[span.document].place()),)
        answers = given if self.decision.answers(span) else ()
        return dataclasses.replace(asked, answers=answers, no_answer=1 - score)

    def fit(self, documents: Iterable[Document]) -> Decision:
        """What the reader's best spans are worth; it decides by that from now on."""
        tried = list(self._tried(documents))
        right = [any(same_answer(words, gold) for gold in golds) for _, words, golds in tried]
        found = fit_decision(
            margins=[margin for margin, _, _ in tried],
            likeness=[best_likeness(words, golds) for _, words, golds in tried],
            right=right,
            has=[bool(golds) for _, _, golds in tried],
        )
        self.decision = found
        return found

    def _tried(self, documents: Iterable[Document]) -> Iterator[tuple[float, str, Sequence[str]]]:
        """Margin and words of the best span of each question, asked twice, and what is right."""
        for question in (asked for document in documents for asked in document.questions):
            if not question.answers:
                continue
            golds = [answer.text for answer in question.answers]
            passages = self._found(question.text, 2 * PASSAGES)
            others = [each for each in passages if not _holds(each, golds)]
            for part, wanted in ((passages, golds), (others, [])):
                best = self._best(question.text, part[:PASSAGES])
                if best is not None:
                    yield best[0].margin, best[1], wanted

    def _found(self, question: str, top: int) -> list[Passage]:
        return [found.passage for found in self.retriever.search(question, top)]

    def _best(self, question: str, passages: Sequence[Passage]) -> tuple[FoundSpan, str] | None:
        """The best span of all passages, sure or not, and its words; None without a passage."""
        texts = [Document(passage.text) for passage in passages]
        for span in self.reader.ask(question, texts, top=1) if texts else []:
            return span, span.words(passages[span.document].text)
        return None


def _holds(passage: Passage, golds: Sequence[str]) -> bool:
    return any(gold.casefold() in passage.text.casefold() for gold in golds)
