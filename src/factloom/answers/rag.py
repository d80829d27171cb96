"""RAG: answers that are written, by a generator that reads the passages found for a question.

Lewis et al.: Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks, NeurIPS 2020, arXiv
2005.11401. z are the best k passages for the question x, y is the answer, token by token:

    p(z|x)       = softmax of q . v_z over these k                            dual_encoder.py
    RAG-Sequence p(y|x) = sum_z p(z|x) prod_i p(y_i | x, z, y_<i)
    RAG-Token    p(y|x) = prod_i sum_z p(z|x) p(y_i | x, z, y_<i)
    loss         = -log p(y|x), a mean over the questions; y is the first answer

The question encoder and the generator learn; passages and their vectors stay as they are. Decoding:

    Token              one beam search with the marginal of every next token
    Sequence, thorough a beam search for each z; p(y|x) of every y that one of them found, with
                       p(y|x,z) of all z
    Sequence, fast     the same, where p(y|x,z) is 0 if the search for z has not found y

What is written is looked for in the passages that were read; what none of them says is marked so.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn

from factloom.answers import finding
from factloom.answers.dual_encoder import DualEncoder, Pooling
from factloom.answers.generators import Generator
from factloom.answers.open_answers import OpenAnswers, WrittenReading, written_by_rag
from factloom.answers.open_corpus import OpenCorpus
from factloom.answers.open_questions import OpenBatch, OpenQuestion, open_batch, open_questions
from factloom.answers.passages import Passage
from factloom.answers.rag_decoding import Decoding, Way, Written, decode
from factloom.answers.retrieval import Retriever
from factloom.answers.starting import new_retriever, started_retriever
from factloom.answers.verbatim import supporting
from factloom.document import Answer, Document, Question
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models import PlainOutput, storage
from factloom.modules.calibration import calibrate_decisions, log_odds, scores_from_margins
from factloom.modules.evaluating import evaluating
from factloom.modules.passage_marginals import log_marginal
from factloom.text.answer_words import same_answer

GENERATOR = "generator"  # the folder of its tokenizer and configuration

_MARGINALS: dict[Way, Literal["whole", "token"]] = {"sequence": "whole", "token": "token"}


class RagSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: list[str] = Field(
        min_length=1, description="Files or stores whose passages answer questions."
    )
    generator: str = Field(
        description="What writes: the hub name or folder of a Hugging Face generator."
    )
    retriever: str | None = Field(
        None, description="A trained model to take the retriever of: inverse_cloze, realm, ..."
    )
    way: Way = Field(
        "sequence",
        description="Whether one passage explains the whole answer, or each token its own.",
    )
    decoding: Decoding = Field(
        "thorough", description="Whether what one passage gives is asked of all; for `sequence`."
    )
    passage_words: PositiveInt = Field(100, description="Most words of a passage.")
    passages: PositiveInt = Field(5, description="Passages that are read for a question; k.")
    beams: PositiveInt = Field(4, description="Answers that are kept while they are written.")
    longest_answer: PositiveInt = Field(24, description="Most tokens of an answer.")
    vector_width: PositiveInt = Field(128, description="Numbers of a vector; of a new retriever.")
    pooling: Pooling = Field(
        "first", description="What a text's vector is made of; of a new retriever."
    )


class Rag(nn.Module):
    """Answers to questions in a generator's words, and the passages that they rest on."""

    task: ClassVar[str] = "answers"
    temperature: Tensor  # of the answers' scores; fitted on dev

    def __init__(self, retriever: DualEncoder, settings: RagSettings, generator: Generator) -> None:
        super().__init__()
        self.settings = settings
        self.provenance: dict[str, Any] = {}
        self.retriever = retriever
        self.retriever.passages.requires_grad_(False)
        self.generator = generator
        self.corpus = OpenCorpus(settings.corpus, settings.passage_words)
        self.register_buffer("temperature", torch.ones(()))

    @property
    def encoder(self) -> Encoder:
        return self.retriever.questions.encoder

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: RagSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """A model that has learned nothing but what retriever and generator know."""
        if not any(question.answers for each in documents for question in each.questions):
            raise ModelError("no-answers-to-learn")
        kept, retriever = started_retriever(encoder, settings)
        return cls(retriever, kept, Generator.load(settings.generator))

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[OpenQuestion]:
        """Of questions without an answer there is nothing to write, and nothing to learn."""
        read = self.settings.passages * self.settings.passage_words
        return [
            dataclasses.replace(asked, answers=asked.answers or None)
            for asked in open_questions(documents, read)
        ]

    def collate(self, examples: Sequence[OpenQuestion]) -> OpenBatch:
        return open_batch(examples)

    def forward(self, batch: OpenBatch) -> PlainOutput:
        shares, passages = self._found([asked.text for asked in batch.questions])
        prompts, targets = [], []
        for asked, found in zip(batch.questions, passages, strict=True):
            target = self.generator.target((asked.answers or ("",))[0])
            prompts += [self.generator.prompt(asked.text, one.text) for one in found]
            targets += [target] * len(found)
        tokens = self.generator(prompts, targets).view(*shares.shape, -1)
        likely = log_marginal(tokens, shares, _MARGINALS[self.settings.way])  # (questions,)
        return PlainOutput(shares, -likely.mean())

    def _found(self, questions: Sequence[str]) -> tuple[Tensor, list[list[Passage]]]:
        """(questions, k) log p(z|x), and the passages"""
        queries = finding.query_vectors(self.retriever, questions)  # (questions, width)
        vectors = self.corpus.vectors(self.retriever.passages)
        rows = self.corpus.search(queries, vectors, self.settings.passages).rows
        shares = (queries[:, None] * vectors[rows]).sum(-1).log_softmax(1)
        return shares, [self.corpus.at(found) for found in rows]

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:  # noqa: ARG002
        """The documents with answers from the corpus; their own texts are not looked at.

        The attributes of an answer say whether a passage that was read says it, and which one. A
        generator does not say how likely there is no answer: `no_answer` is what the score lacks.
        """
        return [
            document.replace(questions=tuple(map(self._answered, document.questions)))
            for document in documents
        ]

    @torch.inference_mode()
    def _answered(self, question: Question) -> Question:
        with evaluating(self):
            shares, (passages,) = self._found([question.text])
            written = self.write(question.text, passages, shares[0])
        told = finding.told(passages, shares[0].exp())
        asked = finding.having(question, told)
        if not written:
            return dataclasses.replace(asked, answers=(), evidence=(), no_answer=1.0)
        best, score = written[0], self.score(written[0])
        held = supporting(best.text, passages)
        attributes = {"supported": held is not None, **(told[held[0]] if held else {})}
        answer = Answer(best.text, score=score, attributes=attributes)
        return dataclasses.replace(asked, answers=(answer,), evidence=(), no_answer=1 - score)

    @torch.inference_mode()
    def ask(self, question: str, passages: Sequence[Passage]) -> WrittenReading:
        """What is written from passages of any source; those of the greatest f(x, z) are read."""
        with evaluating(self):
            queries, vectors = finding.candidate_vectors(self.retriever, question, passages)
            rows = self.corpus.search(queries, vectors, self.settings.passages).rows[0]
            shares = (vectors[rows] @ queries[0]).log_softmax(0)
            read = [passages[row] for row in rows.tolist()]
            return WrittenReading(read, self.write(question, read, shares))

    def write(self, question: str, passages: Sequence[Passage], shares: Tensor) -> list[Written]:
        """The best answers of different words, the likeliest first; shares (k,) are log p(z|x)."""
        prompts = [self.generator.prompt(question, passage.text) for passage in passages]
        settings = self.settings
        return decode(
            self.generator,
            prompts,
            shares,
            way=settings.way,
            decoding=settings.decoding,
            beams=settings.beams,
            longest=settings.longest_answer,
        )

    def score(self, written: Written) -> float:
        """How likely it is right."""
        logit = log_odds(min(written.logarithm, -1e-9))
        return float(scores_from_margins(logit, float(self.temperature)))

    def answering(self, retriever: Retriever) -> OpenAnswers:
        """What answers questions from the passages that a retriever finds, for `asking`."""
        return OpenAnswers(retriever, partial(written_by_rag, self))

    # --- calibration ---------------------------------------------------------------------------

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set the temperature by documents that were not trained on."""
        self.temperature.fill_(1.0)
        logits, right = [], []
        for question in (asked for document in documents for asked in document.questions):
            if not question.answers:
                continue
            (best,) = self._answered(question).answers or (None,)
            if best is not None:
                logits.append(log_odds(math.log(min(max(best.score or 0, 1e-12), 1 - 1e-9))))
                right.append(any(same_answer(best.text, gold.text) for gold in question.answers))
        fitted = calibrate_decisions(np.array(logits), np.array(right, dtype=bool))
        self.temperature.fill_(fitted["temperature"])
        return fitted

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    def save_parts(self, directory: Path) -> None:
        """What belongs to the generator beside its weights."""
        self.generator.save(directory / GENERATOR)

    @classmethod
    def from_parts(cls, encoder: Encoder, config: Mapping[str, Any], directory: Path) -> Self:
        """A model without weights, from what `save_parts` has written."""
        settings = RagSettings(**config["settings"])
        generator = Generator.from_directory(directory / GENERATOR)
        return cls(new_retriever(encoder, settings), settings, generator)

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        """With the generator as it was before training."""
        settings = RagSettings(**config["settings"])
        return cls(new_retriever(encoder, settings), settings, Generator.load(settings.generator))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = Rag, RagSettings
