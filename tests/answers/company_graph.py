"""Small documents about a company and its founder, made from facts, and a store that holds them."""

from collections.abc import Sequence
from pathlib import Path

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.graph.store import Store
from factloom.text.relation_names import RELATION_NAMES

Fact = tuple[str, str, str, float | None]  # head, relation, tail, score

TYPES = {
    "Quillmark": "ORG",
    "Halden Glass": "ORG",
    "Mara Velden": "PER",
    "Jon Velden": "PER",
    "Ada Brook": "PER",
    "Torvik": "LOC",
    "Norvania": "LOC",
    "Ashmere": "LOC",
    "Halden College": "ORG",
    "3 May 1931": "TIME",
    "1956": "TIME",
    "2001": "TIME",
    "640": "NUM",
    "Night Post": "MISC",
    "Grey Sea": "MISC",
}

COMPANY: list[Fact] = [
    ("Quillmark", "P112", "Mara Velden", 0.9),
    ("Quillmark", "P571", "1956", 0.8),
    ("Quillmark", "P159", "Ashmere", 0.7),
    ("Quillmark", "P1128", "640", 0.7),
    ("Halden Glass", "P112", "Mara Velden", 0.8),
    ("Halden Glass", "P571", "2001", 0.8),
]
FOUNDER: list[Fact] = [
    ("Mara Velden", "P69", "Halden College", 0.8),
    ("Mara Velden", "P19", "Torvik", 0.9),
    ("Mara Velden", "P569", "3 May 1931", 0.9),
    ("Mara Velden", "P40", "Jon Velden", 0.9),
    ("Mara Velden", "P40", "Ada Brook", 0.8),
    ("Torvik", "P17", "Norvania", 0.9),
    ("Night Post", "P57", "Ada Brook", None),
    ("Grey Sea", "P57", "Ada Brook", None),
]


def document(key: str, facts: Sequence[Fact]) -> Document:
    """A sentence a fact; names of one spelling are one entity."""
    text = ""
    sentences, mentions, relations = [], [], []
    entities: dict[str, list[int]] = {}
    for number, (head, relation, tail, score) in enumerate(facts):
        start = len(text)
        for name in (head, tail):
            entities.setdefault(name, []).append(len(mentions))
            mentions.append(Mention(len(text), len(text) + len(name), TYPES[name]))
            text += f"{name} {RELATION_NAMES[relation]} " if name is head else name
        text += ". "
        sentences.append(Sentence(start, len(text) - 1))
        order = list(entities)
        ends = order.index(head), order.index(tail)
        relations.append(Relation(*ends, relation, score=score, evidence=(number,)))
    return Document(
        text=text,
        id=key,
        sentences=tuple(sentences),
        mentions=tuple(mentions),
        entities=tuple(Entity(tuple(own), TYPES[name]) for name, own in entities.items()),
        relations=tuple(relations),
    )


def fill(directory: Path, *documents: Document) -> Path:
    """The store in a directory, with documents; by default those of company and founder."""
    chosen = documents or (document("company.txt", COMPANY), document("founder.txt", FOUNDER))
    with Store.open(directory) as store:
        store.ingest(chosen, relation_names=dict(RELATION_NAMES), model="test 1")
    return directory
