"""A knowledge base by its path: a graph store, a directory of tables, or a file of any kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from factloom import formats
from factloom.errors import InputError, Place
from factloom.files.json_records import first_records
from factloom.files.source import Source
from factloom.formats.gathering import is_store
from factloom.graph.knowledge_base import KnowledgeBase, KnownEntity, KnownFact
from factloom.knowledge.annotated import Annotated
from factloom.knowledge.records import read_json, read_table
from factloom.knowledge.tables import DESCRIPTION, Tables

LANGUAGES = ("en", "mul", "zh")  # of the names in RDF files
_RDF = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".xml", ".jsonld")
_OF_DOCUMENTS = {"text", "tokens", "sents", "data", "words", "factloom"}  # keys


@contextmanager
def open_knowledge(
    path: str | Path, languages: tuple[str, ...] = LANGUAGES
) -> Iterator[KnowledgeBase]:
    """What is known there; a store is read as it is now, and let go at the end."""
    path = Path(path)
    if path.is_dir() and is_store(path):
        from factloom.graph.store import Store
        from factloom.knowledge.stored import StoredKnowledge

        with Store.read(path) as store:
            yield StoredKnowledge(store)
    elif (path / DESCRIPTION).is_file():
        yield Tables.open(path)
    else:
        yield read_tables([path], languages)


def read_tables(paths: list[Path], languages: tuple[str, ...] = LANGUAGES) -> Tables:
    """The knowledge of files, together."""
    entities: list[KnownEntity] = []
    facts: list[KnownFact] = []
    documents = Annotated()
    for path in paths:
        for found in _read(path, languages, documents):
            if isinstance(found, KnownFact):
                facts.append(found)
            else:
                entities.append(found)
    entities += documents.entities()
    return Tables.build(entities, [*facts, *documents.facts], documents.unknown)


def _read(
    path: Path, languages: tuple[str, ...], documents: Annotated
) -> Iterator[KnownEntity | KnownFact]:
    """The entities and facts of a file; those of annotated documents are gathered beside."""
    if path.is_dir():
        raise InputError("knowledge-missing", Place(file=str(path)))
    source = Source(path)
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix in _RDF:
        from factloom.knowledge.rdf import read_rdf

        yield from read_rdf(path, languages)
    elif suffix == ".tsv":
        yield from read_table(source)
    elif _holds_records(source):
        yield from read_json(source)
    else:
        before = len(documents.names)
        for document in formats.read(path):
            documents.add(document.named())
        if len(documents.names) == before:
            raise InputError("knowledge-without-entities", source.place)


def _holds_records(source: Source) -> bool:
    """Whether lines of JSON are entities or facts, and no documents."""
    found = first_records(source.head())
    keys = set(found[0]) if found and isinstance(found[0], dict) else set()
    return {"head", "relation", "tail"} <= keys or ("id" in keys and keys.isdisjoint(_OF_DOCUMENTS))
