"""Questions in plain words to a store that others write to meanwhile.

Models are loaded once. The graph and the index are asked as they were when the store last changed;
after a change, the next question opens them anew.
"""

from functools import cached_property

from factloom.answers.asking import Ask, Reading, default_reading, index_of, reads_meaning
from factloom.answers.index import has_index
from factloom.answers.meaning import SentenceVectors
from factloom.answers.retrieval import Retriever
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.graph.store import Store
from factloom.serving.schemas import Answers
from factloom.serving.settings import ServiceSettings
from factloom.serving.stored import ServedStore


class Answering:
    """Answers questions, one at a time."""

    def __init__(self, store: ServedStore, settings: ServiceSettings) -> None:
        self.store = store
        self.settings = settings
        self._meaning: SentenceVectors | None = None
        self._asked: tuple[int, Ask] | None = None

    def answers(self, question: str, top: int) -> Answers:
        found = self._ask().answers(question, top)
        return Answers(question=question, answers=tuple(answer.to_json() for answer in found))

    def close(self) -> None:
        if self._asked is not None:
            self._asked[1].close()
            self._asked = None

    def _ask(self) -> Ask:
        """What answers from the store as it is now."""
        version = self.store.version
        if self._asked is not None and self._asked[0] == version:
            return self._asked[1]
        self.close()
        if self._meaning is None and reads_meaning():
            self._meaning = SentenceVectors.load(DEFAULT_ENCODER)
        opened = self.store.open_snapshot()
        try:
            ask = Ask(
                opened,
                encoder=self._meaning,
                reading=lambda: self._reading,
                retriever=lambda: self._retriever(opened),
            )
        except BaseException:
            opened.close()
            raise
        self._asked = (version, ask)
        return ask

    @cached_property
    def _reading(self) -> Reading:
        return default_reading()

    def _retriever(self, opened: Store) -> Retriever | None:
        """The index of the store; one in memory where the store is small and has none."""
        documents = sum(1 for _ in opened.document_ids())
        if has_index(opened.directory) or documents <= self.settings.indexed_at_once:
            return index_of(opened)
        return None
