"""From bare text to mentions, entities and relations, by whatever runs the layers of a joint model.

The model and its formulas: models/joint.py. Here is what is around its layers, which every runtime
does alike: texts become index arrays, what the layers say of them is decided upon. Nothing here
imports torch.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from factloom.document import Document, Mention, Relation
from factloom.encoders.tokens import Reader, Tokens
from factloom.layouts.batching import batches_by_length
from factloom.layouts.joint_documents import EntityBatch, JointLayout
from factloom.layouts.mention_documents import MentionExample
from factloom.layouts.sections import is_cut, read_in_sections
from factloom.layouts.stretches import Relate
from factloom.layouts.word_documents import WordBatch, WordExample
from factloom.models import entity_decoding, raw_scores, reference_decisions, relation_decisions
from factloom.models.relation_decisions import Margins, PairReading, found_by
from factloom.models.relation_settings import RelationSettings
from factloom.models.tag_decisions import decoded
from factloom.modules.chains import FieldScores
from factloom.modules.devices import Numbers
from factloom.modules.linking import Linking
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.reference_batch import ReferenceBatch
from factloom.text.list_items import names_nothing
from factloom.text.references import ReferenceWords, has_references
from factloom.text.relation_names import SENSITIVE
from factloom.text.sentences import find_sentences
from factloom.text.tags import Scheme

# From a batch of documents, however it was read, to documents with entities and their mentions.
Find = Callable[..., tuple[list[Document], list[MentionExample]]]


class JointSettings(RelationSettings):
    """Everything about the model that a user can choose; kept in its config.json."""

    block_size: PositiveInt = Field(64, description="Size of a group of the bilinear classifier.")
    hidden: PositiveInt = Field(256, description="Size of the scorers of mention pairs.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of words and mention pairs.")
    mention_weight: NonNegativeFloat = Field(1.0, description="v, weight of the tags' loss.")
    coreference_weight: NonNegativeFloat = Field(
        1.0, description="w, weight of the loss of mention pairs."
    )
    reference_weight: NonNegativeFloat = Field(
        1.0, description="Weight of the loss of pronouns and nominals."
    )
    reference_threshold: float = Field(
        0.5,
        ge=0,
        le=1,
        description="How probable it has to be what a pronoun or nominal stands for; fitted "
        "after training.",
    )
    reach: PositiveInt = Field(
        400, description="Mentions further apart are compared by their names first."
    )
    score_slope: PositiveFloat = Field(
        1.0, description="Of scores from raw text (models/raw_scores.py); fitted after training."
    )
    score_offset: float = Field(0.0, description="Likewise; fitted after training.")
    sensitive_score: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="From which score on religion, parenthood and the like are stated.",
    )


class Read(Protocol):
    """Some documents that the encoder has read; each network adds what its layers go on from."""

    @property
    def emissions(self) -> Numbers:
        """(sentences, length, tags)"""


class Layers(Protocol):
    """What runs the layers of a joint model: index arrays in, numbers out."""

    def read(self, batch: WordBatch[Numbers]) -> Any:
        """A `Read`."""

    def links(self, read: Any, batch: MentionBatch[Numbers]) -> Numbers:
        """(pairs of mentions,) above 0 where they rather name one thing"""

    def references(
        self, read: Any, names: MentionBatch[Numbers], batch: ReferenceBatch[Numbers]
    ) -> Numbers:
        """(pairs of references and names,) those of what stands for nothing are below 0"""

    def margins(self, read: Any, batch: EntityBatch[Numbers]) -> Margins:
        """What is said of the pairs of entities."""


@dataclass(frozen=True, slots=True)
class JointExtraction:
    """The layers of a trained model, and what was fitted to their scores."""

    layers: Layers
    layout: JointLayout
    settings: JointSettings
    tags: Sequence[str]
    scheme: Scheme
    relations: Sequence[str]
    field: FieldScores
    linking: Linking
    mention_temperature: float
    temperature: float  # of the relations' scores

    @property
    def encoder(self) -> Reader:
        return self.layout.encoder

    def predict(self, documents: Iterable[Document], batch_tokens: int) -> list[Document]:
        """The documents with mentions, entities and relations found in their text."""
        most = self.settings.stretch
        read = partial(self._read_documents, batch_tokens, self._find, most)
        found = read_in_sections(map(bare, documents), read, entity_decoding.joined_by_name)
        relate = self._relate(batch_tokens)
        return [
            relation_decisions.in_stretches(self, document, relate)
            if is_cut(document) or relation_decisions.is_long(self, document)
            else document
            for document in found
        ]

    def relate(self, documents: Iterable[Document], batch_tokens: int) -> list[Document]:
        """The documents with the relations between the entities that they have already.

        What else stands for these is found and pooled with their names, but not told.
        """
        given = list(documents)
        relate = partial(self._read_documents, batch_tokens, self._resolved, math.inf)
        found = relation_decisions.related(self, given, relate, relate)
        if self.layout.reference_words is None:
            return found
        return [
            document.replace(relations=related.relations)
            for document, related in zip(map(_unrelated, given), found, strict=True)
        ]

    def refer(self, documents: Iterable[Document], batch_tokens: int) -> list[Document]:
        """The documents with the pronouns and nominals that stand for their entities."""
        return self._read_documents(batch_tokens, self._resolved, -1, list(documents))

    def _relate(self, batch_tokens: int) -> Relate:
        return partial(self._read_documents, batch_tokens, self._given, math.inf)

    def _read_documents(
        self, batch_tokens: int, find: Find, most: float, documents: Sequence[Document]
    ) -> list[Document]:
        """`find` gives the documents of a batch their entities.

        Documents of more than `most` tokens get no relations.
        """
        tokenised = self.encoder.tokenize([document.text for document in documents])
        words = [
            self.layout.words(document.without_mentions(), tokens)
            for document, tokens in zip(documents, tokenised, strict=True)
        ]
        found = [document.without_relations() for document in documents]
        for numbers in _by_length(words, batch_tokens, most):
            tokens = [tokenised[number] for number in numbers]
            examples = [words[number] for number in numbers]
            batch = self.layout.word_batch(examples)
            read = self.layers.read(batch)
            related, mentions = find([found[n] for n in numbers], tokens, examples, batch, read)
            if examples[0].tokens <= most:
                related = self._relations(related, tokens, mentions, read)
            for number, document in zip(numbers, related, strict=True):
                found[number] = document
        return found

    def _find(
        self,
        documents: Sequence[Document],
        tokens: Sequence[Tokens],
        examples: Sequence[WordExample],
        batch: WordBatch[Numbers],
        read: Read,
    ) -> tuple[list[Document], list[MentionExample]]:
        """The documents with mentions and entities."""
        # words of which the tokenizer drops every sign are nothing that the encoder has seen
        named = [
            _with_names(document, own if len(seen.ids) else ())
            for document, own, seen in zip(
                documents, self._mentions(examples, batch, read), tokens, strict=True
            )
        ]
        of_mentions = [self.layout.mentions(*pair) for pair in zip(named, tokens, strict=True)]
        scores = self._link_scores(of_mentions, read, batch.windows.length)
        clustered = [
            entity_decoding.with_entities(document, example, own, self.linking)
            for document, example, own in zip(named, of_mentions, scores, strict=True)
        ]
        return self._resolved(clustered, tokens, examples, batch, read)

    def _mentions(
        self, examples: Sequence[WordExample], batch: WordBatch[Numbers], read: Read
    ) -> Iterator[list[Mention]]:
        numbers = read.emissions, batch.lengths
        return decoded(self, self.field, examples, *numbers, self.mention_temperature)

    def _given(
        self, documents: Sequence[Document], tokens: Sequence[Tokens], *_: Any
    ) -> tuple[list[Document], list[MentionExample]]:
        """The documents as they are, whose mentions (and perhaps entities) are known."""
        pairs = zip(documents, tokens, strict=True)
        return list(documents), [self.layout.unpaired(*pair) for pair in pairs]

    def _resolved(
        self,
        documents: Sequence[Document],
        tokens: Sequence[Tokens],
        _: Sequence[WordExample],
        batch: WordBatch[Numbers],
        read: Read,
    ) -> tuple[list[Document], list[MentionExample]]:
        """The documents with what stands for their entities, unless they have told that."""
        known, names = self._given(documents, tokens)
        examples = [
            None if has_references(document) else self.layout.references(document, own)
            for document, own in zip(documents, tokens, strict=True)
        ]
        if not any(example and len(example.reference) for example in examples):
            return known, names
        length = batch.windows.length
        given = self.layout.reference_batch(examples, names, length)
        scores = self.layers.references(read, self.layout.mention_batch(names, length), given)
        parts = np.split(scores, np.cumsum(given.pair_counts)[:-1])
        threshold = self.settings.reference_threshold
        found = [
            reference_decisions.with_references(document, example, own, threshold)
            if example
            else document
            for document, example, own in zip(known, examples, parts, strict=True)
        ]
        return self._given(found, tokens)

    def _link_scores(
        self, examples: Sequence[MentionExample], read: Read, length: int
    ) -> list[Numbers]:
        """(mention pairs,) of each document"""
        batch = self.layout.mention_batch(examples, length)
        scores = self.layers.links(read, batch)
        return np.split(scores, np.cumsum(batch.pair_counts)[:-1])

    def _relations(
        self,
        documents: Sequence[Document],
        tokens: Sequence[Tokens],
        mentions: Sequence[MentionExample],
        read: Read,
    ) -> list[Document]:
        of_documents = zip(documents, tokens, mentions, strict=True)
        examples = [self.layout.known(*parts) for parts in of_documents]
        entities = [example.entities for example in examples]
        if not any(example.terms for example in entities):
            return list(documents)
        asked = relation_decisions.asked_classes(self, documents, entities)
        batch = self.layout.entity_batch(examples, asked)
        said = self.layers.margins(read, batch)
        reading = PairReading(
            said.margins, batch.entities.slot_sentence, said.rows, found_by("joint")
        )
        found = relation_decisions.decide(self, documents, entities, reading)
        return [
            document.replace(relations=tuple(self._stated(document, relations)))
            for document, relations in zip(documents, found, strict=True)
        ]

    def _stated(self, document: Document, relations: Iterable[Relation]) -> Iterator[Relation]:
        """With scores that also tell whether both entities are right; sensitive ones if sure."""
        for relation in relations:
            ends = [document.entities[end].score for end in (relation.head, relation.tail)]
            if None in ends:  # given entities have no score: they are certain
                yield relation
                continue
            together = math.prod(cast(list[float], [relation.score, *ends]))
            slope, offset = self.settings.score_slope, self.settings.score_offset
            score = raw_scores.scaled(together, slope, offset)
            if relation.type not in SENSITIVE or score >= self.settings.sensitive_score:
                yield replace(relation, score=score)


def reference_words_of(config: Mapping[str, Any]) -> ReferenceWords | None:
    """Which nominals a model resolves beside pronouns, by its config.json; None: nothing at all."""
    return ReferenceWords(config["nominals"]) if "nominals" in config else None


def bare(document: Document) -> Document:
    """The text and its sentences, which are found by rule where the document has none."""
    alone = document.without_mentions()
    return alone if alone.sentences else alone.replace(sentences=find_sentences(alone.text))


def _unrelated(document: Document) -> Document:
    return document.without_relations()


def numbered(labels: Iterable[str]) -> Mapping[str, int]:
    return {label: number for number, label in enumerate(labels)}


def _with_names(document: Document, mentions: Iterable[Mention]) -> Document:
    """Without the numbers of list items and the like, which the training texts do not have."""
    names = (
        mention
        for mention in mentions
        if not names_nothing(document.text, mention.start, mention.end)
    )
    return document.replace(mentions=tuple(names))


def _by_length(words: Sequence[WordExample], batch_tokens: int, most: float) -> Iterator[list[int]]:
    """Batches of documents of at most `most` tokens, and batches of longer ones."""
    for numbers in batches_by_length(words, batch_tokens):
        short = [number for number in numbers if words[number].tokens <= most]
        long = [number for number in numbers if words[number].tokens > most]
        yield from filter(None, (short, long))
