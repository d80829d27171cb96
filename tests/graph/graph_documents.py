"""Documents for tests of the graph, made from names and facts alone."""

from collections.abc import Sequence

from factloom.document import Document, Entity, Mention, Relation, Sentence

NAMES = {"P19": "place of birth", "P569": "date of birth", "P108": "employer", "P17": "country"}


def make_document(
    key: str,
    entities: Sequence[tuple[str, str]],
    facts: Sequence[tuple[int, str, int]] = (),
    score: float | None = 0.75,
    identifiers: Sequence[str] = (),
) -> Document:
    """A document with one sentence an entity; `entities` are (type, names joined by "|")."""
    text, sentences, mentions, found = "", [], [], []
    for number, (type, names) in enumerate(entities):
        start = len(text)
        indices = []
        for name in names.split("|"):
            indices.append(len(mentions))
            mentions.append(Mention(len(text), len(text) + len(name), type))
            text += f"{name} "
        text += "stands here. "
        sentences.append(Sentence(start, len(text) - 1))
        identifier = identifiers[number] if identifiers else None
        found.append(Entity(tuple(indices), type, id=identifier))
    relations = [
        Relation(head, tail, type, score=score, evidence=(head, tail)) for head, type, tail in facts
    ]
    return Document(
        text=text,
        id=key,
        sentences=tuple(sentences),
        mentions=tuple(mentions),
        entities=tuple(found),
        relations=tuple(relations),
    )


def ada(key: str = "ada.txt") -> Document:
    """Ada Lovelace was born in London on 10 December 1815."""
    entities = [("PER", "Ada Lovelace|Lovelace"), ("LOC", "London"), ("TIME", "10 December 1815")]
    return make_document(key, entities, [(0, "P19", 1), (0, "P569", 2)])


def engine(key: str = "engine.txt") -> Document:
    """Ada Lovelace worked for Charles Babbage, who was born in London."""
    entities = [("PER", "Ada Lovelace"), ("PER", "Charles Babbage"), ("LOC", "London")]
    return make_document(key, entities, [(0, "P108", 1), (1, "P19", 2)])
