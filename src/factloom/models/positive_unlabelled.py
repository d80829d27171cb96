"""Names from a dictionary alone: positive-unlabelled learning on the words of any encoder.

Peng, Xing, Zhang, Fu, Huang: Distantly Supervised Named Entity Recognition using
Positive-Unlabeled Learning, ACL 2019, arXiv 1906.01378.

    labels    words inside a mention of type t are labelled positives of t; all others are not
              negatives but unlabelled (mentions of `negative_type`: words that are no names)
    word      h_w = mean of the states of its tokens; the encoder gets the word's shape, too
    scores    g_t(w) = u_t relu(V dropout(h_w)) + b_t: a binary classifier a type
    loss      sum over types of one of the risks in modules/risks.py
    decision  the type with the highest score above 0; neighbours of one type are one mention
    score     sigmoid(lowest word score of the mention / temperature)

The paper trains a network a type; here the classifiers share one encoder and one hidden layer,
which is as many times faster as there are types. Mentions of one type that touch come out as one.
"""

import dataclasses
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np
import torch
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)
from torch import Tensor, nn

from factloom.document import Document, Mention
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts.batching import batches_by_length
from factloom.layouts.word_documents import (
    WordBatch,
    WordExample,
    make_batch,
    make_examples,
)
from factloom.layouts.word_shapes import embedded_shapes, hide_some, shape_projection
from factloom.models import storage
from factloom.models.label_shares import LabelShares, label_shares
from factloom.models.sure_mentions import sure_mentions
from factloom.models.tag_decisions import types_to_learn
from factloom.models.word_runs import doubtful_words, runs_of_words
from factloom.modules import risks
from factloom.modules.calibration import calibrate_decisions, scores_from_margins
from factloom.modules.class_prior import Integers
from factloom.modules.devices import moved
from factloom.modules.divergence import sigmoid_divergence
from factloom.modules.evaluating import evaluating
from factloom.modules.pooling import segment_mean
from factloom.text.known_words import judged
from factloom.text.tags import tag_names

Prior = Annotated[float, Field(gt=0, lt=1)]


class PositiveUnlabelledSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    risk: Literal["bnpu", "upu", "unlabelled_negative", "labelled_negatives", "bagging"] = Field(
        "bnpu", description="What is minimised; see modules/risks.py."
    )
    exponent: float | None = Field(
        None,
        ge=0,
        le=1,
        description="What a word costs: 0 cross-entropy, 1 absolute error, see `word_losses`. "
        "1 for bnpu and 0 for the other risks if absent.",
    )
    priors: dict[str, Prior] | Literal["estimated"] = Field(
        "estimated", description="The part of all words that each type has; see label_shares.py."
    )
    positive_weight: PositiveFloat | None = Field(
        None, description="bnpu: m, the weight of the labelled words; the prior if absent."
    )
    tolerance: NonNegativeFloat = Field(
        0.0, description="bnpu: how far below 0 the negative risk may fall (beta)."
    )
    step_back: NonNegativeFloat = Field(
        1.0, description="bnpu: how hard to step back where it falls below (gamma)."
    )
    other_types: NonNegativeFloat = Field(
        0.0, description="Weight of words that are marked as another type, as negatives of a type."
    )
    negative_type: str = Field(
        "O", min_length=1, description="Mentions of this type are words that are no names."
    )
    bags: PositiveInt = Field(10, description="bagging: classifiers a type, a sample each.")
    bag_share: PositiveFloat = Field(
        0.1, description="bagging: size of a sample, as a part of all words."
    )
    width: PositiveInt = Field(200, description="Size of the hidden layer.")
    shapes: bool = Field(
        True, description="Case, digits and signs as further input: most encoders here lose case."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the words' states.")
    hidden_words: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Part of the words that look like names whose letters the encoder does not see "
        "in training, so that names are not just learned by heart.",
    )

    @model_validator(mode="after")
    def _bags_have_negatives_of_their_own(self) -> Self:
        if self.risk == "bagging" and self.other_types:
            raise ValueError("bagging draws its negatives, so other_types has to be 0")
        return self


@dataclass(frozen=True, slots=True)
class PositiveUnlabelledBatch:
    """Words with what is known of them."""

    documents: WordBatch
    kind: Tensor  # (words,) labelled type; `types` for words that are no names, -1 for unlabelled
    drawn: Tensor  # (words, bags) how often each bag has drawn the word

    @property
    def weight(self) -> int:
        return self.documents.weight

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class PositiveUnlabelledOutput:
    """The loss is the sum of the types' risks, each a mean over the batch's words."""

    scores: Tensor  # (words, types, bags)
    loss: Tensor

    @property
    def logits(self) -> Tensor:
        """(words, types) what decides, a sigmoid for each type"""
        return self.scores.mean(2)


class PositiveUnlabelled(nn.Module):
    """Mentions that do not overlap, learned from documents that a dictionary has marked."""

    task: ClassVar[str] = "mentions"
    divergence = staticmethod(sigmoid_divergence)  # of two logits: a word may be of every type
    settings: PositiveUnlabelledSettings
    prior: Tensor  # (types,)
    share: Tensor  # (types,) part of all training words that is labelled
    negative_share: Tensor  # (1,) part that is labelled as no name
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder,
        types: Sequence[str],
        shares: LabelShares,
        settings: PositiveUnlabelledSettings | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or PositiveUnlabelledSettings()
        self.types = tuple(types)
        self.shares = shares
        self.provenance: dict[str, Any] = {}
        self.bags = self.settings.bags if self.settings.risk == "bagging" else 1

        self.encoder = encoder
        self.shape = shape_projection(encoder) if self.settings.shapes else None
        self.dropout = nn.Dropout(self.settings.dropout)
        self.hidden = nn.Linear(encoder.width, self.settings.width)
        self.classifier = nn.Linear(self.settings.width, len(self.types) * self.bags)
        for name, values in dataclasses.asdict(shares).items():
            self.register_buffer(name, torch.tensor(values), persistent=False)
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: PositiveUnlabelledSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for the types that the documents' mentions have."""
        types = [kind for kind in types_to_learn(documents) if kind != settings.negative_type]
        if not types:
            raise ModelError("no-mentions-to-learn")
        examples = make_examples(documents, encoder, _tags(types, settings), "BIO")
        kinds = [_kinds(example) for example in examples]
        for number, kind in enumerate(types):
            if not any((of_example == number).any() for of_example in kinds):
                raise ModelError("type-without-words", type=kind)
        given = settings.priors
        if settings.risk in {"unlabelled_negative", "bagging"}:
            given = {}  # these risks have no prior
        shares = label_shares(encoder, examples, kinds, types, given)
        if settings.risk == "labelled_negatives" and not shares.negative_share[0]:
            raise ModelError("no-labelled-negatives", type=settings.negative_type)
        return cls(encoder, types, shares, settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[WordExample]:
        """Find words, tokens and labels of documents, once."""
        tags = _tags(self.types, self.settings)
        return make_examples(list(documents), self.encoder, tags, "BIO")

    def collate(self, examples: Sequence[WordExample]) -> PositiveUnlabelledBatch:
        return PositiveUnlabelledBatch(
            make_batch(examples, self.encoder, whole_words=True).to("cpu"),
            torch.from_numpy(np.concatenate([_kinds(example) for example in examples])),
            torch.cat([self._drawn(example) for example in examples]),
        )

    def _drawn(self, example: WordExample) -> Tensor:
        """How often each bag has drawn each word; by the text alone, so that it is known later.

        A word is drawn a Poisson number of times, which is what a bootstrap over many words comes
        to (Oza and Russell: Online Bagging and Boosting, 2001).
        """
        if self.settings.risk != "bagging":
            return torch.zeros(example.terms, self.bags, dtype=torch.int64)
        chance = np.random.default_rng(zlib.crc32(example.token_ids.tobytes()))
        return torch.from_numpy(chance.poisson(self.settings.bag_share, (example.terms, self.bags)))

    def forward(self, batch: PositiveUnlabelledBatch) -> PositiveUnlabelledOutput:
        scores = self._scores(batch)
        return PositiveUnlabelledOutput(scores, self._risk(scores, batch).sum())

    def _scores(self, batch: PositiveUnlabelledBatch) -> Tensor:
        """(words, types, bags)"""
        documents = batch.documents
        windows = documents.windows
        if self.training and self.settings.hidden_words:
            windows = hide_some(documents, self.settings.hidden_words, self.encoder.mask_token)
        shapes = embedded_shapes(self.shape, documents.shapes)
        states = self.encoder.states(windows, shapes)  # (documents, length, width)
        pieces = states.flatten(0, 1).index_select(0, documents.piece_slot)  # (pieces, width)
        words = segment_mean(pieces, documents.piece_word, documents.words)  # (words, width)
        scores = self.classifier(self.hidden(self.dropout(words)).relu())
        return cast(Tensor, scores).view(-1, len(self.types), self.bags)

    def _risk(self, scores: Tensor, batch: PositiveUnlabelledBatch) -> Tensor:
        """(types,)"""
        settings = self.settings
        exponent = settings.exponent
        if exponent is None:
            exponent = 1.0 if settings.risk == "bnpu" else 0.0
        numbers = torch.arange(len(self.types), device=scores.device)
        labelled = batch.kind[:, None] == numbers  # (words, types)
        if settings.risk == "bagging":
            return risks.bagged(risks.word_losses(scores, exponent), labelled, batch.drawn)
        losses = risks.word_losses(scores.squeeze(2), exponent)  # (words, types)
        risk = self._risk_of_one_bag(losses, labelled, batch.kind == len(self.types))
        if settings.other_types:
            others = risks.other_types(losses, labelled, self.share)
            risk = risk + settings.other_types * others
        return risk

    def _risk_of_one_bag(self, losses: risks.Losses, labelled: Tensor, negative: Tensor) -> Tensor:
        """(types,)"""
        settings = self.settings
        if settings.risk == "unlabelled_negative":
            return risks.unlabelled_as_negative(losses, labelled)
        if settings.risk == "labelled_negatives":
            return risks.labelled_negatives(
                losses, labelled, negative, self.share, self.negative_share, self.prior
            )
        if settings.risk == "upu":
            return risks.unbiased(losses, labelled, self.share, self.prior)
        weight = self.prior
        if settings.positive_weight is not None:
            weight = torch.full_like(self.prior, settings.positive_weight)
        return risks.non_negative(
            losses,
            labelled,
            self.share,
            self.prior,
            weight,
            settings.tolerance,
            settings.step_back,
        )

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with nothing but predicted mentions, each with a score."""
        return self._with_mentions(list(documents), batch_tokens, out_of_bag=False)

    def predict_training(
        self, documents: Iterable[Document], *, batch_tokens: int = 4096
    ) -> list[Document]:
        """The mentions of documents that were trained on.

        With bagging, a word is scored by the classifiers whose bag has not drawn it. They share
        the encoder: only a frozen one (learning rate 0) has seen no label of the word at all.
        """
        return self._with_mentions(list(documents), batch_tokens, out_of_bag=True)

    def predict_sure(
        self, documents: Iterable[Document], least: float, *, batch_tokens: int = 4096
    ) -> list[Document]:
        """As `predict_training`, but where a word is less sure, nothing is known.

        Words that touch words of another type are unsure, too: who decides word by word cuts
        names into pieces.
        """

        def sure(example: WordExample, scores: Tensor) -> list[Mention]:
            return sure_mentions(
                self._mentions(example, scores), doubtful_words(example, scores, least)
            )

        return self._with_mentions(list(documents), batch_tokens, out_of_bag=True, decide=sure)

    def _with_mentions(
        self,
        documents: Sequence[Document],
        batch_tokens: int,
        out_of_bag: bool,
        decide: Callable[[WordExample, Tensor], list[Mention]] | None = None,
    ) -> list[Document]:
        """`decide` makes mentions of a document's words and scores: all, if it is absent."""
        bare = [document.without_mentions() for document in documents]
        result = list(bare)
        for number, example, scores in self._scored(bare, batch_tokens, out_of_bag):
            mentions = (decide or self._mentions)(example, scores)
            result[number] = bare[number].replace(mentions=tuple(mentions))
        return result

    def _mentions(self, example: WordExample, scores: Tensor) -> list[Mention]:
        runs = runs_of_words(example, scores, self.types)
        margins = [run.margin for run in runs]
        probable = scores_from_margins(margins, float(self.temperature)).tolist()
        return [
            Mention(run.start, run.end, run.type, score)
            for run, score in zip(runs, probable, strict=True)
        ]

    def _scored(
        self, documents: Sequence[Document], batch_tokens: int, out_of_bag: bool
    ) -> Iterator[tuple[int, WordExample, Tensor]]:
        """Number, words and scores (words, types) of each document that has words."""
        examples = self.prepare(documents)
        with torch.inference_mode(), evaluating(self):
            for numbers in batches_by_length(examples, batch_tokens):
                chosen = [examples[number] for number in numbers]
                batch = self.collate(chosen).to(self.temperature.device)
                drawn = batch.drawn if out_of_bag else torch.zeros_like(batch.drawn)
                scores = risks.out_of_bag_mean(self._scores(batch), drawn).cpu()  # (words, types)
                of_documents = scores.split([example.terms for example in chosen])
                yield from zip(numbers, chosen, of_documents, strict=True)

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set the temperature by documents that were not trained on and have gold mentions.

        A dictionary's marks are no measure of scores: without gold, do not call this.
        """
        decisions = []
        bare = [document.without_mentions() for document in documents]  # words as in prediction
        for number, example, scores in self._scored(bare, 4096, out_of_bag=False):
            decisions += judged(documents[number], runs_of_words(example, scores, self.types))
        fitted = calibrate_decisions(
            [run.margin for run, _ in decisions], [right for _, right in decisions]
        )
        self.temperature.fill_(fitted["temperature"])
        return fitted

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {
            "types": self.types,
            "shares": dataclasses.asdict(self.shares),
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        shares = LabelShares(**{name: tuple(part) for name, part in config["shares"].items()})
        settings = PositiveUnlabelledSettings(**config["settings"])
        return cls(encoder, config["types"], shares, settings)

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def _tags(types: Sequence[str], settings: PositiveUnlabelledSettings) -> list[str]:
    """O, then B and I of each type, those of the negatives last."""
    return tag_names([*types, settings.negative_type], "BIO")


def _kinds(example: WordExample) -> Integers:
    """(words,) the type of each word's tag, -1 for O."""
    found: Integers = (example.tags + 1) // 2 - 1
    return found


MODEL, SETTINGS = PositiveUnlabelled, PositiveUnlabelledSettings
