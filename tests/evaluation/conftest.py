"""Small documents whose entities, sentences and names a test chooses."""

from collections.abc import Callable, Sequence

import pytest

from factloom.document import Document, Entity, Mention, Relation, Sentence

Names = Sequence[tuple[str, int]]  # the mentions of an entity: (name, sentence)


def make_document(
    name: str, entities: Sequence[Names], relations: Sequence[Relation] = (), sentences: int = 3
) -> Document:
    """A document whose sentences consist of the mentions that are said to stand in them."""
    text, spans, mentions = "", [], {}
    for sentence in range(sentences):
        start = len(text)
        for entity, named in enumerate(entities):
            for position, (mention, place) in enumerate(named):
                if place == sentence:
                    mentions[entity, position] = Mention(len(text), len(text) + len(mention), "X")
                    text += f"{mention} "
        text += ". "
        spans.append(Sentence(start, len(text) - 1))
    order = {key: index for index, key in enumerate(mentions)}
    return Document(
        text=text,
        id=name,
        sentences=tuple(spans),
        mentions=tuple(mentions.values()),
        entities=tuple(
            Entity(tuple(order[entity, position] for position in range(len(named))), "X")
            for entity, named in enumerate(entities)
        ),
        relations=tuple(relations),
    )


@pytest.fixture(scope="session")
def document() -> Callable[..., Document]:
    return make_document


@pytest.fixture
def ada() -> Document:
    """Four entities and three gold relations; Ada and London share a sentence, Byron is alone."""
    return make_document(
        "ada",
        [
            [("Ada", 0), ("Lovelace", 1)],
            [("London", 0)],
            [("Byron", 2)],
            [("England", 1), ("Britain", 2)],
        ],
        [
            Relation(0, 1, "born", evidence=(0,)),
            Relation(0, 2, "father", evidence=(1, 2)),
            Relation(1, 3, "country", evidence=(0, 1)),
        ],
    )
