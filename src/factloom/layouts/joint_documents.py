"""Documents as joint extraction sees them: words, mentions and entity pairs over the same tokens.

What each looks like: word_documents.py, mention_documents.py, marked_documents.py, and
reference_documents.py for pronouns and nominals, where a model resolves them. Names alone are
compared with each other; the pronouns and nominals of an entity are mentions of it in its pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, cast

import numpy as np

from factloom.document import Document, Sentence
from factloom.encoders.tokens import Reader, Tokens
from factloom.layouts import (
    marked_documents,
    mention_documents,
    reference_documents,
    word_documents,
)
from factloom.layouts.marked_documents import MarkedExample
from factloom.layouts.mention_documents import MentionExample
from factloom.layouts.reference_documents import ReferenceExample
from factloom.layouts.word_documents import WordBatch, WordExample
from factloom.modules.class_groups import ClassGroup
from factloom.modules.devices import Array, Numbers, moved
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.reference_batch import ReferenceBatch
from factloom.text.references import ReferenceWords, has_references, with_named_entities
from factloom.text.tags import Scheme

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class EntityExample:
    """One document whose mentions and entities are known."""

    mentions: MentionExample
    entities: MarkedExample
    entity_mention: tuple[int, ...]  # (mentions of entities,) their place in `mentions`


@dataclass(frozen=True, slots=True)
class JointExample:
    """One document with everything that is to be learned."""

    words: WordExample
    names: MentionExample
    references: ReferenceExample | None  # where they are annotated, and are to be learned
    known: EntityExample

    @property
    def id(self) -> str:
        return self.words.id

    @property
    def tokens(self) -> int:
        return self.words.tokens

    @property
    def terms(self) -> int:
        return self.words.terms


@dataclass(frozen=True, slots=True)
class EntityBatch(Generic[Array]):
    """Several documents; the windows of `entities` ask for the attention of mention tokens."""

    mentions: MentionBatch[Array]
    entities: MarkedBatch[Array]
    entity_mention: Array  # (mentions of entities,) into all mentions of the batch

    def to(self, device: "torch.device | str") -> "EntityBatch":
        return moved(cast(EntityBatch, self), device)


@dataclass(frozen=True, slots=True)
class JointBatch(Generic[Array]):
    """Several documents with everything that is to be learned."""

    words: WordBatch[Array]
    names: MentionBatch[Array]
    references: ReferenceBatch[Array] | None  # where a model resolves them
    known: EntityBatch[Array]

    @property
    def weight(self) -> int:
        """What the sum of all losses is divided by."""
        return self.words.words

    @property
    def decided(self: "JointBatch") -> "torch.Tensor":
        """bool (pairs, relations) what is known of pairs of which other things are unknown"""
        return self.known.entities.decided

    def to(self, device: "torch.device | str") -> "JointBatch":
        return moved(cast(JointBatch, self), device)


@dataclass(frozen=True, slots=True)
class JointLayout:
    """How documents become arrays: the labels, and the encoder whose tokens they are made of."""

    encoder: Reader
    tags: Mapping[str, int]
    scheme: Scheme
    types: Mapping[str, int]
    relations: Mapping[str, int]
    reach: int  # of `NameTable.pairs`
    reference_words: ReferenceWords | None = None  # where a model resolves them

    def words(self, document: Document, tokens: Tokens) -> WordExample:
        return word_documents.make_example(document, tokens, self.tags, self.scheme)

    def mentions(self, document: Document, tokens: Tokens) -> MentionExample:
        return mention_documents.make_example(document, tokens, self.types, self.reach)

    def unpaired(self, document: Document, tokens: Tokens) -> MentionExample:
        return mention_documents.make_unpaired_example(document, tokens, self.types)

    def references(self, document: Document, tokens: Tokens) -> ReferenceExample | None:
        if self.reference_words is None:
            return None
        return reference_documents.make_example(document, tokens, self.reference_words)

    def known(self, document: Document, tokens: Tokens, mentions: MentionExample) -> EntityExample:
        """`mentions` are those of the document."""
        return EntityExample(
            mentions=mentions,
            entities=marked_documents.make_unmarked_example(document, tokens, self.relations),
            entity_mention=tuple(index for e in document.entities for index in e.mentions),
        )

    def example(self, document: Document, tokens: Tokens) -> JointExample:
        """The words are those that would be found in the bare text: the source's may differ."""
        sentences = tuple(Sentence(found.start, found.end) for found in document.sentences)
        return self.of_parts(document, document.replace(sentences=sentences), tokens)

    def of_parts(self, document: Document, read: Document, tokens: Tokens) -> JointExample:
        """The entities of a document, and the words of what is `read` of it."""
        names, references = document, None
        if self.reference_words is not None:
            document = with_named_entities(document)
            names, read = document.named(), read.named()  # tags are those of names
            if has_references(document):
                references = self.references(document, tokens)
        return JointExample(
            self.words(read, tokens),
            self.mentions(names, tokens),
            references,
            self.known(document, tokens, self.unpaired(document, tokens)),
        )

    def word_batch(self, examples: Sequence[WordExample]) -> WordBatch[Numbers]:
        return word_documents.make_batch(examples, self.encoder, whole_words=False)

    def mention_batch(
        self, examples: Sequence[MentionExample], length: int
    ) -> MentionBatch[Numbers]:
        """`length` slots a document."""
        before = len(self.encoder.special.before)
        return mention_documents.make_batch(examples, before, length)

    def reference_batch(
        self,
        examples: Sequence[ReferenceExample | None],
        mentions: Sequence[MentionExample],
        length: int,
    ) -> ReferenceBatch[Numbers]:
        """The names are `mentions` of the documents, which have `length` slots each."""
        counts = [len(own.type) for own in mentions]
        before = len(self.encoder.special.before)
        return reference_documents.make_batch(examples, counts, before, length)

    def entity_batch(
        self, examples: Sequence[EntityExample], asked: tuple[ClassGroup, ...] | None = None
    ) -> EntityBatch[Numbers]:
        """`asked` are the relations of the pairs that are; all where nothing is said."""
        entities = marked_documents.make_batch(
            [example.entities for example in examples],
            self.encoder,
            len(self.relations),
            rows=[example.mentions.rows for example in examples],
        )
        mentions = [example.mentions for example in examples]
        first = np.cumsum([0, *(len(own.type) for own in mentions)])  # mention of each document
        shifted = [
            np.add(example.entity_mention, start).astype(np.int64)
            for example, start in zip(examples, first, strict=False)
        ]
        return EntityBatch(
            mentions=self.mention_batch(mentions, entities.windows.length),
            entities=replace(entities, asked=asked),
            entity_mention=np.concatenate(shifted),
        )

    def batch(self, examples: Sequence[JointExample]) -> JointBatch[Numbers]:
        words = self.word_batch([example.words for example in examples])
        length = words.windows.length
        names = [example.names for example in examples]
        references = [example.references for example in examples]
        return JointBatch(
            words=words,
            names=self.mention_batch(names, length),
            references=self.reference_batch(references, names, length) if any(references) else None,
            known=self.entity_batch([example.known for example in examples]),
        )
