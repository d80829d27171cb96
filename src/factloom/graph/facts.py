"""What a look-up gives back: things, and the facts that connect them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thing:
    """What the entities of one or more documents stand for."""

    iri: str
    name: str
    type: str

    def __str__(self) -> str:
        return f"{self.name} ({self.type})"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A document that states a fact, and the sentences that prove it."""

    document: str
    fact: str  # the IRI of the statement
    score: float | None
    sentences: tuple[str, ...]
    decision: str | None = None  # of people: accepted, rejected or corrected


@dataclass(frozen=True, slots=True)
class Connection:
    """A fact between two things, as all documents together state it."""

    head: Thing
    relation: str
    tail: Thing
    evidence: tuple[Evidence, ...]

    @property
    def score(self) -> float | None:
        """The best score that a document gives it."""
        return max((each.score for each in self.evidence if each.score is not None), default=None)

    @property
    def decision(self) -> str | None:
        """What people have decided about it; it is rejected where nothing else is left of it."""
        decisions = [each.decision for each in self.evidence]
        if all(decision == "rejected" for decision in decisions):
            return "rejected"
        return next((each for each in decisions if each not in (None, "rejected")), None)

    @property
    def certainty(self) -> float:
        """The score; what people have annotated or decided is sure."""
        if self.decision == "rejected":
            return 0.0
        return 1.0 if self.decision is not None or self.score is None else self.score
