"""Answers from the text: passages that fit the question, and a reader's best span over all of them.

All passages are read in one call. The margin over "no answer" decides between passages; whether the
best is an answer at all, and how sure it is, `abstaining.py` says.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from factloom.answers.abstaining import Decision, OwnDecision
from factloom.answers.answer import Answer, Proof
from factloom.answers.fact_hops import FactHops
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found, Retriever, WholeDocuments
from factloom.document import Document
from factloom.models.answer_decisions import FoundSpan
from factloom.text.sentences import find_sentences

PASSAGES = 20  # that are read


class FromPassages(Protocol):
    """Whatever answers questions from passages."""

    def passages(self, question: str, top: int) -> list[Found]:
        """The passages that fit the question best."""

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The best answers, or a single one of the kind none; empty where nothing is read."""


class TextAnswers:
    """Answers questions from passages."""

    def __init__(
        self,
        retriever: Retriever,
        reader: Any = None,  # whatever has `ask`, as models/reader.py has
        decision: Decision | None = None,
        facts: FactHops | None = None,  # for a reader that walks over them
    ) -> None:
        self.retriever = retriever
        self.reader = reader
        self.decision = decision
        self.facts = facts

    def passages(self, question: str, top: int) -> list[Found]:
        """The passages that fit the question best."""
        return self.retriever.search(question, top)

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The best spans of all passages, the best first.

        Where none is sure enough, a single answer of the kind none, with the best guess in its
        explanation; empty without a reader, or without passages.
        """
        if self.reader is None:
            return []
        decision = self.decision or OwnDecision(self.reader)
        passages, spans = self.read(question, top)
        told = [
            _answer(question, passages, span, decision.score(span))
            for span in spans
            if decision.answers(span)
        ]
        if told or not spans:
            return list({one.text.casefold(): one for one in reversed(told)}.values())[::-1]
        best = spans[0]
        guess = best.words(passages[best.document].text)
        reason = f"the likeliest of {len(passages)} passages read, {guess!r}, is too unsure"
        return [Answer.none(question, reason, round(decision.score(best), 4))]

    def read(self, question: str, top: int = 1) -> tuple[list[Passage], list[FoundSpan]]:
        """The passages that fit the question, and their best spans, sure or not."""
        passages = [found.passage for found in self.passages(question, PASSAGES)]
        given = {}
        if self.facts is not None:
            stated = self.facts.passages(question)
            passages += [one for one in stated if not any(one.text in it.text for it in passages)]
            given = {"facts": self.facts}
        texts = [Document(passage.text) for passage in passages]
        return passages, self.reader.ask(question, texts, top=top, **given) if texts else []


def _answer(question: str, passages: Sequence[Passage], span: FoundSpan, score: float) -> Answer:
    passage = passages[span.document]
    proofs = [proof_in(passage, span.start, span.end)]
    for number, start, end in span.support:
        proofs.append(proof_in(passages[number], start, end))
    steps = [f"read in {passage.document}", *([span.path] if span.path else [])]
    return Answer(
        question,
        span.words(passage.text),
        "yes/no" if span.word else "span",
        round(score, 4),
        tuple(dict.fromkeys(proofs)),
        explanation="; ".join(steps),
    )


def proof_in(passage: Passage, start: int, end: int) -> Proof:
    """The sentence that holds the span, with its place in the document."""
    for sentence in find_sentences(passage.text):
        if sentence.start <= start < sentence.end:
            first, last = sentence.start, max(sentence.end, end)
            words = passage.text[first:last]
            return Proof(passage.document, words, passage.start + first, passage.start + last)
    words = passage.text[start:end]
    return Proof(passage.document, words, passage.start + start, passage.start + end)


def whole_texts(
    documents: Iterable[Document], reader: Any, decision: Decision | None
) -> TextAnswers:
    """Answers from documents that the reader reads whole, however long they are."""
    return TextAnswers(WholeDocuments(documents), reader, decision)
