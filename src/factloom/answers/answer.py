"""What comes back for a question: the answer, how sure it is, and what proves it.

    >>> Answer.none("Who is the mayor of Skarvik?", "no document names one").kind
    'none'

Kinds: `fact` (one edge of the graph), `path` (several), `list`, `count`, `yes/no`, `span` (words
of a passage), `generated` (words of a generator that has read passages), and `none`: the documents
do not say.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, Self

Kind = Literal["span", "fact", "path", "yes/no", "count", "list", "generated", "none"]

NOT_SAID = "the documents do not say"


@dataclass(frozen=True, slots=True)
class Proof:
    """A sentence that proves an answer, and where it stands; without offsets where that is not
    known."""

    document: str
    sentence: str
    start: int | None = None  # half-open characters of the document
    end: int | None = None


@dataclass(frozen=True, slots=True)
class UsedFact:
    """An edge of the graph that an answer rests on."""

    head: str
    relation: str  # its id
    name: str  # in words
    tail: str
    score: float | None
    evidence: tuple[Proof, ...] = ()

    def __str__(self) -> str:
        return f"{self.head} — {self.name} → {self.tail}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question. `text` is empty, and `kind` none, where there is none."""

    question: str
    text: str
    kind: Kind
    score: float  # a probability, as well as the parts of it are known
    evidence: tuple[Proof, ...] = ()
    facts: tuple[UsedFact, ...] = ()
    items: tuple[str, ...] = ()  # of a list or a count
    hops: int = 0  # edges between what is asked about and the answer
    explanation: str = ""
    sparql: str | None = None
    supported: bool = True  # False: a generator has written it, and no passage read says it

    @classmethod
    def none(cls, question: str, explanation: str, score: float = 0.0) -> Self:
        """The documents do not say. `score` is that of the best guess, which was too low."""
        return cls(question, "", "none", score, explanation=explanation)

    def __bool__(self) -> bool:
        return self.kind != "none"

    def __str__(self) -> str:
        return self.text or NOT_SAID

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return dataclasses.asdict(self)
