"""Inverse cloze task: a retriever that learns from plain text which passage a sentence is from.

Lee, Chang, Toutanova: Latent Retrieval for Weakly Supervised Open Domain Question Answering, ACL
2019, arXiv 1906.00300. A sentence x of a passage z stands for a question:

    P(z | x) = exp f(x, z) / sum over passages z' of the batch of exp f(x, z')
    loss     = -log P(z | x), a mean over the sentences

f: dual_encoder.py. The sentence is taken out of its passage, but stays there in a tenth of the
draws, so that the same words are worth something, too. It is the warm start of REALM (Guu et al.,
2020): a retriever that finds nothing useful would never learn that something useful can be found.

Negatives are the other passages of the batch, so that, unlike elsewhere, how a step is cut into
batches changes what is learned.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import nn

from factloom.answers import finding
from factloom.answers.dual_encoder import DualEncoder, Pooling
from factloom.answers.open_corpus import OpenCorpus
from factloom.answers.passages import headed, passages_of, title_of
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.tokens import Tokens
from factloom.encoders.windows import TokenIds
from factloom.models import PlainOutput, storage
from factloom.modules.devices import moved
from factloom.modules.windows import WindowBatch
from factloom.text.sentences import find_sentences


class InverseClozeSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: list[str] = Field(
        min_length=1, description="Files or stores whose passages are found for questions."
    )
    passage_words: PositiveInt = Field(100, description="Most words of a passage.")
    vector_width: PositiveInt = Field(128, description="Numbers of a vector.")
    pooling: Pooling = Field(
        "first", description="What a text's vector is made of: the first state, or their mean."
    )
    kept: float = Field(0.1, ge=0, le=1, description="How often a sentence stays in its passage.")
    found: PositiveInt = Field(20, description="Passages that are found for a question.")


@dataclass(frozen=True, slots=True)
class Cloze:
    """A passage behind its title, and its sentences."""

    id: str  # of the document
    token_ids: TokenIds
    sentences: NDArray[np.int64]  # (sentences, 2) first token, and that behind the last

    @property
    def tokens(self) -> int:
        return len(self.token_ids)

    @property
    def terms(self) -> int:
        return int(len(self.sentences) > 1)


@dataclass(frozen=True, slots=True)
class ClozeBatch:
    """Sentences, and in the same order the passages that they are from."""

    sentences: WindowBatch
    passages: WindowBatch
    weight: int

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class InverseCloze(nn.Module):
    """A retriever; of questions it tells the passages that it finds."""

    task: ClassVar[str] = "retrieval"

    def __init__(self, encoder: Encoder, settings: InverseClozeSettings) -> None:
        super().__init__()
        self.settings = settings
        self.provenance: dict[str, Any] = {}
        self.retriever = DualEncoder(encoder, settings.vector_width, settings.pooling)
        self.corpus = OpenCorpus(settings.corpus, settings.passage_words)

    @property
    def encoder(self) -> Encoder:
        return self.retriever.questions.encoder

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],  # noqa: ARG003 - there are no labels
        settings: InverseClozeSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        return cls(encoder, settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[Cloze]:
        """The passages of documents; those of one sentence have nothing that can be taken out."""
        texts, ids = [], []
        for document in documents:
            title = title_of(document)
            for passage in passages_of(document, self.settings.passage_words):
                texts.append(headed(title, passage.text))
                ids.append((document.id, len(texts[-1]) - len(passage.text)))
        tokens = self.encoder.tokenize(texts)
        return [
            Cloze(document, found.ids, sentence_tokens(text, found, start))
            for (document, start), text, found in zip(ids, texts, tokens, strict=True)
        ]

    def collate(self, examples: Sequence[Cloze]) -> ClozeBatch:
        """One sentence of each passage: drawn anew in training, else that in the middle."""
        drawn = [self._drawn(example) for example in examples if example.terms]
        sentences, passages = zip(*drawn, strict=True)
        batch = self.encoder.batch
        return ClozeBatch(batch(sentences), batch(passages), len(drawn))

    def _drawn(self, example: Cloze) -> tuple[TokenIds, TokenIds]:
        count, kept = len(example.sentences), False
        number = count // 2
        if self.training:
            number = int(torch.randint(count, ()))
            kept = bool(torch.rand(()) < self.settings.kept)
        first, end = example.sentences[number]
        ids = example.token_ids
        return ids[first:end], ids if kept else np.delete(ids, slice(first, end))

    def forward(self, batch: ClozeBatch) -> PlainOutput:
        queries = self.retriever.questions(batch.sentences)  # (texts, width)
        passages = self.retriever.passages(batch.passages)
        logits = queries @ passages.T  # (sentences, passages)
        right = torch.arange(len(logits), device=logits.device)
        return PlainOutput(logits, nn.functional.cross_entropy(logits, right))

    # --- prediction ----------------------------------------------------------------------------

    predict, fit_scores = finding.predict, finding.fit_scores

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, InverseClozeSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def sentence_tokens(text: str, tokens: Tokens, start: int) -> NDArray[np.int64]:
    """(sentences, 2) tokens of the sentences behind character `start`; none is empty."""
    sentences = find_sentences(text[start:])
    edges = [start + sentence.start for sentence in sentences] + [len(text)]
    places = np.searchsorted(tokens.offsets[:, 0], edges)
    spans = [span for span in pairwise(places.tolist()) if span[0] < span[1]]
    return np.asarray(spans, np.int64).reshape(-1, 2)


MODEL, SETTINGS = InverseCloze, InverseClozeSettings
