"""The graph that is kept: documents in, facts, things and answers out.

    with Store.open("graph") as store:
        store.ingest(documents, relation_names={"P19": "place of birth"}, model="mine 1.0")
        for solution in store.query("SELECT ?name { ?person a type:PER ; rdfs:label ?name }"):
            print(solution["name"].value)

Each document is taken in by one transaction. A process that is killed leaves whole documents
behind, and the next ingest passes over those that are there already. A store is a directory, or
whatever speaks SPARQL 1.1: `Store.open("https://example.org/ds/query")`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pyoxigraph import Literal, NamedNode, Quad

from factloom.document import Document
from factloom.errors import DocumentError, InputError, Place
from factloom.graph.asking import Formats, Limits
from factloom.graph.changes import Changes, text_of
from factloom.graph.correcting import Corrected, corrected
from factloom.graph.corrections import CORRECTIONS, Correction, Journal
from factloom.graph.database import Answer, Database
from factloom.graph.decisions import DECISIONS
from factloom.graph.editing import Editor
from factloom.graph.endpoint.address import is_address
from factloom.graph.endpoint.opening import open_endpoint, read_endpoint
from factloom.graph.fact_names import find_fact
from factloom.graph.facts import Connection, Thing
from factloom.graph.identifiers import (
    document_iri,
    document_key,
    document_of_iri,
    relation_of,
)
from factloom.graph.lookup import Lookup
from factloom.graph.merging import Cluster, Merge
from factloom.graph.opening import open_disk, read_disk, take_snapshot
from factloom.graph.records import (
    CONTENT,
    FINGERPRINT,
    is_given_the_same,
    is_of_the_same_text,
    record_of,
)
from factloom.graph.sparql import question
from factloom.graph.statistics import Statistics, count
from factloom.graph.stored_documents import put, rewrite, take_out
from factloom.graph.stored_things import StoredThings, merge_quads, read_merges
from factloom.graph.vocabulary import (
    CATALOGUE,
    LABEL,
    MODEL,
    REJECTED_CLASS,
    RELATION_NAMES,
    SOURCE,
    document_quads,
)

_LIMITS, _FORMATS = Limits(), Formats()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did, in documents; facts and merges are those of added and replaced ones."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    facts: int = 0
    merges: int = 0


class Store:
    """A graph of documents. One process may write, and any number may read."""

    def __init__(self, disk: Database) -> None:
        self.disk = disk
        self.place = disk.place  # what errors say of where it is
        self._directory = disk.directory

    @classmethod
    def open(cls, place: str | Path, *, must_exist: bool = False) -> Self:
        """Open the store in a directory, or at an address, to read and write.

        It is made where there is none.
        """
        if is_address(place):
            return cls(open_endpoint(str(place), must_exist))
        return cls(open_disk(Path(place), must_exist))

    @classmethod
    def read(cls, place: str | Path) -> Self:
        """Read the store in a directory as it is now, whoever may write to it meanwhile.

        At an address, each question is answered as the store is when it is asked.
        """
        if is_address(place):
            return cls(read_endpoint(str(place)))
        snapshot = take_snapshot(Path(place))
        try:
            return cls(read_disk(snapshot, Place(file=str(place))))
        except InputError:
            snapshot.close()
            raise

    @property
    def directory(self) -> Path:
        """Where files stand beside the graph; an error for those at an address, which have none."""
        if self._directory is None:
            raise InputError("endpoint-without-files", self.place)
        return self._directory

    def close(self) -> None:
        """Let other processes have it; nothing happens to one that is closed."""
        if "disk" in vars(self):
            vars(self).pop("disk").close()

    def flush(self) -> None:
        """Let others read at once what is written."""
        self.disk.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- documents ---------------------------------------------------------------------------

    def ingest(
        self, documents: Iterable[Document], *, relation_names: Mapping[str, str], model: str
    ) -> IngestReport:
        """Take in documents, each as a whole or not at all.

        A document that is there with the same content, from the same model, is passed over; one
        with the same id and other content replaces it. `model` is a name and version.
        """
        counts = dict.fromkeys(("added", "replaced", "unchanged"), 0)
        facts = merges = 0
        for document in documents:
            record = record_of(document, relation_names, model)
            stored = self._about(document_key(document), FINGERPRINT)
            if stored == record[FINGERPRINT]:
                counts["unchanged"] += 1
                continue
            before = None if stored is None else self.document(document_key(document))
            changes = Changes(self.disk)
            merged = put(changes, document, before, relation_names, model, record)
            self.write(changes)
            counts["added" if stored is None else "replaced"] += 1
            facts += len(document.relations)
            merges += len(merged)
        return IngestReport(**counts, facts=facts, merges=merges)

    def has_read(self, document: Document, *, model: str) -> bool:
        """Whether this document is there as this model has read it.

        Its text counts, and the sentences, entities and candidates that it has for the model;
        leave those out that the model does not look at.
        """
        key = document_key(document)
        fingerprint = self._about(key, FINGERPRINT)
        if fingerprint is None or not is_of_the_same_text(fingerprint, document, model):
            return False
        given = document.sentences or document.mentions
        return not given or is_given_the_same(document, self.document(key))

    def source(self, document_id: str) -> str | None:
        """Where the text of a document came from; None if it is not there or did not say."""
        return self._said_of(document_id, SOURCE)

    def document_from(self, source: str) -> str | None:
        """The id of a document whose text came from there; None if there is none."""
        found = next(self.disk.quads_for_pattern(None, SOURCE, Literal(source), None), None)
        return None if found is None else document_of_iri(text_of(found.subject))

    def delete(self, document_id: str) -> None:
        """Remove a document, its facts and its part in merges."""
        changes = Changes(self.disk)
        take_out(changes, document_id, self.document(document_id))
        self.write(changes)

    def document(self, document_id: str) -> Document:
        """A document as it was taken in."""
        content = self._about(document_id, CONTENT)
        if content is None:
            raise self._unknown_document(document_id)
        return Document.from_json(json.loads(content))

    def documents(self) -> Iterator[Document]:
        """All documents as they were taken in."""
        for quad in self.disk.quads_for_pattern(None, CONTENT, None, CATALOGUE):
            yield Document.from_json(json.loads(text_of(quad.object)))

    def document_ids(self) -> Iterator[str]:
        """The ids of all documents."""
        for quad in self.disk.quads_for_pattern(None, FINGERPRINT, None, CATALOGUE):
            yield document_of_iri(text_of(quad.subject))

    def relation_names(self) -> dict[str, str]:
        """The relations in words."""
        quads = self.disk.quads_for_pattern(None, LABEL, None, RELATION_NAMES)
        return {relation_of(text_of(quad.subject)): text_of(quad.object) for quad in quads}

    def models(self) -> dict[str, str]:
        """The model that has found the facts of each document, by the document's id."""
        quads = self.disk.quads_for_pattern(None, MODEL, None, None)
        return {document_of_iri(text_of(quad.subject)): text_of(quad.object) for quad in quads}

    # --- things ------------------------------------------------------------------------------

    def find(self, name: str, type: str | None = None) -> Thing:
        """The thing that has this name, whatever its case."""
        return self.lookup().find(name, type)

    def things(self, type: str | None = None, part: str = "") -> Iterator[Thing]:
        """The things of a type, with a name that has this part, whatever its case."""
        return self.lookup().all_things(type, part)

    def neighbours(
        self,
        name: str,
        type: str | None = None,
        *,
        relation: str | None = None,
        minimum_score: float = 0.0,
        rejected: bool = False,
    ) -> list[Connection]:
        """The facts about a thing, from all documents that speak of it, the surest first.

        `relation` is an id or a name; a fact without a score, as people annotate it, is sure.
        Those that people have rejected are there if that is wanted.
        """
        lookup = self.lookup()
        thing = lookup.find(name, type)
        return lookup.neighbours(thing, relation, minimum_score, rejected=rejected)

    def path(
        self,
        start: str,
        goal: str,
        *,
        start_type: str | None = None,
        goal_type: str | None = None,
        longest: int = 6,
    ) -> list[Connection]:
        """A shortest chain of facts between two things; empty if there is none so short."""
        lookup = self.lookup()
        ends = lookup.find(start, start_type), lookup.find(goal, goal_type)
        return lookup.path(*ends, longest)

    def merges(self, name: str | None = None, type: str | None = None) -> Iterator[Merge]:
        """Which entities were taken to be the same, and why; of one thing, or of all."""
        changes = Changes(self.disk)
        if name is None:
            return read_merges(changes)
        thing = self.find(name, type)
        return read_merges(changes, StoredThings(changes).members(thing.iri))

    def entity_name(self, entity: str) -> str:
        """What its document calls the entity."""
        return StoredThings(Changes(self.disk)).profile(entity).label

    def split(self, name: str, document: str, type: str | None = None) -> list[str]:
        """Say that what a document calls `name` is not what other documents call so.

        It holds for good, also when documents come again. The entities that it was one with.
        """
        return self.edit().split(name, document, type)

    def join(self, name: str, document: str, type: str | None = None) -> list[str]:
        """Take back a split of what a document calls `name`, which is then judged as any other.

        The entities that it is one with now.
        """
        return self.edit().join(name, document, type)

    # --- corrections -------------------------------------------------------------------------

    def edit(self, who: str = "", why: str = "", when: str | None = None) -> Editor:
        """Say what is so, as somebody who has the last word; `when` is now, unless it is given."""
        return Editor(self, who, why, when)

    def corrections(self) -> Iterator[Correction]:
        """What people have said, in order; also what they have undone."""
        return Journal(Changes(self.disk)).all()

    def corrected(self) -> Iterator[Corrected]:
        """All documents, with what people have made of them."""
        journal = Journal(Changes(self.disk))
        return (corrected(document, journal) for document in self.documents())

    def fact(self, *words: str) -> Connection:
        """A fact by its number in the last listing, its IRI, or its head, relation and tail."""
        return find_fact(self.lookup(), words, self.disk.directory)

    # --- questions ---------------------------------------------------------------------------

    def query(
        self,
        sparql: str,
        *,
        limit: int | None = None,
        limits: Limits = _LIMITS,
        formats: Formats = _FORMATS,
    ) -> Answer:
        """The answer to a query as it comes: pyoxigraph's solutions, its triples, or a truth value.

        All graphs are asked as one, unless a FROM clause says which; `GRAPH ?document { ... }`
        tells the documents apart. The prefixes of `vocabulary.PREFIXES` are known. Rows are found
        as they are read, so that an error may come as late as then. `limit` are the rows that are
        wanted at most.
        """
        return self.disk.ask(question(sparql, limit), limits, formats)

    def statistics(self) -> Statistics:
        """How much of what there is."""
        return count(self.disk)

    def clusters(self) -> Iterator[Cluster]:
        """The things that more than one document speaks of."""
        things = StoredThings(Changes(self.disk))
        merges = {merge.entity: merge for merge in self.merges()}
        roots = {merge.parent for merge in merges.values()} - merges.keys()
        for root in sorted(roots):
            members = things.members(root)
            yield Cluster(root, tuple(members), tuple(merges[member] for member in members[1:]))

    def quads(self, *, rejected: bool = True) -> Iterator[Quad]:
        """Everything but the store's own bookkeeping as a file has it, which says it in more words.

        A store keeps less (stored_quads.py): of its documents, the vocabulary of files is made.
        """
        names, models = self.relation_names(), self.models()
        for graph in (RELATION_NAMES, DECISIONS, CORRECTIONS):
            yield from self.disk.quads_for_pattern(None, None, None, graph)
        for merge in self.merges():
            yield from merge_quads(merge)
        for said in self.corrected():
            model = models.get(document_key(said.document), "")
            found = document_quads(said.document, relation_names=names, model=model, said=said)
            quads = [quad for quad in found if quad.graph_name != RELATION_NAMES]
            rejects = () if rejected else (q for q in quads if q.object == REJECTED_CLASS)
            hidden = {quad.subject for quad in rejects}
            yield from (quad for quad in quads if quad.subject not in hidden)

    # --- inside ------------------------------------------------------------------------------

    def write(self, changes: Changes) -> None:
        """Make changes so, all of them or none."""
        changes.write()

    def rewrite(self, document_id: str, changes: Changes) -> None:
        """Let the graph of a document say what people have made of it by now."""
        model = self._said_of(document_id, MODEL) or ""
        rewrite(changes, self.document(document_id), model)

    def _about(self, document_id: str, predicate: NamedNode) -> str | None:
        try:
            node = NamedNode(document_iri(document_id))
        except DocumentError:  # half of a surrogate pair: no document is called so
            return None
        found = next(self.disk.quads_for_pattern(node, predicate, None, CATALOGUE), None)
        return None if found is None else text_of(found.object)

    def _said_of(self, document_id: str, predicate: NamedNode) -> str | None:
        """What the graph of a document says of the document itself."""
        node = NamedNode(document_iri(document_id))
        found = next(self.disk.quads_for_pattern(node, predicate, None, node), None)
        return None if found is None else text_of(found.object)

    def entity(self, name: str, document: str, type: str | None) -> str:
        """The IRI of what a document calls `name`."""
        if self._about(document, FINGERPRINT) is None:
            raise self._unknown_document(document)
        return self.lookup().entity_of_document(name, document, type)

    def lookup(self) -> Lookup:
        """What finds things and facts."""
        return Lookup(StoredThings(Changes(self.disk)), self.place)

    def _unknown_document(self, document_id: str) -> InputError:
        place = Place(file=self.place.file, document=document_id)
        return InputError("unknown-document", place)
