"""Mentions, entities, relations and evidence of a text, from one pass of one encoder.

Eberts, Ulges: An End-to-end Model for Entity-level Relation Extraction using Multi-instance
Learning (JEREX), EACL 2021, arXiv 2102.05980: all tasks learned together over one encoder. The
parts are those of the models that do one task each:

    states     H, of the bare text with word shapes (models/tagger.py), read once
    mentions   tags of the words by a random field (models/tagger.py)
    entities   scores of mention pairs, average linkage (models/coreference.py)
    relations  h_m = mean state of the mention's tokens, a_m = mean of their attention, then as
               in models/atlop.py: localized context, grouped bilinear, adaptive threshold
    references what pronouns and nominals stand for (modules/reference_scores.py), where documents
               that were learned from mark them: then they are pooled with the names of their entity
    loss       (v tags + w pairs of mentions + pairs of entities + z denied + u evidence
               + r references) / words, each summed over the batch; learned from the true mentions
               and entities

The attention of the mentions is made after they are found, from the queries and keys of the last
layer: no second pass. A relation's score is its probability between true entities times the
scores of the two entities found.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document
from factloom.encoders.encoder import Encoder, Reading
from factloom.layouts.batching import batches_by_length
from factloom.layouts.joint_documents import EntityBatch, JointBatch, JointExample, JointLayout
from factloom.layouts.word_documents import WordBatch
from factloom.layouts.word_shapes import shape_projection
from factloom.models import (
    PlainOutput,
    entity_decoding,
    raw_scores,
    reference_decisions,
    relation_decoding,
    sequence_decoding,
    storage,
)
from factloom.models.consistency import with_denied_causes
from factloom.models.joint_extraction import (
    JointExtraction,
    JointSettings,
    bare,
    numbered,
    reference_words_of,
)
from factloom.models.joint_layers import TensorLayers
from factloom.models.relation_decisions import Booleans
from factloom.models.relation_decoding import PairScores
from factloom.models.relation_settings import with_learned_rules
from factloom.models.tag_decisions import SCHEME, types_to_learn
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.decisions import Floats
from factloom.modules.entity_pairs import EntityPairs
from factloom.modules.evaluating import evaluating
from factloom.modules.grouped_bilinear import GroupedBilinear
from factloom.modules.link_scale import LinkScale
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.mention_pairs import MentionPairScorer, mention_states
from factloom.modules.numbers import numbers_of
from factloom.modules.pooling import segment_mean
from factloom.modules.reference_batch import ReferenceBatch
from factloom.modules.reference_scores import ReferenceScorer, ranking_loss, reference_states
from factloom.modules.thresholds import AdaptiveThreshold
from factloom.text.references import ReferenceWords, has_references, with_named_entities
from factloom.text.tags import Scheme


class Joint(nn.Module):
    """From bare text to a document with mentions, entities, relations and evidence.

    >>> model = Joint(Encoder.load("all-MiniLM-L6-v2"), ["LOC"], ["P17"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "end-to-end"
    scheme: ClassVar[Scheme] = SCHEME
    settings: JointSettings
    references: ReferenceScorer | None  # where it was taught what pronouns stand for
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
        reference_words: ReferenceWords | None = None,
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
            numbered(self.tags),
            self.scheme,
            numbered(self.types),
            numbered(self.relations),
            self.settings.reach,
        )
        self.references = None
        if reference_words is not None:
            self._resolve(reference_words)
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
        types = types_to_learn(documents)
        relations = relation_decoding.relations_to_learn(documents)
        settings = with_learned_rules(settings, documents)
        model = cls(encoder, types, relations, settings, relation_names=names)
        model.learn_parts(documents)
        return model

    def learn_parts(self, documents: Sequence[Document]) -> None:
        """Resolve pronouns and nominals, if it does not yet and the documents mark them."""
        marked = [document for document in documents if has_references(document)]
        if marked and self.references is None:
            self._resolve(ReferenceWords.learned(marked))

    def _resolve(self, words: ReferenceWords) -> None:
        sizes = self.encoder.width, len(self.types) + 1, self.settings.hidden
        scorer = ReferenceScorer(*sizes, self.settings.dropout)
        self.references = scorer.to(self.tag.weight)
        self.layout = dataclasses.replace(self.layout, reference_words=words)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[JointExample]:
        """Tokenise, and find words, mention pairs and entity pairs, once."""
        rules = self.settings.rules
        all_documents = [with_denied_causes(document, rules) for document in documents]
        tokenised = self.encoder.tokenize([document.text for document in all_documents])
        return [self.layout.example(*both) for both in zip(all_documents, tokenised, strict=True)]

    def collate(self, examples: Sequence[JointExample]) -> JointBatch:
        return self.layout.batch(examples).to("cpu")

    def forward(self, batch: JointBatch) -> PlainOutput:
        reading = self._read(batch.words)
        loss = self.settings.mention_weight * self._tag_loss(reading, batch.words)
        states = mention_states(reading.states, batch.names)
        links = self.links(states, batch.names)  # (mention pairs,)
        same = batch.names.same.to(links.dtype)
        link_loss = F.binary_cross_entropy_with_logits(links, same, reduction="sum")
        loss = loss + self.settings.coreference_weight * link_loss
        if self.references is not None and batch.references is not None:
            ranked = self.reference_scores(reading.states, batch.names, batch.references)
            reference_loss = ranking_loss(ranked, batch.references).sum()
            loss = loss + self.settings.reference_weight * reference_loss
        states = mention_states(reading.states, batch.known.mentions)
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

    def reference_scores(
        self, states: Tensor, names: MentionBatch, batch: ReferenceBatch
    ) -> Tensor:
        """(pairs of references and names,), of a model that resolves references"""
        scorer = cast(ReferenceScorer, self.references)
        of_references = reference_states(states, batch)
        return cast(Tensor, scorer(of_references, mention_states(states, names), names.type, batch))

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
        asked = batch.entities.asked, self.rule.extra_classes
        return PairScores(self.classifier.asked(pairs.head, pairs.tail, *asked), pairs.attention)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with mentions, entities and relations found in their text.

        Documents without sentences are split by rule. Documents of like length are put together,
        up to `batch_tokens` padded tokens; long ones are read in sections and related in stretches.
        """
        return self.extraction().predict(documents, batch_tokens)

    def relate(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with the relations between the entities that they have already."""
        return self.extraction().relate(documents, batch_tokens)

    def extraction(self) -> JointExtraction:
        """Its layers with what is around them (models/joint_extraction.py)."""
        return JointExtraction(
            TensorLayers(self),
            self.layout,
            self.settings,
            self.tags,
            self.scheme,
            self.relations,
            self.field.scores(),
            self.link_scale.linking,
            float(self.mention_temperature),
            float(self.temperature),
        )

    def provenance_of(self, _: PairScores, held: Tensor) -> list[dict[str, Any]]:
        return [{"model": "joint"} for _ in range(int(held.sum()))]

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set temperatures and the thresholds of links by documents that were not trained on."""
        references = self._fit_references(documents)
        documents = self._resolved(documents)
        tokenised = self.encoder.tokenize([document.text for document in documents])
        examples = [
            self.layout.of_parts(document, bare(document), tokens)
            for document, tokens in zip(documents, tokenised, strict=True)
        ]
        links, margins, labels = self._true_entities(documents, examples)
        of_mentions = [example.names for example in examples]
        if self.references is not None:
            documents = [document.named() for document in documents]
        linking, fitted = entity_decoding.fit_links(documents, of_mentions, links)
        self.link_scale.keep(linking)
        gold = sum(len(document.relations) for document in documents)
        relations = relation_decoding.fit_to_margins(self, margins, labels, gold)
        # the last: links decide the entities, and these the types of mentions
        self.mention_temperature.fill_(1.0)
        named = [document.named() for document in self.predict(documents)]
        mentions = sequence_decoding.calibrate_mentions(documents, named)
        self.mention_temperature.fill_(mentions["temperature"])
        raw = {f"raw_{name}": value for name, value in self.fit_raw_scores(documents).items()}
        tags = {f"mention_{name}": value for name, value in mentions.items()}
        return tags | fitted | references | relations | raw

    def _fit_references(self, documents: Sequence[Document]) -> dict[str, float]:
        """Of the documents that mark any; else the threshold stays."""
        marked = [with_named_entities(one) for one in documents if has_references(one)]
        if self.references is None or not marked:
            return {}
        self.settings = self.settings.model_copy(update={"reference_threshold": 0.0})
        found = self._resolved(marked)
        threshold, fitted = reference_decisions.fit_threshold(marked, found)
        self.settings = self.settings.model_copy(update={"reference_threshold": threshold})
        return fitted

    def _resolved(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with what is found to stand for their entities, in place of their own."""
        if self.references is None:
            return list(documents)
        named = [document.named() for document in documents]
        found = self.extraction().refer(named, 4096)
        return [
            document.replace(mentions=resolved.mentions, entities=resolved.entities)
            for document, resolved in zip(named, found, strict=True)
        ]

    def fit_raw_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Let the scores of what is found in raw text tell how much of it is right."""
        asked = {"score_slope": 1.0, "score_offset": 0.0, "sensitive_score": 0.0}
        chosen = self.settings
        self.settings = chosen.model_copy(update=asked)
        found = self.predict(documents)
        slope, offset = raw_scores.fit(documents, found)
        self.settings = chosen.model_copy(update={"score_slope": slope, "score_offset": offset})
        decisions = sum(len(document.relations) for document in found)
        return {"slope": slope, "offset": offset, "decisions": float(decisions)}

    @torch.inference_mode()
    def _true_entities(
        self, documents: Sequence[Document], examples: Sequence[JointExample]
    ) -> tuple[list[Floats], Floats, Booleans]:
        """Scores of links, and margins and labels (pairs, relations), between known entities."""
        links: list[Floats] = [np.zeros(0)] * len(documents)
        none = np.zeros((0, len(self.relations)))
        margins, labels = [none], [none.astype(np.bool_)]
        with evaluating(self):
            for numbers in batches_by_length(examples, 4096):
                chosen = [examples[number] for number in numbers]
                batch = self.collate(chosen).to(self.temperature.device)
                reading = self._read(batch.words)
                states = mention_states(reading.states, batch.names)
                scores = numbers_of(self.links(states, batch.names))
                own = np.split(scores, np.cumsum(batch.names.pair_counts)[:-1])
                for number, part in zip(numbers, own, strict=True):
                    links[number] = part
                states = mention_states(reading.states, batch.known.mentions)
                logits = self._score(reading, states, batch.known).logits
                of_batch = [documents[number] for number in numbers]
                entities = [example.known.entities for example in chosen]
                pairs = batch.known.entities
                margins.append(
                    relation_decoding.known_margins(self, logits, pairs, of_batch, entities)
                )
                labels.append(numbers_of(pairs.labels))
        return links, np.concatenate(margins), np.concatenate(labels)

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        words = self.layout.reference_words
        return {
            "types": self.types,
            "relations": self.relations,
            "relation_names": self.relation_names,
            "settings": self.settings.model_dump(),
            **({} if words is None else {"nominals": words.nominals}),
        }

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        labels = config["types"], config["relations"]
        settings, names = JointSettings(**config["settings"]), config["relation_names"]
        words = reference_words_of(config)
        return cls(encoder, *labels, settings, relation_names=names, reference_words=words)

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = Joint, JointSettings
