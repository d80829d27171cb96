"""How English questions speak of relations: phrases in which X stands for what is known.

A row is a way to go through the graph, and the phrases that ask for it. `P112` goes from the head
X to tails: "who founded X". `-P112` goes from the tail X to heads: "what did X found". A row with
several steps names them from the most to the least fitting; the answers are those of all that the
graph has. The words are our own, chosen with Wikidata's names and aliases (CC0) at hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_TABLE = Path(__file__).with_suffix(".txt")  # steps | phrases

# Relations of which a head has one tail only, so that another one is denied.
_UNIQUE = (
    "P6 P17 P19 P20 P22 P25 P30 P35 P36 P159 P403 P449 P495 P569 P570 P571 P576 P577 P740 P1376"
)
UNIQUE = frozenset(_UNIQUE.split())


@dataclass(frozen=True, slots=True)
class Step:
    """One way over an edge: from heads to tails, or, backwards, from tails to heads."""

    relation: str
    backwards: bool = False

    def __str__(self) -> str:
        return f"{'-' if self.backwards else ''}{self.relation}"


@dataclass(frozen=True, slots=True)
class Sense:
    """What a question may mean: steps, the most fitting first, and phrases that say so."""

    steps: tuple[Step, ...]
    phrases: tuple[str, ...]


def _step(text: str) -> Step:
    return Step(text.removeprefix("-"), text.startswith("-"))


def _sense(line: str) -> Sense:
    steps, phrases = line.split("|")
    said = tuple(phrase.strip() for phrase in phrases.split(";"))
    return Sense(tuple(map(_step, steps.split())), said)


SENSES: tuple[Sense, ...] = tuple(map(_sense, _TABLE.read_text(encoding="utf-8").splitlines()))


def senses_of(names: Mapping[str, str]) -> list[Sense]:
    """Those of the table, and for relations that it lacks what their names say.

    >>> [str(sense.steps[0]) for sense in senses_of({"treats": "treats"})[-2:]]
    ['treats', '-treats']
    """
    known = {step.relation for sense in SENSES for step in sense.steps}
    own = [sense for key in names if key not in known for sense in _named(key, names[key])]
    return [*SENSES, *own]


def _named(relation: str, name: str) -> list[Sense]:
    words = " ".join(name.replace("_", " ").split()).casefold()
    forward = [f"{words} of X", f"what does X {words}", f"X {words}", f"what {words} does X have"]
    backward = [f"what {words} X", f"who {words} X", f"X is the {words} of what", f"that {words} X"]
    if words.endswith(" by"):  # a passive: "cited by"
        bare = words.removesuffix(" by")
        forward += [f"who {bare} X", f"what {bare} X"]
        backward = [f"what did X {bare}", f"{words} X", f"X {bare} what"]
    return [
        Sense((Step(relation),), tuple(forward)),
        Sense((Step(relation, True),), tuple(backward)),
    ]
