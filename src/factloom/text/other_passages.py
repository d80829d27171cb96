"""Questions asked of passages that do not answer them, for a reader to learn when there is none.

Clark, Gardner: Simple and Effective Multi-Paragraph Reading Comprehension, ACL 2018. A question is
also asked of other documents of the same title (all, where there are no titles): those that share
most words with it, rare ones first, and do not hold its answer.
"""

import dataclasses
import math
from collections.abc import Sequence
from itertools import islice

from factloom.document import Document, Question
from factloom.text.tokens import find_tokens


def with_other_passages(documents: Sequence[Document], count: int) -> list[Document]:
    """The documents, in order, each with the questions of others added that it does not answer.

    Every question with an answer is asked of at most `count` other documents.
    """
    added: dict[int, list[Question]] = {}
    titles: dict[str, list[int]] = {}
    for number, document in enumerate(documents):
        titles.setdefault(str(document.attributes.get("title", "")), []).append(number)
    for numbers in titles.values():
        passages = _Passages([documents[number] for number in numbers])
        for place, number in enumerate(numbers):
            for question in documents[number].questions:
                for other in passages.without_answer(question, place, count):
                    asked = _asked_of(question, documents[numbers[other]])
                    added.setdefault(numbers[other], []).append(asked)
    return [
        document.replace(questions=(*document.questions, *added.get(number, ())))
        for number, document in enumerate(documents)
    ]


def _asked_of(question: Question, document: Document) -> Question:
    name = f"{question.id} about {document.id}" if question.id else ""
    return dataclasses.replace(question.without_answers(), id=name, answers=())


class _Passages:
    """Documents of one title, and which words they have."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.texts = [document.text.lower() for document in documents]
        self.having: dict[str, list[int]] = {}
        for number, text in enumerate(self.texts):
            for word in _words(text):
                self.having.setdefault(word, []).append(number)

    def without_answer(self, question: Question, own: int, count: int) -> list[int]:
        """Those that are most like the question, but its own, and do not hold its answer."""
        if not question.answers:
            return []
        shared: dict[int, float] = {}  # of each passage, the weight of the words
        for word in _words(question.text.lower()):
            having = self.having.get(word, ())
            for number in having:
                weight = math.log(1 + len(self.texts) / len(having))
                shared[number] = shared.get(number, 0.0) + weight
        golds = [answer.text.lower() for answer in question.answers]
        likest = sorted(shared, key=lambda number: (-shared[number], number))
        silent = (
            number
            for number in likest
            if number != own and not any(gold in self.texts[number] for gold in golds)
        )
        return list(islice(silent, count))


def _words(text: str) -> list[str]:
    """Each word once, in order; signs are none."""
    found = (text[start:end] for start, end in find_tokens(text, 0, len(text)))
    return list(dict.fromkeys(word for word in found if word[0].isalnum()))
