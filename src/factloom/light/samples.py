"""Documents that mean nothing, from which graphs are traced and on which they are tried."""

from collections.abc import Sequence

from factloom.document import Document, Entity, Mention
from factloom.encoders.encoder import Encoder
from factloom.text.sentences import find_sentences


def named_samples(encoder: Encoder, types: Sequence[str], repeated: int) -> list[Document]:
    """A short document, and one of more than a window: names in sentences, and entities."""
    size = encoder.window // 6 + repeated
    return [_sample(types, repeated, 3), _sample(types, size, 4)]


def bare_samples(encoder: Encoder, repeated: int) -> list[Document]:
    """The same without names."""
    return [document.without_mentions() for document in named_samples(encoder, ["X"], repeated)]


def _sample(types: Sequence[str], sentences: int, entities: int) -> Document:
    """Names and a pronoun; each entity has several names."""
    text, mentions = "", []
    for number in range(2 * sentences):
        name = ("Ada Brook", "Quillmark", "Torvik", "Mara")[number % 4]
        kind = types[number % len(types)]
        mentions.append(Mention(len(text), len(text) + len(name), kind))
        text += name + (" told her of " if number % 2 == 0 else ". ")
    owners = [tuple(range(own, len(mentions), entities)) for own in range(entities)]
    found = tuple(Entity(own, mentions[own[0]].type) for own in owners)
    sentences_of = find_sentences(text)
    return Document(text, sentences=sentences_of, mentions=tuple(mentions), entities=found)
