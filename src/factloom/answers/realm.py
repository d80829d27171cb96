"""REALM, asked: answers from a corpus, by a retriever and a reader that learn together.

Guu, Lee, Tung, Pasupat, Chang: REALM, ICML 2020, arXiv 2002.08909, sections 3.2 and 4; Lee, Chang,
Toutanova: Latent Retrieval for Weakly Supervised Open Domain Question Answering, ACL 2019, arXiv
1906.00300 (the early loss). x is a question, z a passage of the corpus, null is "no answer":

    p(z|x)    = softmax of q . v_z over the best k passages and null         dual_encoder.py
    p(s|z,x)  = softmax over spans s of z of MLP([h_start; h_end])           modules/width_spans.py
    p(y|z,x)  = sum over spans s of z with the words y of p(s|z,x)
    p(y|x)    = sum_z p(y|z,x) p(z|x);  p(no answer|x) = p(null|x)
    loss      = -log p(y|x), where a passage found holds y; early: -log of the sum of p(z|x) over
                those of the best c passages that hold y; both are means over the questions

h are the states of [CLS] x [SEP] z [SEP]. The vectors of passages stay as they are, so that the
index need not be made anew; question encoder, reader and null learn. What is found for a question
of a document may be that document: it is what has to be found.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt
from torch import Tensor, nn

from factloom.answers import finding
from factloom.answers.dual_encoder import DualEncoder, Pooling
from factloom.answers.open_answers import OpenAnswer, OpenAnswers, OpenReading, read_by_realm
from factloom.answers.open_corpus import FoundRows, OpenCorpus
from factloom.answers.open_questions import (
    OpenBatch,
    OpenQuestion,
    open_batch,
    open_questions,
)
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Retriever
from factloom.answers.starting import new_retriever, started_retriever
from factloom.document import Answer, Document, Question
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts.asked_questions import (
    AskedQuestion,
    QuestionBatch,
    make_batch,
    make_questions,
)
from factloom.models import PlainOutput, storage
from factloom.models.answer_decisions import best_threshold
from factloom.modules.calibration import calibrate_decisions, log_odds, scores_from_margins
from factloom.modules.evaluating import evaluating
from factloom.modules.width_spans import WidthSpans
from factloom.text.answer_words import best_likeness, same_answer

_NEVER = -1e9  # the logarithm of a probability of 0 that a gradient can pass
_SPANS = 50  # of a passage that take part in what is answered


class RealmSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: list[str] = Field(
        min_length=1, description="Files or stores whose passages answer questions."
    )
    retriever: str | None = Field(
        None,
        description="A trained retriever to begin with: of inverse_cloze or realm_pretraining.",
    )
    passage_words: PositiveInt = Field(100, description="Most words of a passage.")
    passages: PositiveInt = Field(5, description="Passages that are read for a question; k.")
    early: NonNegativeInt = Field(
        200, description="Passages of the early loss, which are not read; c. 0 for none."
    )
    longest_answer: PositiveInt = Field(10, description="Most words of an answer.")
    hidden: PositiveInt = Field(128, description="Width of the MLP that scores spans.")
    vector_width: PositiveInt = Field(128, description="Numbers of a vector; of a new retriever.")
    pooling: Pooling = Field(
        "first", description="What a text's vector is made of; of a new retriever."
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """Spans of some passages, each read with its question."""

    asked: list[AskedQuestion]
    batch: QuestionBatch
    spans: Tensor  # (readings, words, widest) log p(s|z,x); -inf where there is no span


class Realm(nn.Module):
    """Answers to questions from a corpus, and the passages that they rest on."""

    task: ClassVar[str] = "answers"
    temperature: Tensor  # of the answers' scores; this and the next are fitted on dev
    threshold: Tensor  # the least log p(y|x) - log p(null|x) of an answer

    def __init__(self, encoder: Encoder, settings: RealmSettings, retriever: DualEncoder) -> None:
        super().__init__()
        self.settings = settings
        self.provenance: dict[str, Any] = {}
        self.encoder = encoder
        self.spans = WidthSpans(encoder.width, settings.hidden, settings.longest_answer)
        self.retriever = retriever
        self.retriever.passages.requires_grad_(False)  # their vectors are not made anew
        self.null = nn.Parameter(torch.zeros(retriever.width))
        self.corpus = OpenCorpus(settings.corpus, settings.passage_words)
        self.register_buffer("temperature", torch.ones(()))
        self.register_buffer("threshold", torch.zeros(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: RealmSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """A model that has learned nothing but what encoder and retriever know."""
        if not any(question.answers for each in documents for question in each.questions):
            raise ModelError("no-answers-to-learn")
        return cls(encoder, *started_retriever(encoder, settings))

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[OpenQuestion]:
        return open_questions(documents, self.settings.passages * self.settings.passage_words)

    def collate(self, examples: Sequence[OpenQuestion]) -> OpenBatch:
        return open_batch(examples)

    def forward(self, batch: OpenBatch) -> PlainOutput:
        texts = [asked.text for asked in batch.questions]
        queries = finding.query_vectors(self.retriever, texts)  # (questions, width)
        vectors = self.corpus.vectors(self.retriever.passages)
        found = self.corpus.search(queries, vectors, self.settings.passages)
        shares = self._shares(queries, vectors[found.rows], found.there)  # (questions, 1 + k)
        read = self._read(batch.questions, self._passages(found))
        gold = self._gold(read).view(len(texts), -1)  # (questions, k) log p(y|z,x)
        likely = (shares[:, 1:] + gold).logsumexp(1)  # (questions,)
        none = torch.tensor([not asked.answers for asked in batch.questions], device=likely.device)
        likely = torch.where(none, shares[:, 0], likely)
        # where no passage that was found holds the answer, none can be learned from
        likely = likely.masked_fill(likely < _NEVER / 2, 0.0)
        loss = -(likely + self._early(batch.questions, queries, vectors)).sum()
        return PlainOutput(shares, loss / max(batch.weight, 1))

    def _shares(self, queries: Tensor, vectors: Tensor, there: Tensor) -> Tensor:
        """(questions, 1 + k) log p(z|x) of null and of passages with these vectors."""
        scores = (queries[:, None] * vectors).sum(-1).masked_fill(~there, -torch.inf)
        null = (queries * self.null).sum(-1, keepdim=True)  # (questions, 1)
        return torch.cat([null, scores], 1).log_softmax(1)

    def _passages(self, found: FoundRows) -> list[list[str]]:
        return [[passage.text for passage in self.corpus.at(rows)] for rows in found.rows]

    def _read(self, questions: Sequence[OpenQuestion], passages: Sequence[Sequence[str]]) -> _Read:
        """Every passage with its question: (questions x k) readings."""
        readings = [
            Document(text, questions=(_question(asked),))
            for asked, texts in zip(questions, passages, strict=True)
            for text in texts
        ]
        found = make_questions(readings, self.encoder)
        batch = make_batch(found, self.encoder, first_answer=False).to(self.null.device)
        states = self.encoder.states(batch.windows).flatten(0, 1)  # (readings x length, width)
        # column 0 stands for "no answer" to other readers
        first, last = states[batch.first[:, 1:]], states[batch.last[:, 1:]]
        scores = self.spans(first, last, batch.inside[:, 1:])  # (readings, words, widest)
        total = scores.flatten(1).logsumexp(1)
        return _Read(found, batch, scores - total[:, None, None])

    def _gold(self, read: _Read) -> Tensor:
        """(readings,) log p(y|z,x): over all places of the answer in the passage."""
        rows, (first, last) = read.batch.answered, read.batch.answers.unbind(1)
        width = last - first  # (answers,)
        held = (first > 0) & (width < self.spans.widest)
        rows, first, width = rows[held], first[held] - 1, width[held]
        right = torch.zeros_like(read.spans, dtype=torch.bool)
        right[rows, first, width] = True
        return read.spans.masked_fill(~right, _NEVER).flatten(1).logsumexp(1)

    def _early(self, questions: Sequence[OpenQuestion], queries: Tensor, vectors: Tensor) -> Tensor:
        """(questions,) log of the part of the best c passages that hold the answer; 0 if none."""
        if not self.settings.early:
            return queries.new_zeros(len(queries))
        found = self.corpus.search(queries, vectors, self.settings.early)
        scores = (queries[:, None] * vectors[found.rows]).sum(-1)  # (questions, c)
        texts = self._passages(found)
        held = torch.tensor(
            [
                [any(_holds(text, answer) for answer in asked.answers or ()) for text in of]
                for asked, of in zip(questions, texts, strict=True)
            ],
            device=queries.device,
        )
        likely = scores.masked_fill(~held, _NEVER).logsumexp(1) - scores.logsumexp(1)
        return likely.masked_fill(~held.any(1), 0.0)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:  # noqa: ARG002
        """The documents with answers from the corpus; their own texts are not looked at.

        The passages that were read are told in the attribute "passages".
        """
        return [
            document.replace(questions=tuple(map(self._answered, document.questions)))
            for document in documents
        ]

    def _answered(self, question: Question) -> Question:
        found, shares, answers = self._asked(question.text)
        passages = finding.told(self.corpus.at(found.rows[0]), shares[1:])
        none = float(shares[0])
        given = tuple(
            Answer(answer.text, score=self.score(answer), attributes=passages[answer.passage])
            for answer in answers[:1]
            if _margin(answer, none) > float(self.threshold)
        )
        asked = finding.having(question, passages)
        return dataclasses.replace(asked, answers=given, evidence=(), no_answer=none)

    @torch.inference_mode()
    def _asked(self, question: str) -> tuple[FoundRows, Tensor, list[OpenAnswer]]:
        """The passages read, p(z|x) (1 + k,) of null and these, and the answers in them."""
        with evaluating(self):
            vectors = self.corpus.vectors(self.retriever.passages, fresh=True)
            queries = finding.query_vectors(self.retriever, [question])
            found = self.corpus.search(queries, vectors, self.settings.passages)
            (shares,) = self._shares(queries, vectors[found.rows], found.there)
            (texts,) = self._passages(found)
            return found, shares.exp(), self._best(question, texts, shares)

    @torch.inference_mode()
    def ask(self, question: str, passages: Sequence[Passage]) -> OpenReading:
        """What passages of any source answer; those of the greatest f(x, z) are read."""
        with evaluating(self):
            queries, vectors = finding.candidate_vectors(self.retriever, question, passages)
            found = self.corpus.search(queries, vectors, self.settings.passages)
            (shares,) = self._shares(queries, vectors[found.rows], found.there)
            read = [passages[row] for row in found.rows[0].tolist()]
            answers = self._best(question, [passage.text for passage in read], shares)
        return OpenReading(read, answers, float(shares[0].exp()))

    def sure(self, reading: OpenReading) -> list[OpenAnswer]:
        """The answers that are likely enough beside "no answer"."""
        least = float(self.threshold)
        return [one for one in reading.answers if _margin(one, reading.none) > least]

    def answering(self, retriever: Retriever) -> OpenAnswers:
        """What answers questions from the passages that a retriever finds, for `asking`."""
        return OpenAnswers(retriever, partial(read_by_realm, self))

    def _best(self, question: str, texts: Sequence[str], shares: Tensor) -> list[OpenAnswer]:
        """Answers of different words, the likeliest first; shares (1 + k,) are log p(z|x)."""
        read = self._read([OpenQuestion("", question, None, 0)], [texts])
        probabilities = (read.spans + shares[1:, None, None]).exp()  # (k, words, widest)
        found: defaultdict[str, list[OpenAnswer]] = defaultdict(list)
        best = probabilities.flatten(1).topk(min(_SPANS, probabilities[0].numel()), dim=1)
        for passage, (values, places) in enumerate(
            zip(*map(torch.Tensor.tolist, best), strict=True)
        ):
            words = read.asked[passage].words
            for value, place in zip(values, places, strict=True):
                first, width = divmod(place, self.spans.widest)
                if value <= 0 or first + width >= len(words):
                    continue
                start, end = int(words[first, 0]), int(words[first + width, 1])
                text = texts[passage][start:end]
                found[text.casefold()].append(OpenAnswer(text, passage, start, end, value))
        joined = [
            dataclasses.replace(places[0], probability=sum(one.probability for one in places))
            for places in (
                sorted(all_, key=lambda one: -one.probability) for all_ in found.values()
            )
        ]
        return sorted(joined, key=lambda answer: -answer.probability)

    def score(self, answer: OpenAnswer) -> float:
        """How likely it is right."""
        logit = log_odds(_log(answer.probability))
        return float(scores_from_margins(logit, float(self.temperature)))

    # --- calibration ---------------------------------------------------------------------------

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set threshold and temperature by documents that were not trained on."""
        margins, logits, likeness, right, has = [], [], [], [], []
        for question in (asked for document in documents for asked in document.questions):
            _, shares, answers = self._asked(question.text)
            if question.answers is None or not answers:
                continue
            golds, best = [answer.text for answer in question.answers], answers[0]
            margins.append(_margin(best, float(shares[0])))
            logits.append(log_odds(_log(best.probability)))
            likeness.append(best_likeness(best.text, golds))
            right.append(any(same_answer(best.text, gold) for gold in golds))
            has.append(bool(golds))
        threshold = best_threshold(margins, likeness, has)
        fitted = calibrate_decisions(np.array(logits), np.array(right, dtype=bool))
        self.threshold.fill_(threshold)
        self.temperature.fill_(fitted["temperature"])
        return {**fitted, "threshold": threshold}

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        settings = RealmSettings(**config["settings"])
        return cls(encoder, settings, new_retriever(encoder, settings))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def _margin(answer: OpenAnswer, none: float) -> float:
    return _log(answer.probability) - _log(none)


def _log(probability: float) -> float:
    """Finite, also of what rounding has brought to 0."""
    return math.log(max(probability, 1e-12))


def _question(asked: OpenQuestion) -> Question:
    """As it is asked of a passage: its answers stand wherever their words do."""
    answers = None if not asked.answers else tuple(map(Answer, asked.answers))
    return Question(asked.text, answers=answers)


def _holds(text: str, answer: str) -> bool:
    return answer in text


MODEL, SETTINGS = Realm, RealmSettings
