"""Mentions, entities, relations and evidence of a text, from one pass of one encoder.

Eberts, Ulges: An End-to-end Model for Entity-level Relation Extraction using Multi-instance
Learning (JEREX), EACL 2021, arXiv 2102.05980: all tasks learned together over one encoder. The
parts are those of the models that do one task each:

    states     H, of the bare text with word shapes (models/tagger.py), read once
    mentions   tags of the words by a random field (models/tagger.py)
    entities   scores of mention pairs, average linkage (models/coreference.py)
    relations  h_m = mean state of the mention's tokens, a_m = mean of their attention, then as
               in models/atlop.py: localized context, grouped bilinear, adaptive threshold
    loss       (v tags + w pairs of mentions + pairs of entities + evidence) / words,
               each summed over the batch; learned from the true mentions and entities

The attention of the mentions is made after they are found, from the queries and keys of the last
layer: no second pass. A relation's score is its probability between true entities times the
scores of the two entities found.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import torch
from pydantic import Field, NonNegativeFloat, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document, Entity, Mention, Relation
from factloom.encoders.encoder import Encoder, Reading, Tokens
from factloom.layouts.batching import batches_by_length
from factloom.layouts.joint_documents import EntityBatch, JointBatch, JointExample, JointLayout
from factloom.layouts.mention_documents import MentionExample
from factloom.layouts.sections import read_in_sections
from factloom.layouts.stretches import Relate
from factloom.layouts.word_documents import WordBatch, WordExample, shape_projection
from factloom.models import (
    PlainOutput,
    entity_decoding,
    relation_decoding,
    sequence_decoding,
    storage,
)
from factloom.models.entity_decoding import LinkScale
from factloom.models.relation_decoding import PairScores
from factloom.models.relation_settings import RelationSettings, with_learned_rules
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.entity_pairs import EntityPairs
from factloom.modules.evaluating import evaluating
from factloom.modules.grouped_bilinear import GroupedBilinear
from factloom.modules.mention_pairs import MentionPairScorer, mention_states
from factloom.modules.pooling import segment_mean
from factloom.modules.thresholds import AdaptiveThreshold
from factloom.text.list_items import names_nothing
from factloom.text.sentences import find_sentences
from factloom.text.tags import Scheme

# From a batch of documents, however it was read, to documents with entities and their mentions.
Find = Callable[..., tuple[list[Document], list[MentionExample]]]


class JointSettings(RelationSettings):
    """Everything about the model that a user can choose; kept in its config.json."""

    block_size: PositiveInt = Field(64, description="Size of a group of the bilinear classifier.")
    hidden: PositiveInt = Field(256, description="Size of the scorer of mention pairs.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of words and mention pairs.")
    mention_weight: NonNegativeFloat = Field(1.0, description="v, weight of the tags' loss.")
    coreference_weight: NonNegativeFloat = Field(
        1.0, description="w, weight of the loss of mention pairs."
    )
    reach: PositiveInt = Field(
        400, description="Mentions further apart are compared by their names first."
    )


class Joint(nn.Module):
    """From bare text to a document with mentions, entities, relations and evidence.

    >>> model = Joint(Encoder.load("all-MiniLM-L6-v2"), ["LOC"], ["P17"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "end-to-end"
    scheme: ClassVar[Scheme] = sequence_decoding.SCHEME
    settings: JointSettings
    temperature: Tensor  # of the relations' scores; fitted on dev after training
    mention_temperature: Tensor

    def __init__(
        self,
        encoder: Encoder,
        types: Sequence[str],
        relations: Sequence[str],
        settings: JointSettings | None = None,
        *,
        relation_names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or JointSettings()
        width = self.settings.width or encoder.width
        self.types = tuple(types)
        self.relations = tuple(relations)
        self.relation_names = dict(relation_names or {})
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.shape = shape_projection(encoder)
        self.dropout = nn.Dropout(self.settings.dropout)
        self.tags, self.field = sequence_decoding.tags_and_field(self.types)
        self.tag = nn.Linear(encoder.width, len(self.tags))
        self.links = MentionPairScorer(
            encoder.width, len(self.types) + 1, self.settings.hidden, self.settings.dropout
        )
        self.link_scale = LinkScale()
        self.pairs = EntityPairs(encoder.width, width, pair_elements=self.settings.pair_elements)
        self.rule = AdaptiveThreshold()
        classes = len(self.relations) + self.rule.extra_classes
        self.classifier = GroupedBilinear(width, self.settings.block_size, classes)
        self.layout = JointLayout(
            encoder,
            _numbered(self.tags),
            self.scheme,
            _numbered(self.types),
            _numbered(self.relations),
            self.settings.reach,
        )
        self.register_buffer("temperature", torch.ones(()))
        self.register_buffer("mention_temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: JointSettings,
        *,
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the types and relations that the documents have."""
        require_whole_annotation(documents, "joint")
        types = sequence_decoding.types_to_learn(documents)
        relations = relation_decoding.relations_to_learn(documents)
        settings = with_learned_rules(settings, documents)
        return cls(encoder, types, relations, settings, relation_names=names)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[JointExample]:
        """Tokenise, and find words, mention pairs and entity pairs, once."""
        all_documents = list(documents)
        tokenised = self.encoder.tokenize([document.text for document in all_documents])
        return [self.layout.example(*both) for both in zip(all_documents, tokenised, strict=True)]

    def collate(self, examples: Sequence[JointExample]) -> JointBatch:
        return self.layout.batch(examples)

    def forward(self, batch: JointBatch) -> PlainOutput:
        reading = self._read(batch.words)
        loss = self.settings.mention_weight * self._tag_loss(reading, batch.words)
        states = mention_states(reading.states, batch.known.mentions)
        links = self.links(states, batch.known.mentions)  # (mention pairs,)
        same = batch.known.mentions.same.to(links.dtype)
        link_loss = F.binary_cross_entropy_with_logits(links, same, reduction="sum")
        loss = loss + self.settings.coreference_weight * link_loss
        scores = self._score(reading, states, batch.known)
        loss = loss + relation_decoding.summed_loss(self, scores, batch.known.entities)
        return PlainOutput(scores.logits, loss / batch.weight)

    def _read(self, batch: WordBatch) -> Reading:
        shapes = self.shape(batch.shapes.to(self.shape.weight.dtype))
        return self.encoder.read(batch.windows, shapes)

    def _emissions(self, reading: Reading, batch: WordBatch) -> Tensor:
        """(sentences, length, tags)"""
        words = reading.states.flatten(0, 1).index_select(0, batch.piece_slot)  # (words, width)
        return batch.laid_out(self.tag(self.dropout(words)))

    def _tag_loss(self, reading: Reading, batch: WordBatch) -> Tensor:
        emissions = self._emissions(reading, batch)
        return -self.field.log_likelihood(emissions, batch.tags, batch.lengths).sum()

    def _score(self, reading: Reading, states: Tensor, batch: EntityBatch) -> PairScores:
        """The entity pairs; `states` (mentions, width) are those of all mentions."""
        rows = reading.attention(batch.entities.windows)  # (mention tokens, heads, length)
        mentions = batch.mentions
        attention = segment_mean(rows, mentions.token_mention, mentions.mentions)
        if not len(batch.entities.pair_head):
            return PairScores(states.new_zeros(0, len(self.relations) + 1), attention[:0])
        pairs = self.pairs(
            states.index_select(0, batch.entity_mention),
            attention.index_select(0, batch.entity_mention),
            reading.states,
            batch.entities,
        )
        return PairScores(self.classifier(pairs.head, pairs.tail), pairs.attention)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with mentions, entities and relations found in their text.

        Documents without sentences are split by rule. Documents of like length are put together,
        up to `batch_tokens` padded tokens; long ones are read in sections and related in stretches.
        """
        most = self.settings.stretch
        read = partial(self._read_documents, batch_tokens, self._find, most)
        bare = [_bare(document) for document in documents]
        found = read_in_sections(bare, read, entity_decoding.joined_by_name)
        relate = self._relate(batch_tokens)
        return [
            relation_decoding.in_stretches(self, document, relate)
            if relation_decoding.is_long(self, document)
            else document
            for document in found
        ]

    def relate(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with the relations between the entities that they have already."""
        relate = self._relate(batch_tokens)
        return relation_decoding.related(self, documents, relate, relate)

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
        with torch.inference_mode(), evaluating(self):
            for numbers in _by_length(words, batch_tokens, most):
                tokens = [tokenised[number] for number in numbers]
                examples = [words[number] for number in numbers]
                batch = self.layout.word_batch(examples).to(self.temperature.device)
                reading = self._read(batch)
                related, mentions = find(
                    [found[n] for n in numbers], tokens, examples, batch, reading
                )
                if examples[0].tokens <= most:
                    related = self._relations(related, tokens, mentions, reading)
                for number, document in zip(numbers, related, strict=True):
                    found[number] = document
        return found

    def _find(
        self,
        documents: Sequence[Document],
        tokens: Sequence[Tokens],
        examples: Sequence[WordExample],
        batch: WordBatch,
        reading: Reading,
    ) -> tuple[list[Document], list[MentionExample]]:
        """The documents with mentions and entities."""
        emissions = self._emissions(reading, batch)
        mentions = sequence_decoding.decode(
            self, examples, emissions, batch.lengths, float(self.mention_temperature)
        )
        # words of which the tokenizer drops every sign are nothing that the encoder has seen
        named = [
            _with_names(document, own if len(seen.ids) else ())
            for document, own, seen in zip(documents, mentions, tokens, strict=True)
        ]
        _, of_mentions = self._given(named, tokens)
        scores = self._link_scores(of_mentions, reading)
        clustered = [
            entity_decoding.with_entities(document, example, own, self.link_scale)
            for document, example, own in zip(named, of_mentions, scores, strict=True)
        ]
        return clustered, of_mentions

    def _given(
        self, documents: Sequence[Document], tokens: Sequence[Tokens], *_: Any
    ) -> tuple[list[Document], list[MentionExample]]:
        """The documents as they are, whose mentions (and perhaps entities) are known."""
        pairs = zip(documents, tokens, strict=True)
        return list(documents), [self.layout.mentions(*pair) for pair in pairs]

    def _link_scores(self, examples: Sequence[MentionExample], reading: Reading) -> list[Tensor]:
        """(mention pairs,) of each document"""
        batch = self.layout.mention_batch(examples, reading.states.shape[1])
        batch = batch.to(reading.states.device)
        scores = self.links(mention_states(reading.states, batch), batch).cpu()
        return list(scores.split(list(batch.pair_counts)))

    def _relations(
        self,
        documents: Sequence[Document],
        tokens: Sequence[Tokens],
        mentions: Sequence[MentionExample],
        reading: Reading,
    ) -> list[Document]:
        of_documents = zip(documents, tokens, mentions, strict=True)
        examples = [self.layout.known(*parts) for parts in of_documents]
        entities = [example.entities for example in examples]
        if not any(example.terms for example in entities):
            return list(documents)
        batch = self.layout.entity_batch(examples).to(reading.states.device)
        scores = self._score(reading, mention_states(reading.states, batch.mentions), batch)
        found = relation_decoding.decode(self, documents, entities, batch.entities, scores)
        return [
            document.replace(relations=tuple(_with_entity_scores(r, document) for r in relations))
            for document, relations in zip(documents, found, strict=True)
        ]

    def provenance_of(self, _: PairScores, held: Tensor) -> list[dict[str, Any]]:
        return [{"model": "joint"} for _ in range(int(held.sum()))]

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set temperatures and the threshold of links by documents that were not trained on."""
        tokenised = self.encoder.tokenize([document.text for document in documents])
        examples = [
            self.layout.of_parts(document, _bare(document), tokens)
            for document, tokens in zip(documents, tokenised, strict=True)
        ]
        links, margins, labels = self._true_entities(documents, examples)
        of_mentions = [example.known.mentions for example in examples]
        fitted = entity_decoding.fit_links(documents, of_mentions, links, self.link_scale)
        gold = sum(len(document.relations) for document in documents)
        relations = relation_decoding.fit_to_margins(self, margins, labels, gold)
        # the last: links decide the entities, and these the types of mentions
        self.mention_temperature.fill_(1.0)
        mentions = sequence_decoding.calibrate_mentions(documents, self.predict(documents))
        self.mention_temperature.fill_(mentions["temperature"])
        return {f"mention_{name}": value for name, value in mentions.items()} | fitted | relations

    @torch.inference_mode()
    def _true_entities(
        self, documents: Sequence[Document], examples: Sequence[JointExample]
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """Scores of links, and margins and labels (pairs, relations), between known entities."""
        links = [torch.zeros(0)] * len(documents)
        none = torch.zeros(0, len(self.relations))
        margins, labels = [none], [none.bool()]
        with evaluating(self):
            for numbers in batches_by_length(examples, 4096):
                chosen = [examples[number] for number in numbers]
                batch = self.collate(chosen).to(self.temperature.device)
                reading = self._read(batch.words)
                own = self._link_scores([example.known.mentions for example in chosen], reading)
                for number, scores in zip(numbers, own, strict=True):
                    links[number] = scores
                states = mention_states(reading.states, batch.known.mentions)
                logits = self._score(reading, states, batch.known).logits
                of_batch = [documents[number] for number in numbers]
                entities = [example.known.entities for example in chosen]
                of_pairs = relation_decoding.margins_of(self, logits, of_batch, entities)
                unknown = batch.known.entities.unknown
                margins.append(of_pairs.masked_fill(unknown, -torch.inf).cpu())
                labels.append(batch.known.entities.labels.cpu())
        return links, torch.cat(margins), torch.cat(labels)

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {
            "types": self.types,
            "relations": self.relations,
            "relation_names": self.relation_names,
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        labels = config["types"], config["relations"]
        settings, names = JointSettings(**config["settings"]), config["relation_names"]
        return cls(encoder, *labels, settings, relation_names=names)

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def _bare(document: Document) -> Document:
    """The text and its sentences, which are found by rule where the document has none."""
    bare = document.without_mentions()
    return bare if bare.sentences else bare.replace(sentences=find_sentences(bare.text))


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


def _numbered(labels: Iterable[str]) -> dict[str, int]:
    return {label: number for number, label in enumerate(labels)}


def _with_entity_scores(relation: Relation, document: Document) -> Relation:
    """The probability that the relation holds and that both entities are right."""
    head, tail = (_sure(document.entities[end]) for end in (relation.head, relation.tail))
    return replace(relation, score=cast(float, relation.score) * head * tail)


def _sure(entity: Entity) -> float:
    """Given entities have no score: they are certain."""
    return 1.0 if entity.score is None else entity.score


MODEL, SETTINGS = Joint, JointSettings
