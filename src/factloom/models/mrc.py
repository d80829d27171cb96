"""MRC: names found by reading the text with a question for every type.

Li, Feng, Meng, Han, Wu, Li: A Unified MRC Framework for Named Entity Recognition, ACL 2020,
arXiv 1910.11476.

    input     [CLS] question [SEP] text [SEP], once a type; word embeddings of the encoder
              + W shape(token), W = 0 at first (text/shapes.py)
    start     word i begins an answer:  sigmoid(w_s E_i + b_s), E_i the state of its first token
    end       word j ends an answer:    sigmoid(w_e E_j + b_e), E_j the state of its last token
    span      i and j belong together:  sigmoid(v GELU(W [E_i; E_j] + b) + c)
    decision  every span whose start, end and span are all above their thresholds
    loss      alpha start + beta end + gamma span, binary cross-entropies

Every type and every pair of edges is decided by itself, so nested and overlapping names come out,
and one name may have several types. The span score is made only for pairs of likely starts and
likely ends; in training also for the gold ones and for a few drawn beside them.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt
from torch import Tensor, nn

from factloom.document import Document, Mention
from factloom.encoders.encoder import Encoder
from factloom.errors import Place, RecipeError
from factloom.layouts.asked_passages import Asked, AskedBatch, Passage, make_batch, make_passages
from factloom.layouts.batching import batches_by_length
from factloom.layouts.sections import read_in_sections
from factloom.layouts.word_shapes import embedded_shapes, shape_projection
from factloom.models import storage
from factloom.models.tag_decisions import types_to_learn
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.calibration import calibrate_decisions, scores_from_margins
from factloom.modules.evaluating import evaluating
from factloom.modules.span_scores import SpanScores, candidate_spans
from factloom.text.known_words import judged

_LABEL_PARTS = re.compile(r"[_\-./\s]+|(?<=[a-z])(?=[A-Z])")  # cell_line, GeneOrProtein


@dataclass(frozen=True, slots=True)
class MrcOutput:
    """The loss is the mean over all words and questions of the batch."""

    logits: Tensor  # (words, 2) of starts and ends
    spans: Tensor  # (spans, 2) first and last word
    span_logits: Tensor  # (spans,)
    loss: Tensor


@dataclass(frozen=True, slots=True)
class _Answer:
    """A span that the model takes for a name."""

    document: int
    start: int  # characters of the document
    end: int
    type: str
    logit: float  # of the span


class MrcSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: dict[str, str] = Field(
        {}, description="The question for each type; made from the type's name where none is given."
    )
    shapes: bool = Field(
        True, description="Case, digits and signs as further input: most encoders here lose case."
    )
    width: PositiveInt | None = Field(
        None, description="Size of the span score's hidden layer; the encoder's by default."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout in the span score.")
    start_weight: NonNegativeFloat = Field(1.0, description="alpha, weight of the starts' loss.")
    end_weight: NonNegativeFloat = Field(1.0, description="beta, weight of the ends' loss.")
    span_weight: NonNegativeFloat = Field(
        1.0,
        description="gamma, weight of the spans' loss. All three are sums over the batch, divided "
        "by its words and questions, so that a name counts alike in each.",
    )
    start_threshold: float = Field(0.5, gt=0, lt=1, description="Least probability of a start.")
    end_threshold: float = Field(0.5, gt=0, lt=1, description="Least probability of an end.")
    span_threshold: float = Field(0.5, gt=0, lt=1, description="Least probability of a span.")
    longest_span: PositiveInt | None = Field(
        None, description="Most words of a name; as in the training documents if absent."
    )
    sampled_spans: NonNegativeInt = Field(
        1, description="Spans beside each gold one, with one edge in common, to learn from."
    )
    negative_questions: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Part of the questions without an answer that training asks of a passage, "
        "drawn anew every time. Those asked stand for all: the loss stays the same on average.",
    )
    passage_tokens: NonNegativeInt = Field(
        0,
        description="Sentences in a row are read together while they have at most so many "
        "tokens; 0 reads each by itself.",
    )


class Mrc(nn.Module):
    """Names of a document, nested ones too, each with a score.

    >>> model = Mrc(Encoder.load("all-MiniLM-L6-v2"), ["PER", "LOC"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "mentions"
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder,
        types: Sequence[str],
        settings: MrcSettings | None = None,
        *,
        names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        settings = settings or MrcSettings()
        self.types = tuple(types)
        own = settings.questions
        questions = {name: own.get(name) or default_question(name, names or {}) for name in types}
        self.settings = settings.model_copy(update={"questions": questions})
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.questions = [encoder.question(questions[name]) for name in self.types]
        self.shape = shape_projection(encoder) if settings.shapes else None
        self.scores = SpanScores(encoder.width, settings.width or encoder.width, settings.dropout)
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: MrcSettings,
        *,
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the types of mentions that the documents have."""
        require_whole_annotation(documents, "mrc")
        types = types_to_learn(documents)
        strange = sorted(set(settings.questions) - set(types))
        if strange:
            place = Place(part="model.questions")
            raise RecipeError(
                "question-for-no-type", place, type=strange[0], known=", ".join(types)
            )
        model = cls(encoder, types, settings, names=names)
        if settings.longest_span is None:
            longest = max(_longest_answer(passage) for passage in model.prepare(documents))
            model.settings = model.settings.model_copy(update={"longest_span": longest})
        return model

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[Passage]:
        """Cut documents into passages and tokenise them, once."""
        return make_passages(
            documents, self.encoder, self.types, self.questions, self.settings.passage_tokens
        )

    def collate(self, examples: Sequence[Passage]) -> AskedBatch:
        """All questions of the passages in one batch; in training, what the settings draw."""
        asked = [
            row
            for number, passage in enumerate(examples)
            for row in (self._drawn(number, passage) if self.training else self._all(number))
        ]
        batch = make_batch(
            examples, asked, self.encoder, self.questions, self.settings.longest_span
        )
        return batch.with_others(self.settings.sampled_spans) if self.training else batch

    def _all(self, passage: int) -> list[Asked]:
        return [Asked(passage, question) for question in range(len(self.types))]

    def _drawn(self, number: int, passage: Passage) -> list[Asked]:
        """The questions that have an answer, and a part of those without."""
        answered = set(passage.answers[:, 2].tolist())
        silent = [question for question in range(len(self.types)) if question not in answered]
        count = max(1, round(self.settings.negative_questions * len(silent)))
        drawn = [silent[index] for index in torch.randperm(len(silent))[:count].tolist()]
        importance = dict.fromkeys(answered, 1.0)
        importance |= {question: len(silent) / count for question in drawn}
        return [Asked(number, *drawn_question) for drawn_question in sorted(importance.items())]

    def forward(self, batch: AskedBatch) -> MrcOutput:
        first, last = self._states(batch)
        logits = self.scores.edges(first, last)  # (words, 2)
        labels = torch.zeros_like(logits)  # (words, 2)
        labels[batch.answers[:, 0], 0] = 1
        labels[batch.answers[:, 1], 1] = 1
        spans, right = self._spans_to_learn(batch, self._likely(logits) | labels.bool())
        span_logits = self.scores(first, last, spans)  # (spans,)

        settings, importance = self.settings, batch.importance.to(logits.dtype)
        weights = logits.new_tensor([settings.start_weight, settings.end_weight])
        span_weights = settings.span_weight * importance.index_select(0, spans[:, 0])
        total = _loss(logits, labels, weights * importance[:, None])
        total = total + _loss(span_logits, right.to(logits.dtype), span_weights)
        return MrcOutput(logits, spans, span_logits, total / batch.weight)

    @property
    def rule(self) -> SpanScores:
        """What says how far two predictions are apart, for the plug-ins of the trainer."""
        return self.scores

    def _states(self, batch: AskedBatch) -> tuple[Tensor, Tensor]:
        """The states of each word's first and last token: (words, width) twice."""
        shapes = embedded_shapes(self.shape, batch.shapes)
        states = self.encoder.states(batch.windows, shapes).flatten(0, 1)
        # (questions x length, width)
        return states.index_select(0, batch.first), states.index_select(0, batch.last)

    def _likely(self, logits: Tensor) -> Tensor:
        """Which words are above the thresholds for starts and ends: bool (words, 2)."""
        thresholds = _logit(self.settings.start_threshold), _logit(self.settings.end_threshold)
        return logits.detach() > logits.new_tensor(thresholds)

    def _spans_to_learn(self, batch: AskedBatch, edges: Tensor) -> tuple[Tensor, Tensor]:
        """Pairs of `edges`, bool (words, 2), and those drawn: (spans, 2); which are right (spans,).

        A span has one number, so that one that was drawn and is a pair too counts once.
        """
        numbering = batch.limit.new_tensor([len(edges), 1])
        candidates = candidate_spans(edges, batch.limit)
        numbers = (torch.cat([candidates, batch.others]) @ numbering).unique()
        spans = torch.stack([numbers // len(edges), numbers % len(edges)], 1)
        return spans, torch.isin(numbers, batch.answers @ numbering)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with their mentions replaced by predicted ones.

        Passages of like length are put together, up to `batch_tokens` padded tokens.
        """
        # nothing that is known of the names may show in how the text is cut into words
        bare = (document.without_mentions() for document in documents)
        return read_in_sections(bare, partial(self._with_mentions, batch_tokens))

    def _with_mentions(self, batch_tokens: int, bare: Sequence[Document]) -> list[Document]:
        answers = self._answers(bare, batch_tokens)
        scores = scores_from_margins([answer.logit for answer in answers], float(self.temperature))
        of_documents: list[list[Mention]] = [[] for _ in bare]
        for answer, score in zip(answers, scores.tolist(), strict=True):
            mention = Mention(answer.start, answer.end, answer.type, score)
            of_documents[answer.document].append(mention)
        for mentions in of_documents:
            mentions.sort(key=lambda mention: (mention.start, -mention.end, mention.type))
        return [
            document.replace(mentions=tuple(mentions))
            for document, mentions in zip(bare, of_documents, strict=True)
        ]

    def _answers(self, documents: Sequence[Document], batch_tokens: int) -> list[_Answer]:
        passages = self.prepare(documents)
        with evaluating(self):
            return [
                answer
                for numbers in batches_by_length(passages, batch_tokens)
                for answer in self._answers_in([passages[number] for number in numbers])
            ]

    @torch.inference_mode()
    def _answers_in(self, passages: Sequence[Passage]) -> Iterator[_Answer]:
        """The answers of passages that are read together."""
        batch = self.collate(passages).to(self.temperature.device)
        first, last = self._states(batch)
        likely = self._likely(self.scores.edges(first, last))  # (words, 2)
        spans = candidate_spans(likely, batch.limit)
        logits = self.scores(first, last, spans)  # (spans,)
        held = logits > _logit(self.settings.span_threshold)
        before = np.cumsum([0, *batch.word_counts])  # words of the questions in front
        for (start, end), logit in zip(spans[held].tolist(), logits[held].tolist(), strict=True):
            row = int(np.searchsorted(before, start, side="right")) - 1
            asked = batch.asked[row]
            passage = passages[asked.passage]
            yield _Answer(
                document=passage.document,
                start=int(passage.words[start - before[row], 0]),
                end=int(passage.words[end - before[row], 1]),
                type=self.types[asked.question],
                logit=logit,
            )

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set the temperature by documents that were not trained on."""
        answers = self._answers([document.without_mentions() for document in documents], 4096)
        of_documents: list[list[_Answer]] = [[] for _ in documents]
        for answer in answers:
            of_documents[answer.document].append(answer)
        decisions = [
            decision
            for document, own in zip(documents, of_documents, strict=True)
            for decision in judged(document, own)
        ]
        fitted = calibrate_decisions(
            [answer.logit for answer, _ in decisions], [right for _, right in decisions]
        )
        self.temperature.fill_(fitted["temperature"])
        return fitted

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"types": self.types, "settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, config["types"], MrcSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def default_question(name: str, names: Mapping[str, str]) -> str:
    """A question made from a type: its name in words, or the parts of its label."""
    words = names.get(name) or " ".join(_LABEL_PARTS.split(name)).strip()
    return f"Find all mentions of {words} in the text."


def _loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of the binary cross-entropies."""
    return F.binary_cross_entropy_with_logits(logits, labels, weights, reduction="sum")


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def _longest_answer(passage: Passage) -> int:
    """Words of the longest answer, 1 where there is none."""
    lengths = passage.answers[:, 1] - passage.answers[:, 0] + 1
    return int(lengths.max(initial=1))


MODEL, SETTINGS = Mrc, MrcSettings
