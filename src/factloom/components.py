"""What a pipeline is made of: each part reads Documents and returns them with more in them.

A component says what a document must have for it, and what it adds. Models say it by their task:

    task         needs      adds
    mentions                mentions
    entities     mentions   entities
    relations    entities   relations
    end-to-end              mentions, entities, relations
    answers      questions  answers
    linking      entities   links
    retrieval    questions  passages

Anything else that has `needs`, `adds` and `predict` is a component, too: no network is asked for.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from factloom.document import Document
from factloom.errors import ModelError, Place

PARTS = ("mentions", "entities", "relations")  # of a Document; each is made of those before it
# What a document may lack, and the error that says so.
_CODES = {
    "mentions": "mentions-needed",
    "entities": "entities-needed",
    "relations": "relations-needed",
    "questions": "questions-needed",
}


class Component(Protocol):
    """What a pipeline takes."""

    @property
    def needs(self) -> Collection[str]: ...

    @property
    def adds(self) -> Collection[str]: ...

    def predict(self, documents: list[Document], /) -> list[Document]:
        """The documents, in their order, with what it adds."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a component, or a chain of them, does to a document."""

    needs: tuple[str, ...]
    adds: tuple[str, ...]


ROLES = {
    "mentions": Role((), ("mentions",)),
    "entities": Role(("mentions",), ("entities",)),
    "relations": Role(("entities",), ("relations",)),
    "end-to-end": Role((), PARTS),
    "answers": Role(("questions",), ("answers",)),
    "linking": Role(("entities",), ("links",)),
    "retrieval": Role(("questions",), ("passages",)),
}

# The models that there are, by the name of their file: their task is known without importing them.
KINDS = {
    "tagger": "mentions",
    "mrc": "mentions",
    "flat": "mentions",
    "soft_lexicon": "mentions",
    "positive_unlabelled": "mentions",
    "coreference": "entities",
    "atlop": "relations",
    "docre_sd": "relations",
    "joint": "end-to-end",
    "reader": "answers",
    "cogltx": "answers",
    "cogqa": "answers",
    "knowbert": "linking",
    "entities_as_experts": "linking",
    "facts_as_experts": "linking",
    "inverse_cloze": "retrieval",
    "realm_pretraining": "retrieval",
    "realm": "answers",
    "rag": "answers",
}


def finders(part: str) -> str:
    """The kinds of models that find this part of a document."""
    return ", ".join(kind for kind, task in KINDS.items() if part in ROLES[task].adds)


class Step:
    """A component in its place in a pipeline; its name is for people."""

    def __init__(self, component: Any, name: str) -> None:
        self.component = component
        self.name = name
        if hasattr(component, "needs"):
            self.role = Role(tuple(component.needs), tuple(component.adds))
        else:
            self.role = ROLES[component.task]

    def read(self, documents: list[Document]) -> list[Document]:
        """The documents with what the component finds, and with what it was not asked to find."""
        found: list[Document] = self.component.predict(documents)
        if "mentions" in self.role.adds:
            return _each(_with_other_mentions, documents, found, self.types)
        if "relations" in self.role.adds and "entities" not in self.role.adds:
            return _each(_with_other_relations, documents, found, self.relations)
        return found

    def relate(self, documents: list[Document]) -> list[Document]:
        """The documents with relations between the entities that they have."""
        finds_entities = "entities" in self.role.adds
        relate = self.component.relate if finds_entities else self.component.predict
        return _each(_with_other_relations, documents, relate(documents), self.relations)

    # --- what is known of the component --------------------------------------------------------

    @property
    def provenance(self) -> dict[str, Any]:
        """How it was made."""
        return getattr(self.component, "provenance", {})

    @property
    def types(self) -> tuple[str, ...]:
        """Those of the mentions or entities that it finds; empty where they may be any."""
        return tuple(getattr(self.component, "types", ()))

    @property
    def relation_names(self) -> dict[str, str]:
        """The relations in words, where the training data said so."""
        return dict(getattr(self.component, "relation_names", {}))

    @property
    def relations(self) -> tuple[str, ...]:
        """Those that it can find; its data may have named more."""
        return tuple(getattr(self.component, "relations", self.relation_names))

    @property
    def type_pairs(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The types that head and tail of a relation may have, where that was learned or given."""
        settings = getattr(self.component, "settings", None)
        found = getattr(settings, "type_constraints", "none")
        return found if isinstance(found, Mapping) else {}


def chain(steps: Sequence[Step]) -> Role:
    """What the steps do one after the other, checked: nothing lacks, and nothing is lost.

    What the first needs has to come with the documents.
    """
    known = {part for need in steps[0].role.needs for part in _made_of(need)}
    finder: dict[str, Step] = {}
    for step in steps:
        for part in step.role.needs:
            if part not in known:
                place, kinds = Place(file=step.name), finders(part)
                raise ModelError("component-lacks", place, part=part, kinds=kinds)
        for part, other in finder.items():
            if any(added in _made_of(part)[:-1] for added in step.role.adds):
                place, anew = Place(file=step.name), ", ".join(step.role.adds)
                raise ModelError("component-loses", place, anew=anew, part=part, other=other.name)
        known.update(step.role.adds)
        finder |= dict.fromkeys(step.role.adds, step)
    adds = tuple(dict.fromkeys(part for step in steps for part in step.role.adds))
    return Role(steps[0].role.needs, adds)


def _made_of(part: str) -> tuple[str, ...]:
    """The part, and all before it that it is made of."""
    return PARTS[: PARTS.index(part) + 1] if part in PARTS else (part,)


def lacking(document: Document, needs: Collection[str]) -> str | None:
    """The first part that the document should have and has not."""
    return next((part for part in _CODES if part in needs and not getattr(document, part)), None)


def lack(part: str, place: Place) -> ModelError:
    """The error that says which models would find it."""
    return ModelError(_CODES[part], place, kinds=finders(part))


def without(document: Document, parts: Collection[str]) -> Document:
    """The document without these parts, and what is made of them."""
    if "answers" in parts:
        document = document.without_answers()
    first = next((part for part in PARTS if part in parts), None)
    match first:
        case "mentions":
            return document.without_mentions()
        case "entities":
            return document.replace(entities=(), relations=(), candidates=None)
        case "relations":
            return document.replace(relations=())
    return document


def _each(
    keep: Callable[[Document, Document, Collection[str]], Document],
    given: Sequence[Document],
    found: Sequence[Document],
    labels: Collection[str],
) -> list[Document]:
    return [keep(*pair, labels) for pair in zip(given, found, strict=True)]


def _with_other_mentions(given: Document, found: Document, types: Collection[str]) -> Document:
    """With the mentions of types that the component does not know; others it has judged itself."""
    others = [mention for mention in given.mentions if types and mention.type not in types]
    if not others:
        return found
    mentions = [*found.mentions, *others]
    if not found.entities:  # else they are known by their places in the list
        mentions.sort(key=lambda mention: (mention.start, -mention.end))
    return found.replace(mentions=tuple(mentions))


def _with_other_relations(given: Document, found: Document, known: Collection[str]) -> Document:
    """With the relations that people have given, and those that the component does not know."""
    others = [r for r in given.relations if r.score is None or r.type not in known]
    if not others:
        return found
    stated = {(relation.head, relation.type, relation.tail) for relation in others}
    new = [r for r in found.relations if (r.head, r.type, r.tail) not in stated]
    return found.replace(relations=(*others, *new))
