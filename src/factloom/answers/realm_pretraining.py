"""REALM: a retriever and a reader that learn together to fill in what is hidden of plain text.

Guu, Lee, Tung, Pasupat, Chang: REALM: Retrieval-Augmented Language Model Pre-Training, ICML 2020,
arXiv 2002.08909. x is a sentence with one of its mentions hidden (salient spans: names, dates), y
the mention's tokens, z a passage of the corpus:

    p(z|x)    = softmax of q . v_z over the best k passages and null       dual_encoder.py
    p(y|z,x)  = prod_j softmax(token head of h_j), h the joint encoder's states of
                [CLS] x [SEP] z [SEP] at the masks of x
    p(y|x)    = sum_z p(y|z,x) p(z|x); by token: prod_j sum_z p(y_j|z,x) p(z|x)
    loss      = -log p(y|x), a mean over the sentences

Passages of the sentence's own document are not allowed as z; null, a vector of its own and an empty
passage, stands for sentences that need none. Gradients reach both encoders of the retriever: a
passage that helps comes nearer to x. The best k are searched among vectors that were made some
steps ago, and scored anew; the plug-in `index_renewal` has them made by another process meanwhile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn

from factloom.answers import finding
from factloom.answers.background_vectors import BackgroundVectors
from factloom.answers.dual_encoder import DualEncoder, Pooling
from factloom.answers.open_corpus import OpenCorpus
from factloom.answers.starting import new_retriever, started_retriever
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.windows import TokenIds
from factloom.errors import ModelError
from factloom.models import PlainOutput, storage
from factloom.modules.devices import moved
from factloom.modules.passage_marginals import Marginal, log_marginal
from factloom.modules.windows import WindowBatch
from factloom.objectives.network import Network
from factloom.text.sentences import find_sentences

_NOTHING = np.zeros(0, np.int64)  # the tokens of null


class RealmPretrainingSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: list[str] = Field(
        min_length=1, description="Files or stores whose passages are retrieved."
    )
    retriever: str | None = Field(
        None, description="A trained retriever to begin with, such as one of inverse_cloze."
    )
    passage_words: PositiveInt = Field(100, description="Most words of a passage.")
    passages: PositiveInt = Field(8, description="Passages that are read for a sentence; k.")
    marginal: Marginal = Field(
        "whole",
        description="Whether one passage explains the whole mention, or each token its own.",
    )
    vector_width: PositiveInt = Field(128, description="Numbers of a vector; of a new retriever.")
    pooling: Pooling = Field(
        "first", description="What a text's vector is made of; of a new retriever."
    )
    found: PositiveInt = Field(20, description="Passages that are found for a question.")


@dataclass(frozen=True, slots=True)
class HiddenSpan:
    """A sentence, and the mention in it that has to be told."""

    id: str  # of the document
    token_ids: TokenIds  # of the sentence
    first: int  # of the mention's tokens
    last: int
    read: int  # tokens that are read for it, about

    @property
    def tokens(self) -> int:
        return self.read

    @property
    def terms(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class HiddenBatch:
    """Sentences with masks as queries, and what is hidden."""

    queries: WindowBatch
    shown: tuple[TokenIds, ...]  # the same without special tokens
    ids: tuple[str, ...]  # of their documents
    places: tuple[range, ...]  # of the masks
    wanted: Tensor  # (tokens of all mentions,)
    weight: int

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class RealmPretraining(nn.Module):
    """A retriever and a reader of masks; of questions it tells the passages that it finds."""

    task: ClassVar[str] = "retrieval"

    def __init__(
        self, encoder: Encoder, settings: RealmPretrainingSettings, retriever: DualEncoder
    ) -> None:
        super().__init__()
        self.settings = settings
        self.provenance: dict[str, Any] = {}
        self.network = Network(encoder)
        self.retriever = retriever
        self.null = nn.Parameter(torch.zeros(retriever.width))
        self.corpus = OpenCorpus(settings.corpus, settings.passage_words)

    @property
    def encoder(self) -> Encoder:
        return self.network.encoder

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: RealmPretrainingSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """A model that has learned nothing but what encoder and retriever know."""
        if not any(document.mentions for document in documents):
            raise ModelError("no-mentions-to-hide")
        return cls(encoder, *started_retriever(encoder, settings))

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[HiddenSpan]:
        """An example for every mention within a sentence that leaves room for a passage."""
        return [example for document in documents for example in self._examples(document)]

    def _examples(self, document: Document) -> Iterator[HiddenSpan]:
        sentences = document.sentences or find_sentences(document.text)
        texts = [document.text[sentence.start : sentence.end] for sentence in sentences]
        read = self.settings.passages * self.settings.passage_words
        for sentence, tokens in zip(sentences, self.encoder.tokenize(texts), strict=True):
            if len(tokens.ids) > self.encoder.window // 2:
                continue
            for mention in document.mentions:
                start, end = mention.start - sentence.start, mention.end - sentence.start
                first = int(np.searchsorted(tokens.offsets[:, 1], start, "right"))
                last = int(np.searchsorted(tokens.offsets[:, 0], end, "left")) - 1
                if start >= 0 and mention.end <= sentence.end and first <= last:
                    yield HiddenSpan(document.id, tokens.ids, first, last, read + len(tokens.ids))

    def collate(self, examples: Sequence[HiddenSpan]) -> HiddenBatch:
        shown, wanted = [], []
        for example in examples:
            hidden = example.token_ids.copy()
            wanted.append(hidden[example.first : example.last + 1].copy())
            hidden[example.first : example.last + 1] = self.encoder.mask_token
            shown.append(hidden)
        return HiddenBatch(
            queries=self.encoder.batch(shown),
            shown=tuple(shown),
            ids=tuple(example.id for example in examples),
            places=tuple(range(example.first, example.last + 1) for example in examples),
            wanted=torch.from_numpy(np.concatenate(wanted)),
            weight=len(examples),
        )

    def forward(self, batch: HiddenBatch) -> PlainOutput:
        rows, passages = self._retrieved(batch)  # (sentences, k), (sentences, 1 + k)
        tokens = self._told(batch, rows)  # (sentences, 1 + k, longest mention)
        likely = log_marginal(tokens, passages, self.settings.marginal)  # (sentences,)
        return PlainOutput(passages, -likely.mean())

    def _retrieved(self, batch: HiddenBatch) -> tuple[Tensor, Tensor]:
        """The best passages, and log p(z|x) of null and these."""
        queries = self.retriever.questions(batch.queries)  # (sentences, width)
        vectors = self.corpus.vectors(self.retriever.passages)
        own = [self.corpus.rows_of({name}) for name in batch.ids]
        found = self.corpus.search(queries, vectors, self.settings.passages, own)
        texts = self.corpus.tokens(self.retriever.passages)
        distinct, place = found.rows.unique(return_inverse=True)
        windows = self.retriever.passages.encoder.batch([texts[row] for row in distinct.tolist()])
        fresh = self.retriever.passages(windows.to(queries.device))[place]  # (sentences, k, width)
        scores = (queries[:, None] * fresh).sum(-1).masked_fill(~found.there, -torch.inf)
        null = (queries * self.null).sum(-1, keepdim=True)  # (sentences, 1)
        return found.rows, torch.cat([null, scores], 1).log_softmax(1)

    def _told(self, batch: HiddenBatch, rows: Tensor) -> Tensor:
        """(sentences, 1 + k, longest mention) log p(y_j | z, x), with null in front; 0 beyond."""
        texts = self.corpus.tokens(self.retriever.passages)
        documents, special, slots = [], [], []
        for shown, places, found in zip(batch.shown, batch.places, rows.tolist(), strict=True):
            around = self.encoder.in_front(shown, self.encoder.tokenizer.decode(shown.tolist()))
            for passage in (_NOTHING, *(texts[row] for row in found)):
                documents.append(passage)
                special.append(around)
                slots.append([len(self.encoder.special.before) + place for place in places])
        windows = self.encoder.batch(documents, special=special).to(self.null.device)
        states = self.encoder.states(windows)  # (sentences x (1 + k), length, width)
        pairs = [(text, slot) for text, of_text in enumerate(slots) for slot in of_text]
        text, slot = torch.tensor(pairs, device=states.device).unbind(1)  # (masks,) twice
        said = self.network.logits(states[text, slot]).log_softmax(-1)  # (masks, tokens)
        return self._laid_out(batch, said, 1 + rows.shape[1])

    def _laid_out(self, batch: HiddenBatch, said: Tensor, each: int) -> Tensor:
        """(masks, tokens) -> (sentences, each, longest mention) of what is hidden; 0 beyond."""
        longest = max(map(len, batch.places))
        found = said.new_zeros(len(batch.places), each, longest)
        begin = mask = 0
        for row, places in enumerate(batch.places):
            count = len(places)
            wanted = batch.wanted[begin : begin + count].expand(each, -1)  # (each, count)
            mine = said[mask : mask + each * count].view(each, count, -1)
            found[row, :, :count] = mine.gather(2, wanted[..., None])[..., 0]
            begin, mask = begin + count, mask + each * count
        return found

    def background_vectors(self, folder: Path) -> BackgroundVectors:
        """What makes the vectors of the corpus anew while this learns."""
        return BackgroundVectors(folder, self.corpus, self.retriever.passages)

    # --- prediction ----------------------------------------------------------------------------

    predict, fit_scores = finding.predict, finding.fit_scores

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        settings = RealmPretrainingSettings(**config["settings"])
        return cls(encoder, settings, new_retriever(encoder, settings))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = RealmPretraining, RealmPretrainingSettings
