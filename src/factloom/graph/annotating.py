"""Facts to a program for annotation, and what people have made of them there back as corrections.

    write_tasks(store, Path("tasks.json"), "label-studio")
    take_back(store.edit("Eve"), Path("annotated.json"))

Out go the documents with the facts that stand, each with its score and the text of its evidence,
and relations in words. Each document that comes back is compared with what the store says of it:

    a fact is gone, and none is in its place           reject
    a fact is gone, and a new one shares two of its    correct: the first that shares both ends,
    three parts                                        else head and relation, else the rest
    a fact is back that people had rejected            accept
    a fact has stayed                                  accept, if that is wanted, else nothing

An entity is known again by its mentions' offsets. A new fact that stands in the place of none, or
has an end that the store does not know, is no correction: it is counted and left.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from factloom import formats
from factloom.document import Document, Relation
from factloom.errors import InputError, Place
from factloom.graph.changes import Changes
from factloom.graph.correcting import Corrected, corrected
from factloom.graph.corrections import Correction, Journal
from factloom.graph.identifiers import document_iri, document_key, entity_iris, is_property
from factloom.text.relation_names import RELATION_NAMES

if TYPE_CHECKING:
    from factloom.graph.editing import Editor
    from factloom.graph.store import Store

FORMATS = ("label-studio", "doccano")
_DOCUMENT = "document"  # the key under which a record keeps its id: both programs number anew

Triple = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a file has said: the corrections, documents that people have looked at, new facts."""

    corrections: tuple[Correction, ...]
    documents: int
    left: int  # facts that are no correction of any

    def __str__(self) -> str:
        left = f", {self.left:,} new facts that correct none" if self.left else ""
        return f"{self.documents:,} documents, {len(self.corrections):,} corrections{left}"


# --- out -------------------------------------------------------------------------------------


def write_tasks(store: "Store", path: Path, format: str) -> int:
    """Write all documents with the facts that stand; how many they are."""
    if format not in FORMATS:
        place = Place(file=str(path))
        raise InputError("no-such-format", place, format=format, formats=", ".join(FORMATS))
    words = _words(store)
    documents = (_task(each.as_document(), words) for each in store.corrected())
    return formats.write(documents, path, format)


def _task(document: Document, words: dict[str, str]) -> Document:
    """The document with what the formats have a place for: attributes of relations."""
    relations = tuple(
        replace(
            relation,
            type=words.get(relation.type, relation.type),
            attributes={**_told(document, relation), **relation.attributes},
        )
        for relation in document.relations
    )
    attributes = {_DOCUMENT: document_key(document)}
    return document.replace(relations=relations, attributes=attributes, denied=(), unknown=())


def _told(document: Document, relation: Relation) -> dict[str, object]:
    sentences = (document.sentences[number] for number in relation.evidence)
    evidence = [document.text[sentence.start : sentence.end] for sentence in sentences]
    return {
        **({} if relation.score is None else {"score": relation.score}),
        **({"evidence": evidence} if evidence else {}),
    }


def _words(store: "Store") -> dict[str, str]:
    """The relations in words, of those whose words tell them apart."""
    names = store.relation_names()
    shared = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {relation: name for relation, name in names.items() if name not in shared}


# --- back ------------------------------------------------------------------------------------


def take_back(
    editor: "Editor", path: Path, format: str | None = None, *, accept: bool = False
) -> TakenBack:
    """Correct a store as people have corrected its documents in a file.

    All is compared with the store as it is before the first correction: a fact that one document
    has lost is not accepted because another has kept it. Each correction is a step of its own, and
    what is taken back a second time says nothing more.
    """
    store = editor.store
    returned = _Returned(store, path)
    steps = [
        step for document in formats.read(path, format) for step in returned.steps(document, accept)
    ]
    said: dict[tuple[str, ...], Correction] = {}
    for step in steps:
        fact = store.fact(step.address)
        key = (step.action, fact.head.iri, fact.relation, fact.tail.iri)
        if key in said:  # by another document that states it
            continue
        if step.action == "correct":
            said[key] = editor.correct(fact, head=step.head, relation=step.relation, tail=step.tail)
        else:
            decide = editor.accept if step.action == "accept" else editor.reject
            said[key] = decide(fact)
    return TakenBack(tuple(said.values()), returned.documents, returned.left)


@dataclass(frozen=True, slots=True)
class _Step:
    action: str
    address: str  # of the fact
    head: str | None = None  # what is new of a fact that is corrected
    relation: str | None = None
    tail: str | None = None


class _Returned:
    """The documents of a file on their way back."""

    def __init__(self, store: "Store", path: Path) -> None:
        self.store = store
        self.path = path
        self.journal = Journal(Changes(store.disk))
        # a relation that is new in the store may be one of Wikidata's
        words = {**RELATION_NAMES, **_words(store)}
        self.relations = {name: relation for relation, name in words.items()}
        self.known = set(store.document_ids())
        self.texts: dict[str, str] = {}  # ids by texts, where they are needed
        self.documents = self.left = 0

    def steps(self, annotated: Document, accept: bool) -> Iterator[_Step]:
        if not _is_looked_at(annotated):
            return
        key = self._key(annotated)
        said = corrected(self.store.document(key), self.journal)
        found = self._triples(annotated, said.document)
        self.documents += 1
        yield from self._compare(key, said, found, accept)

    def _compare(
        self, key: str, said: Corrected, found: set[Triple], accept: bool
    ) -> Iterator[_Step]:
        address = f"{document_iri(key)}#fact="
        entities = entity_iris(said.document)
        stands = {_triple(fact.relation) for fact in said.facts if fact.decision != "rejected"}
        new = sorted(found - stands)
        for number, fact in enumerate(said.facts):
            triple = _triple(fact.relation)
            rejected = fact.decision == "rejected"
            if triple in found and (rejected or (accept and fact.decision is None)):
                if triple in new:
                    new.remove(triple)
                yield _Step("accept", f"{address}{number}")
            elif triple not in found and not rejected:
                other = _in_its_place(triple, new)
                if other is None:
                    yield _Step("reject", f"{address}{number}")
                    continue
                new.remove(other)
                yield _Step(
                    "correct",
                    f"{address}{number}",
                    head=None if other[0] == triple[0] else entities[other[0]],
                    relation=None if other[1] == triple[1] else other[1],
                    tail=None if other[2] == triple[2] else entities[other[2]],
                )
        self.left += len(new)

    def _triples(self, annotated: Document, document: Document) -> set[Triple]:
        """The relations of a document that came back, between the entities that the store knows."""
        at = {
            (document.mentions[mention].start, document.mentions[mention].end): index
            for index, entity in enumerate(document.entities)
            for mention in entity.mentions
        }
        entities = [
            next((at[span] for span in _spans(annotated, entity.mentions) if span in at), None)
            for entity in annotated.entities
        ]
        found: set[Triple] = set()
        for relation in annotated.relations:
            head, tail = entities[relation.head], entities[relation.tail]
            if head is None or tail is None or not self._is_relation(relation.type):
                self.left += 1
            else:
                found.add((head, self.relations.get(relation.type, relation.type), tail))
        return found

    def _is_relation(self, name: str) -> bool:
        return name in self.relations or name in self.store.relation_names() or is_property(name)

    def _key(self, annotated: Document) -> str:
        """The id of a document in the store: as it went out, or that of the same text."""
        for key in (annotated.attributes.get(_DOCUMENT), annotated.id):
            if key in self.known and self.store.document(key).text == annotated.text:
                return str(key)
        if not self.texts:
            self.texts = {each.text: document_key(each) for each in self.store.documents()}
        if annotated.text not in self.texts:
            raise InputError(
                "annotated-elsewhere", Place(file=str(self.path), document=annotated.id)
            )
        return self.texts[annotated.text]


def _is_looked_at(annotated: Document) -> bool:
    """Whether somebody has annotated it: Label Studio keeps predictions apart."""
    kept = annotated.attributes.get("label-studio")
    if not isinstance(kept, dict) or not isinstance(kept.get("task"), dict):
        return True
    done = (kept["task"].get(name) or [] for name in ("annotations", "completions"))
    return any(not each.get("was_cancelled", False) for several in done for each in several)


def _in_its_place(gone: Triple, new: Iterable[Triple]) -> Triple | None:
    """The new fact that shares most with one that is gone."""
    for kept in ((0, 2), (0, 1), (1, 2)):
        for other in new:
            if all(other[part] == gone[part] for part in kept):
                return other
    return None


def _spans(document: Document, mentions: Iterable[int]) -> Iterator[tuple[int, int]]:
    return ((document.mentions[each].start, document.mentions[each].end) for each in mentions)


def _triple(relation: Relation) -> Triple:
    return relation.head, relation.type, relation.tail
