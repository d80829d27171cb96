"""Reader: the stretch of a text that answers a question, or that the text holds no answer.

Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv 1810.04805, section 4.3 (SQuAD 2.0); Clark,
Gardner: Simple and Effective Multi-Paragraph Reading Comprehension, ACL 2018, arXiv 1710.10723 (the
marginal loss).

    input     [CLS] question [SEP] text [SEP]; a long text in windows, each with the question
    start     s_i = S h_i, h_i the state of the first token of word i; s_0 that of [CLS]
    end       e_j = E h_j, h_j the state of the last token of word j; e_0 that of [CLS]
    span      s_i + e_j with i <= j < i + longest; none: s_0 + e_0
    loss      -(log P(start) + log P(end)) / 2, P the softmax over [CLS] and all words, for the gold
              span or (0, 0); marginal: -log(sum over gold spans of P(start) P(end)) / 2
    decision  the best span if its margin over "none" is greater than the threshold tau
    scores    of the answer: P(start) P(end); of no answer: sigmoid(-(margin - tau) / T'). A
              temperature on its logit makes each honest; both and tau are fitted on dev

A very long text is read in sections, of which the one with the greatest margin decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts.asked_questions import (
    AskedQuestion,
    QuestionBatch,
    make_batch,
    make_questions,
)
from factloom.models import PlainOutput, storage
from factloom.models.answer_decisions import FoundSpan, TriedAnswer, fit_decisions
from factloom.models.question_reading import QuestionReading, ReaderSettings
from factloom.modules.devices import Numbers
from factloom.modules.evaluating import evaluating
from factloom.modules.numbers import numbers_of
from factloom.modules.pooling import segment_logsumexp
from factloom.text.other_passages import with_other_passages

_NEVER = -1e9  # the logit of padding: its probability is 0


class Reader(nn.Module):
    """Answers to the questions of documents, each with its place and a score.

    >>> model = Reader(Encoder.load("all-MiniLM-L6-v2"))  # doctest: +SKIP
    """

    task: ClassVar[str] = "answers"
    temperature: Tensor  # of the answers' scores; this and the next are fitted on dev
    threshold: Tensor  # the least margin of an answer over none
    no_answer_temperature: Tensor

    def __init__(self, encoder: Encoder, settings: ReaderSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or ReaderSettings()
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.dropout = nn.Dropout(self.settings.dropout)
        # a bias would be the same for all words, and change no softmax
        self.edges = nn.Linear(encoder.width, 2, bias=False)
        self.register_buffer("temperature", torch.ones(()))
        self.register_buffer("threshold", torch.zeros(()))
        self.register_buffer("no_answer_temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: ReaderSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for answers as long as those of the documents."""
        model = cls(encoder, settings)
        known = [asked for asked in model.prepare(documents) if asked.terms]
        if not any(len(asked.answers) for asked in known):
            raise ModelError("no-answers-to-learn")
        if settings.longest_answer is None:
            longest = max(_longest(asked) for asked in known)
            model.settings = settings.model_copy(update={"longest_answer": longest})
        return model

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[AskedQuestion]:
        """Tokenise documents and their questions, and find the answers' words, once."""
        return make_questions(documents, self.encoder)

    def collate(self, examples: Sequence[AskedQuestion]) -> QuestionBatch:
        first_answer = self.settings.gold == "first"
        return make_batch(examples, self.encoder, first_answer=first_answer).to("cpu")

    def forward(self, batch: QuestionBatch) -> PlainOutput:
        """The loss is the mean over the questions of which something is known."""
        logits, losses = self.losses(batch)
        return PlainOutput(logits.flatten(0, 1), losses.sum() / max(batch.weight, 1))

    def losses(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]:
        """Logits (2, questions, columns), and the loss of each question that is known (known,)."""
        logits = self._logits(batch)
        starts, ends = logits.log_softmax(-1)
        rows, (first, last) = batch.answered, batch.answers.unbind(1)
        spans = starts[rows, first] + ends[rows, last]  # (answers,)
        known, answered = rows.unique_consecutive(return_inverse=True)
        likelihood = segment_logsumexp(spans[:, None], answered, len(known))  # (known, 1)
        return logits, -likelihood[:, 0] / 2

    def _logits(self, batch: QuestionBatch) -> Tensor:
        """(2, questions, columns) of starts and ends"""
        states = self.encoder.states(batch.windows)  # (questions, length, width)
        return self.scored(states, batch.first, batch.last, batch.inside)

    def scored(self, states: Tensor, first: Tensor, last: Tensor, inside: Tensor) -> Tensor:
        """s and e of the columns, from (questions, length, width) to (2, questions, columns)."""
        slots = self.dropout(states.flatten(0, 1))  # (questions x length, width)
        starts, ends = self.edges(slots).unbind(1)  # (questions x length,) twice
        return torch.stack([starts[first], ends[last]]).masked_fill(~inside, _NEVER)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with the best answer to each of their questions, or none.

        The sentence that holds the answer is its evidence, where the document has sentences.
        """
        return self.reading().predict(documents, batch_tokens)

    def ask(
        self,
        question: str,
        documents: Sequence[Document],
        *,
        top: int = 5,
        batch_tokens: int = 4096,
    ) -> list[FoundSpan]:
        """The best `top` answers to one question in several documents, read together.

        Those of one document do not overlap. The margin over "no answer" is what answers of
        different documents are compared by, the greatest first.
        """
        return self.reading().ask(question, documents, top, batch_tokens)

    def spans(
        self, documents: Iterable[Document], top: int = 1, batch_tokens: int = 4096
    ) -> Iterator[FoundSpan]:
        """The best spans of each question in each section of its document, likely or not."""
        return self.reading().spans(documents, top, batch_tokens)

    def reading(self) -> QuestionReading:
        """Its layers with what is around them (models/question_reading.py)."""
        return QuestionReading(
            TensorLayers(self),
            self.encoder,
            self.settings,
            float(self.threshold),
            float(self.temperature),
            float(self.no_answer_temperature),
        )

    # --- calibration ---------------------------------------------------------------------------

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set threshold and temperatures by documents that were not trained on.

        Where all of their questions have an answer, each is asked of another document, too: else
        nothing could be learned about when there is none.
        """
        known = [question for document in documents for question in document.questions]
        if not any(question.answers == () for question in known):
            documents = with_other_passages(documents, 1)
        tried = []
        for (number, index), span in self.reading().best(documents, 4096).items():
            answers = documents[number].questions[index].answers
            if answers is not None:
                tried.append(TriedAnswer.of(span, documents[number].text, answers))
        return fit_decisions(self, tried)

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, ReaderSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


@dataclass(frozen=True, slots=True)
class TensorLayers:
    """The layers of a model in torch, for models/question_reading.py: numbers in, numbers out."""

    model: Reader

    @torch.inference_mode()
    def logits(self, batch: QuestionBatch[Numbers]) -> Numbers:
        with evaluating(self.model):
            return numbers_of(self.model._logits(batch.to(self.model.temperature.device)))


def _longest(asked: AskedQuestion) -> int:
    """Words of the longest answer, 1 where there is none."""
    return int((asked.answers[:, 1] - asked.answers[:, 0] + 1).max(initial=1))


MODEL, SETTINGS = Reader, ReaderSettings
