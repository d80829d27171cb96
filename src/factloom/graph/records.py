"""What the catalogue of a store keeps of a document: all of it, and what tells it from others."""

import hashlib
import json
from collections.abc import Mapping

from pyoxigraph import NamedNode

from factloom.document import Document, Entity
from factloom.files.json_records import encode
from factloom.graph.changes import text_of
from factloom.graph.database import Database
from factloom.graph.identifiers import document_of_iri
from factloom.graph.vocabulary import CATALOGUE, term

FINGERPRINT = term("fl:fingerprint")  # of the content, and of the text alone
CONTENT = term("fl:content")


def record_of(
    document: Document, relation_names: Mapping[str, str], model: str
) -> dict[NamedNode, str]:
    """What the catalogue keeps of a document."""
    content = encode(document.to_json(), document.id)
    of_content = _digest([content, _names_used(document, relation_names), model])
    return {FINGERPRINT: f"{of_content} {_of_text(document, model)}", CONTENT: content}


def is_of_the_same_text(fingerprint: str, document: Document, model: str) -> bool:
    """Whether it is the fingerprint of this text, as this model has read it."""
    return fingerprint.endswith(f" {_of_text(document, model)}")


def _of_text(document: Document, model: str) -> str:
    return _digest([document.text, model])


def fingerprints(disk: Database) -> dict[str, str]:
    """What tells every document of a store from its other versions, by the documents' ids."""
    return {
        document_of_iri(text_of(quad.subject)): text_of(quad.object).partition(" ")[0]
        for quad in disk.quads_for_pattern(None, FINGERPRINT, None, CATALOGUE)
    }


def is_given_the_same(document: Document, stored: Document) -> bool:
    """Whether a document says no other than the stored one, before a model adds to it."""
    if document.sentences and _bounds(document) != _bounds(stored):
        return False
    if not document.mentions:
        return True
    if not any(entity.link_candidates for entity in document.entities):
        stored = stored.replace(entities=tuple(map(_as_it_came, stored.entities)))
    given, known = ((each.mentions, each.entities, each.candidates) for each in (document, stored))
    return given == known


def _as_it_came(entity: Entity) -> Entity:
    """Without what a linker said of it before it was stored."""
    return entity.without_link() if entity.link_candidates else entity


def _bounds(document: Document) -> list[tuple[int, int]]:
    # A model may add tokens to sentences.
    return [(sentence.start, sentence.end) for sentence in document.sentences]


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _names_used(document: Document, relation_names: Mapping[str, str]) -> list[tuple[str, str]]:
    used = sorted({relation.type for relation in document.relations})
    return [(relation, relation_names[relation]) for relation in used if relation in relation_names]
