"""What is known of the world before a text is read: entities by their names, facts by subject.

Whoever links names or reads with knowledge asks a `KnowledgeBase`, and does not know where it
lives: in a graph store (knowledge/stored.py) or in tables that are mapped into memory
(knowledge/tables.py).

The prior of a candidate is P(entity | name): how often the name has meant this entity, of all the
times that it has been seen. What is left to 1 is how often it meant nothing that the base knows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

# How a name leads to an entity, the surest first.
Way = Literal["name", "initials", "demonym"]
WAYS: tuple[Way, ...] = ("name", "initials", "demonym")

MOST_CANDIDATES = 30  # of a name, those with the highest priors


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """Something that has an identifier.

    `names` are all of its names, the main one first, each with how often it has been used.
    """

    id: str
    names: Mapping[str, int] = field(default_factory=dict)
    type: str = ""
    description: str = ""

    @property
    def name(self) -> str:
        """What to call it."""
        return next(iter(self.names), self.id)

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(self.names)[1:]

    @property
    def count(self) -> int:
        """How often it has been spoken of."""
        return sum(self.names.values())


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact between two things, by their identifiers."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a name may mean."""

    id: str
    prior: float
    way: Way


class KnowledgeBase(Protocol):
    """Entities and facts, looked up one by one: there may be millions."""

    def __len__(self) -> int:
        """How many entities there are."""

    def ids(self) -> Iterator[str]:
        """Those of all entities, each once."""

    def __contains__(self, id: object) -> bool: ...

    def entity(self, id: str) -> KnownEntity:
        """What is known of an entity that is there."""

    def has_type(self, type: str) -> bool:
        """Whether any entity is of this type."""

    def candidates(self, name: str, most: int = MOST_CANDIDATES) -> list[Candidate]:
        """What a name may mean, the most probable first: by name or alias, else by initials, else
        the country of an adjective. None, where the base knows that it means nothing known."""

    def facts(self, id: str) -> Mapping[str, tuple[str, ...]]:
        """The facts whose subject the entity is: the objects by relation."""
