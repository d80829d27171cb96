"""Stores that are damaged: what of them can still be read, and a new store of that.

A damaged table cannot be read past the damage. But everything is kept in several tables, sorted in
several ways, so that what one does not give another may. Only the texts themselves are kept once.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolution, QuerySolutions, Triple

from factloom.document import Document
from factloom.errors import FactloomError, InputError, Place
from factloom.graph.changes import Changes, text_of
from factloom.graph.correcting import corrected
from factloom.graph.corrections import (
    CORRECTIONS,
    Correction,
    Journal,
    correction_quads,
    count_quad,
)
from factloom.graph.database import Graph
from factloom.graph.decisions import (
    DECISIONS,
    DIFFERENT_FROM,
    KNOWN_BY,
    TELLS_APART,
    of_document,
)
from factloom.graph.disk import DISK_FAILURES, Disk
from factloom.graph.identifiers import (
    DOCUMENT,
    document_iri,
    document_of_entity,
    document_of_iri,
    relation_of,
)
from factloom.graph.opening import check_version, read_anything, take_snapshot
from factloom.graph.profiles import profiles
from factloom.graph.records import CONTENT, FINGERPRINT
from factloom.graph.snapshot import Snapshot
from factloom.graph.store import Store
from factloom.graph.stored_quads import read_quads, stored_quads
from factloom.graph.stored_things import PROFILE
from factloom.graph.vocabulary import (
    CATALOGUE,
    CORRECTION_START,
    DOCUMENT_CLASS,
    EXPLANATION,
    LABEL,
    MODEL,
    RELATION_NAMES,
    SOURCE,
    A,
)

Subject = NamedNode | BlankNode | Triple
Term = Subject | Literal
_Found = TypeVar("_Found")
_MOST_FAILURES = 1000  # one after the other: the same place is read again and again
_RECORD = (FINGERPRINT, CONTENT)


@dataclass(frozen=True, slots=True)
class Condition:
    """What of a store is whole, and what is not."""

    documents: int  # that are whole
    lost: Mapping[str, str | None]  # documents that cannot be read, and where they came from
    unnamed: int  # further ones, of which not even the ids can be read
    incomplete: tuple[str, ...]  # documents that are whole themselves, but not all of their facts
    damages: tuple[str, ...]  # what could not be read, in the words of the database

    @property
    def is_whole(self) -> bool:
        return not (self.lost or self.unnamed or self.incomplete or self.damages)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What has been saved of a store."""

    documents: int
    decisions: int  # pairs that a user has told apart
    corrections: int
    lost: Mapping[str, str | None]  # documents, and where they came from
    unnamed: int  # further ones that are lost, of which not even the ids can be read
    damages: tuple[str, ...]


def check(directory: Path) -> Condition:
    """Read all of a store, by all of its tables."""
    with take_snapshot(directory) as snapshot:
        remains = _Remains(_disk(snapshot, directory))
        lost: dict[str, str | None] = {}
        incomplete = []
        names, identifiers = remains.relation_names(), remains.document_ids()
        for identifier in identifiers:
            document = remains.document(identifier)
            if document is None:
                lost[identifier] = remains.source(identifier)
            elif not remains.has_facts(document, names, identifier):
                incomplete.append(identifier)
        remains.read_all_tables()
        whole = len(identifiers) - len(lost) - len(incomplete)
        unnamed = remains.unnamed(len(identifiers))
        return Condition(whole, lost, unnamed, tuple(incomplete), tuple(remains.damages))


def rebuild(directory: Path, output: Path) -> Rebuilt:
    """Make a new store of the documents of another one that can be read, and of its decisions."""
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("rebuild-into-old", Place(file=str(output)))
    with take_snapshot(directory) as snapshot:
        # An older layout keeps documents, decisions and corrections by the same words.
        remains = _Remains(_unless(("store-unreadable", "store-older"), snapshot, directory))
        lost: dict[str, str | None] = {}
        names, identifiers = remains.relation_names(), remains.document_ids()
        decisions, corrections = remains.decisions(), remains.corrections()
        with Store.open(output) as new:
            # They come first, so that nothing is merged that a user has told apart.
            changes = Changes(new.disk)
            changes.add_unseen(decisions)
            changes.add_unseen(_journal(corrections))
            changes.write()
            for identifier in identifiers:
                document = remains.document(identifier)
                if document is None:
                    lost[identifier] = remains.source(identifier)
                    continue
                model = remains.model(identifier)
                new.ingest([document], relation_names=names, model=model)
        told_apart = sum(quad.predicate == DIFFERENT_FROM for quad in decisions)
        saved = len(identifiers) - len(lost)
        unnamed = remains.unnamed(len(identifiers))
        counts = (saved, told_apart, len(corrections))
        return Rebuilt(*counts, lost, unnamed, tuple(remains.damages))


class _Remains:
    """A store that is read as far as it goes; what stops it is noted once."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.damages: dict[str, None] = {}

    def match(
        self,
        subject: Subject | None = None,
        predicate: NamedNode | None = None,
        object: Term | None = None,
        graph: Graph | None = None,
    ) -> Iterator[Quad]:
        database = self.disk.database
        return self._as_far(lambda: database.quads_for_pattern(subject, predicate, object, graph))

    def document_ids(self) -> list[str]:
        """The ids of all documents that are spoken of anywhere."""
        found = {graph.value for graph in self._graphs()}
        about_documents = chain(
            *(self.match(None, predicate, None, CATALOGUE) for predicate in _RECORD),
            *(self.match(None, predicate) for predicate in _RECORD),
            self.match(None, A, DOCUMENT_CLASS),
            self.match(None, None, DOCUMENT_CLASS),
        )
        found |= {text_of(quad.subject) for quad in about_documents}
        # The catalogue speaks of entities without their documents, but their names tell.
        entities = chain(self.match(None, PROFILE, None, CATALOGUE), self.match(None, PROFILE))
        of_entities = {document_of_entity(text_of(quad.subject)) for quad in entities}
        named = {document_of_iri(iri) for iri in found if iri.startswith(DOCUMENT)}
        return sorted(named | of_entities)

    def unnamed(self, named: int) -> int:
        """How many documents there are beside those that have been named."""
        counts = [self._count(f"?document {predicate} ?value") for predicate in _RECORD]
        return max(0, *(count - named for count in counts))

    def _count(self, pattern: str) -> int:
        # A variable that is nowhere else: rows are found, and no text is read for them.
        return sum(1 for _ in self._rows(f"SELECT ?nothing {{ {pattern} }}"))

    def _rows(self, sparql: str) -> Iterator[QuerySolution]:
        database = self.disk.database
        return self._as_far(
            lambda: cast(QuerySolutions, database.query(sparql, use_default_graph_as_union=True))
        )

    def document(self, identifier: str) -> Document | None:
        for content in self._texts(identifier, CONTENT, CATALOGUE):
            try:
                return Document.from_json(json.loads(content))
            except (ValueError, KeyError, TypeError, FactloomError) as error:
                self.damages[f"document {identifier}: {error}"] = None
        return None

    def source(self, identifier: str) -> str | None:
        return next(self._texts(identifier, SOURCE, NamedNode(document_iri(identifier))), None)

    def model(self, identifier: str) -> str:
        own = NamedNode(document_iri(identifier))
        return next(self._texts(identifier, MODEL, own), "unknown")

    def relation_names(self) -> dict[str, str]:
        quads = [*self.match(None, LABEL, None, RELATION_NAMES), *self.match(graph=RELATION_NAMES)]
        return {relation_of(text_of(quad.subject)): text_of(quad.object) for quad in quads}

    def decisions(self) -> set[Quad]:
        found = set(self.match(graph=DECISIONS))
        for predicate in (DIFFERENT_FROM, KNOWN_BY, TELLS_APART):
            found |= set(self.match(None, predicate, None, DECISIONS))
            found |= {quad for quad in self.match(None, predicate) if quad.graph_name == DECISIONS}
        told = [quad for quad in found if quad.predicate == DIFFERENT_FROM]
        ends = {text_of(end) for quad in told for end in (quad.subject, quad.object)}
        return found | {of_document(entity) for entity in ends}

    def corrections(self) -> list[Correction]:
        """What can be read of the journal, in order."""
        nodes = {text_of(quad.subject) for quad in self.match(graph=CORRECTIONS)}
        numbers = sorted(int(node.removeprefix(CORRECTION_START)) for node in nodes)
        found = (Journal(self).get(number) for number in numbers)
        return [correction for correction in found if correction is not None]

    def has_facts(self, document: Document, names: Mapping[str, str], identifier: str) -> bool:
        """Whether the graph of a document has all that the document says."""
        model = self.model(identifier)
        known = profiles(document, {})
        now = corrected(document, Journal(self), known)
        said = stored_quads(document, known, relation_names=names, model=model, said=now)
        return _comparable(said) == _comparable(read_quads(self, document))

    def read_all_tables(self) -> None:
        """Find every quad again by each of the orders in which they are kept."""
        counts: Counter[NamedNode] = Counter()
        graphs: list[Graph] = [CATALOGUE, *self._graphs()]
        for graph in graphs:
            counts += self._read_graph(graph)
        for predicate, count in counts.items():
            self._expect(count, self.match(None, predicate), f"{predicate} of all documents")

    def _read_graph(self, graph: Graph) -> Counter[NamedNode]:
        counts: Counter[NamedNode] = Counter()
        subject = None
        for quad in self.match(graph=graph):
            counts[quad.predicate] += 1
            tables = [self.match(quad.subject, None, quad.object, place) for place in (graph, None)]
            if quad.subject != subject:  # they come in order
                subject = quad.subject
                tables.append(self.match(subject, None, None, None))
            if not all(sum(1 for _ in found) for found in tables):
                self.damages[f"a table lacks statements of {graph}"] = None
        for predicate, count in counts.items():
            self._expect(count, self.match(None, predicate, None, graph), f"{predicate} of {graph}")
        return counts

    def _expect(self, count: int, quads: Iterable[Quad], what: str) -> None:
        found = sum(1 for _ in quads)
        if found != count:
            self.damages[f"a table has {found} of {count} statements: {what}"] = None

    def _texts(self, identifier: str, predicate: NamedNode, graph: Graph) -> Iterator[str]:
        """What is said of a document, by one table, else by another."""
        node = NamedNode(document_iri(identifier))
        for quad in chain(self.match(node, predicate, None, graph), self.match(node, predicate)):
            yield text_of(quad.object)
        # Where the name of the document itself cannot be read, a query does not read it.
        asked = f"SELECT ?text {{ {node} {predicate} ?text }}"
        for row in self._rows(asked):
            yield text_of(row["text"])
        # All of that is read from one table, where it stands in the default graph.
        for quad in self.match(None, predicate, None, graph):
            if quad.subject == node:
                yield text_of(quad.object)

    def _graphs(self) -> list[NamedNode]:
        found = self._as_far(self.disk.database.named_graphs)
        return [graph for graph in found if isinstance(graph, NamedNode)]

    def _as_far(self, start: Callable[[], Iterator[_Found]]) -> Iterator[_Found]:
        """What can be read. A name that is damaged is passed over, a table ends at the damage."""
        failures = 0
        try:
            found = start()
        except DISK_FAILURES as error:
            self._note(error)
            return
        while failures < _MOST_FAILURES:
            try:
                yield next(found)
                failures = 0
            except StopIteration:
                return
            except DISK_FAILURES as error:
                self._note(error)
                failures += 1

    def _note(self, error: Exception) -> None:
        self.damages[self.disk.unreadable(error).flaw.what] = None


def _disk(snapshot: Snapshot, directory: Path) -> Disk:
    """The database of a store of this version, or of one whose version cannot be read."""
    return _unless(("store-unreadable",), snapshot, directory)


def _unless(accepted: Sequence[str], snapshot: Snapshot, directory: Path) -> Disk:
    """The database of a store, whatever is wrong with its version that is accepted."""
    place = Place(file=str(directory))
    disk = read_anything(snapshot, place)
    try:
        check_version(disk, place)
    except InputError as error:
        if error.code not in accepted:
            raise
    return disk


def _journal(corrections: list[Correction]) -> Iterator[Quad]:
    for correction in corrections:
        yield from correction_quads(correction)
    if corrections:
        yield count_quad(corrections[-1].number)


def _comparable(quads: Iterable[Quad]) -> set[Quad]:
    # The words of an explanation are those of the day: relations may have got other names since.
    return {
        quad
        for quad in quads
        if quad.graph_name != RELATION_NAMES and quad.predicate != EXPLANATION
    }
