"""CogLTX: a text is cut into blocks, a judge chooses the few that matter, a reasoner reads them.

Ding, Zhou, Yang, Tang: CogLTX: Applying BERT to Long Texts, NeurIPS 2020.

    blocks      at most 63 tokens each, cut at good places (passages.py)
    judge       the relevance of blocks that are read together (judge.py)
    MemRecall   competition, rehearsal and decay until few blocks are left (memory_recall.py)
    reasoner    the reader (models/reader.py), on what is left, put together in the text's order

    L = mean over questions of (loss of the judge + loss of the reasoner)
    judge       on a window of all relevant blocks and others by chance, as in a rehearsal, and on
                one of blocks in a row, as in a competition
    reasoner    on all relevant blocks and the winners of the judge's competition

Relevant are blocks that hold a sentence of the evidence, or the answer where that has a place.
Where nobody has said either, those that share rare words with the question are a first guess, which
the plug-in `intervention` makes better. Judge and reasoner have an encoder each. Nothing that is
read at once is longer than a window: the cost grows linearly with the length of the text, and is
that of the judge; the memory is that of a batch of windows.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn

from factloom.answers.blocks import Block, blocks_of
from factloom.answers.judge import Judge, JudgedWindow
from factloom.answers.long_questions import LongBatch, LongQuestion, long_questions
from factloom.answers.memory_recall import competition, recall, winners
from factloom.answers.recalled_text import RecalledText, Recollection, put_together
from factloom.answers.support import fit_support, supported, with_sentences
from factloom.document import Answer, Document, Question
from factloom.encoders.encoder import Encoder
from factloom.encoders.special_tokens import SpecialTokens
from factloom.models import storage
from factloom.models.answer_decisions import FoundSpan
from factloom.models.question_reading import ReaderSettings
from factloom.models.reader import Reader
from factloom.modules.evaluating import evaluating
from factloom.modules.relevance_levels import labels

_TOKENS = 4096  # that are read at once, with padding


class CogLtxSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    block_tokens: PositiveInt = Field(63, description="Most tokens of a block.")
    kept: tuple[PositiveInt, ...] = Field(
        (3, 5), min_length=1, description="Blocks that are kept after each round."
    )
    longest_answer: PositiveInt | None = Field(
        None, description="Most words of an answer; as in the training documents if absent."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the tokens' states.")


@dataclass(frozen=True, slots=True)
class CogLtxOutput:
    """What a training step needs."""

    loss: Tensor  # ()


class CogLtx(nn.Module):
    """Answers to questions about long texts, with the sentences that the judge finds relevant.

    >>> model = CogLtx(Encoder.load("all-MiniLM-L6-v2"))  # doctest: +SKIP
    """

    task: ClassVar[str] = "answers"
    support_threshold: Tensor  # of the mean relevance of a sentence's tokens; fitted on dev

    def __init__(self, encoder: Encoder, settings: CogLtxSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or CogLtxSettings()
        self.provenance: dict[str, Any] = {}
        dropout, longest = self.settings.dropout, self.settings.longest_answer
        # an answer may stand at several places of what is left: any of them is right
        reading = ReaderSettings(gold="marginal", longest_answer=longest, dropout=dropout)
        self.reasoner = Reader(encoder, reading)
        self.judge = Judge(encoder.renewed(**encoder.options()), dropout)
        self.register_buffer("support_threshold", torch.full((), 0.5))

    @property
    def encoder(self) -> Encoder:
        """The reasoner's; the judge's is of the same kind."""
        return self.reasoner.encoder

    @property
    def threshold(self) -> Tensor:
        """The least margin of an answer."""
        return self.reasoner.threshold

    @property
    def temperature(self) -> Tensor:
        """Of the answers' scores."""
        return self.reasoner.temperature

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: CogLtxSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for answers as long as those of the documents."""
        # what the reader makes of the documents says how long answers are
        reader = Reader.from_documents(encoder, documents, ReaderSettings())
        longest = settings.longest_answer or reader.settings.longest_answer
        return cls(encoder, settings.model_copy(update={"longest_answer": longest}))

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[LongQuestion]:
        """Cut documents into blocks, and say which of them are relevant, once."""
        return [
            question
            for number, document in enumerate(documents)
            for question in long_questions(number, document, self.encoder, self._blocks_for)
        ]

    def collate(self, examples: Sequence[LongQuestion]) -> LongBatch:
        return LongBatch(tuple(examples))

    def forward(self, batch: LongBatch) -> CogLtxOutput:
        """The loss is the mean over the questions of which something is known."""
        questions = [question for question in batch.questions if question.terms]
        judged = self._judge_losses([question for question in questions if question.judged])
        read = [self._training_text(question) for question in questions if question.readable]
        reading = self._reasoner_losses(read)
        return CogLtxOutput((judged.sum() + reading.sum()) / max(batch.weight, 1))

    def _judge_losses(self, questions: Sequence[LongQuestion]) -> Tensor:
        """The mean loss over the windows of each question: (windows,), whose sum is that of all."""
        windows: list[JudgedWindow] = []
        targets: list[bool] = []
        shares: list[float] = []
        for question in questions:
            relevant = labels(question.levels)
            chosen = {tuple(each): None for each in self._training_windows(question)}
            for numbers in chosen:  # the same window counts once
                windows.append(self._window(len(windows), question, numbers))
                targets.extend(relevant[list(numbers)].tolist())
                shares.append(1 / len(chosen))
        if not windows:
            return self.support_threshold.new_zeros(0)
        device = self.support_threshold.device
        losses = self.judge.losses(windows, torch.tensor(targets, device=device))
        return losses * torch.tensor(shares, device=device)

    def _training_windows(self, question: LongQuestion) -> Iterator[list[int]]:
        """One as in a rehearsal, one as in a competition; always the same while evaluating."""
        count, capacity = len(question.blocks), self._capacity(question.around)
        sizes = _sizes(question.blocks)
        order = torch.randperm(count) if self.training else torch.arange(count)
        relevant = labels(question.levels)
        scores = {number: -float(place) for place, number in enumerate(order.tolist())}
        for number in np.flatnonzero(relevant).tolist():
            scores[number] += count  # in front of all others
        yield winners(scores, [], sizes, capacity)
        begin = int(order[0])
        rows = list(competition(sizes[begin:], [], capacity))
        yield [begin + number for number in rows[0]]

    def _training_text(self, question: LongQuestion) -> Document:
        """All relevant blocks and the winners of the competition, with the answers in them."""
        chosen = self._read_in_training(question)
        return self._asked(question, chosen)

    def _read_in_training(self, question: LongQuestion) -> list[int]:
        sizes, capacity = _sizes(question.blocks), self._capacity(question.around)
        windows = list(competition(sizes, [], capacity))
        with evaluating(self):
            judged = self._judged(question.blocks, question.around, windows)
        scores = {
            number: score + relevant
            for window, found in zip(windows, judged, strict=True)
            for number, score in zip(window, found, strict=True)
            for relevant in (float(labels(question.levels)[number]),)  # in front of all others
        }
        return winners(scores, [], sizes, capacity)

    def _asked(self, question: LongQuestion, chosen: Sequence[int]) -> Document:
        """The chosen blocks with the question, and the answers where these stand in them."""
        text = put_together(question.blocks, chosen, [question.source])
        places = dict.fromkeys(text.places(0, question.answers))
        answers = tuple(Answer(text.text[start:end], start) for start, end in places)
        return text.asked(question.text, answers)

    def _reasoner_losses(self, documents: Sequence[Document]) -> Tensor:
        """The reasoner's loss of each document's question: (documents,)"""
        examples = [asked for asked in self.reasoner.prepare(documents) if asked.terms]
        if not examples:
            return self.support_threshold.new_zeros(0)
        batch = self.reasoner.collate(examples).to(self.support_threshold.device)
        return self.reasoner.losses(batch)[1]

    @torch.no_grad()
    def rises(self, question: LongQuestion) -> tuple[list[int], list[float]]:
        """Blocks that the reasoner reads, and by how much its loss rises without each.

        It rises without end where the answer goes with the block.
        """
        if not question.readable:
            return [], []
        with evaluating(self):
            chosen = self._read_in_training(question)
            whole = self._asked(question, chosen)
            if len(chosen) < 2 or _lacks_answer(question, whole):
                return [], []
            without = [
                self._asked(question, [other for other in chosen if other != number])
                for number in chosen
            ]
            kept = [place for place, one in enumerate(without) if not _lacks_answer(question, one)]
            rises = np.full(len(chosen), np.inf)
            losses = self._reasoner_losses([whole, *(without[place] for place in kept)]).tolist()
            rises[kept] = np.asarray(losses[1:]) - losses[0]
        return chosen, rises.tolist()

    # --- prediction ----------------------------------------------------------------------------

    def predict(
        self, documents: Iterable[Document], *, batch_tokens: int = _TOKENS
    ) -> list[Document]:
        """The documents with the best answer to each question, or none.

        Evidence are the sentences that the judge finds relevant, and that of the answer.
        """
        bare = [document.without_answers() for document in documents]
        found = self._recollections(bare, batch_tokens)
        texts = [kept.text.asked(question.text) for _, question, kept in found]
        read = iter(self.reasoner.predict(texts, batch_tokens=batch_tokens))
        answered = iter(
            [
                self._answered(bare[number], question, kept, next(read).questions[0])
                for number, question, kept in found
            ]
        )
        return [
            document.replace(questions=tuple(next(answered) for _ in document.questions))
            for document in bare
        ]

    def ask(
        self,
        question: str,
        documents: Sequence[Document],
        *,
        top: int = 5,
        batch_tokens: int = _TOKENS,
    ) -> list[FoundSpan]:
        """The best `top` answers to one question in all documents, read as one long text."""
        cut = [with_sentences(document) for document in documents]
        with evaluating(self):
            kept = self.recollect(question, cut, batch_tokens)
        found = self.reasoner.ask(question, [kept.text.asked(question)], top=top)
        support = tuple(
            (number, cut[number].sentences[sentence].start, cut[number].sentences[sentence].end)
            for number, sentence in supported(cut, kept, float(self.support_threshold))
        )
        return [dataclasses.replace(_moved(span, kept.text), support=support) for span in found]

    def recollect(
        self, question: str, documents: Sequence[Document], batch_tokens: int = _TOKENS
    ) -> Recollection:
        """What is left of the documents for a question."""
        around = self.judge.encoder.question(question)
        blocks = self._blocks_for(documents, around)
        capacity = self._capacity(around)

        def judge(windows: Sequence[list[int]]) -> list[list[float]]:
            return self._judged(blocks, around, windows, batch_tokens)

        chosen = recall(_sizes(blocks), capacity, self.settings.kept, judge)
        text = put_together(blocks, chosen, documents)
        return Recollection(blocks, chosen, self._relevance(blocks, chosen, around), text)

    def _recollections(
        self, documents: Sequence[Document], batch_tokens: int
    ) -> list[tuple[int, Question, Recollection]]:
        """What is left of each document for each of its questions."""
        with evaluating(self):
            return [
                (number, question, self.recollect(question.text, [document], batch_tokens))
                for number, document in enumerate(documents)
                for question in document.questions
            ]

    def _answered(
        self, document: Document, question: Question, kept: Recollection, read: Question
    ) -> Question:
        """The answer and its evidence, with their places in the document."""
        found = supported([document], kept, float(self.support_threshold))
        answers, evidence = [], {sentence for _, sentence in found}
        for answer in read.answers or ():
            assert answer.start is not None
            _, start, _ = kept.text.origin(answer.start, answer.start + len(answer.text))
            answers.append(dataclasses.replace(answer, start=start))
            sentence = document.sentence_at(start)
            evidence |= set() if sentence is None else {sentence}
        return dataclasses.replace(
            question,
            answers=tuple(answers),
            evidence=tuple(sorted(evidence)) if answers else (),
            no_answer=read.no_answer,
        )

    # --- what judge and reasoner are given ------------------------------------------------------

    def _blocks_for(self, documents: Sequence[Document], around: SpecialTokens) -> list[Block]:
        """Blocks such that what is kept and one more fit into a window with the question."""
        room = self._capacity(around) // (max(self.settings.kept) + 1) - 1
        return blocks_of(documents, self.encoder, max(1, min(self.settings.block_tokens, room)))

    def _capacity(self, around: SpecialTokens) -> int:
        """Tokens of blocks and separators that a window holds with the question."""
        return self.encoder.window - around.count

    def _window(self, number: int, question: LongQuestion, chosen: Sequence[int]) -> JudgedWindow:
        blocks = [question.blocks[index] for index in chosen]
        return self.judge.window(number, blocks, question.around)

    def _judged(
        self,
        blocks: Sequence[Block],
        around: SpecialTokens,
        windows: Sequence[Sequence[int]],
        batch_tokens: int = _TOKENS,
    ) -> list[list[float]]:
        """The scores of the blocks of each window."""
        asked = [
            self.judge.window(number, [blocks[index] for index in window], around)
            for number, window in enumerate(windows)
        ]
        scores = {number: found for number, found, _ in self.judge.scores(asked, batch_tokens)}
        return [scores[number] for number in range(len(windows))]

    def _relevance(
        self, blocks: Sequence[Block], chosen: Sequence[int], around: SpecialTokens
    ) -> list[list[float]]:
        """Of each token of the chosen blocks, read together once more."""
        if not chosen:
            return []
        window = self.judge.window(0, [blocks[index] for index in chosen], around)
        ((_, _, tokens),) = self.judge.scores([window], _TOKENS)
        return tokens

    # --- calibration ---------------------------------------------------------------------------

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set the reasoner's threshold and temperatures, and that of evidence, by dev documents."""
        found = self._recollections(documents, _TOKENS)
        read = [kept.text.asked(question.text, _words(question)) for _, question, kept in found]
        fitted = self.reasoner.fit_scores(read)
        judged = [
            ([documents[number]], kept, {(0, sentence) for sentence in question.evidence})
            for number, question, kept in found
            if question.evidence
        ]
        self.support_threshold.fill_(fit_support(judged, float(self.support_threshold)))
        return {**fitted, "support_threshold": float(self.support_threshold)}

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, CogLtxSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def _sizes(blocks: Sequence[Block]) -> list[int]:
    """The tokens of each block and of the separator behind it."""
    return [len(block.token_ids) + 1 for block in blocks]


def _lacks_answer(question: LongQuestion, read: Document) -> bool:
    """Whether there is an answer, and what is read does not hold it."""
    return bool(question.answers) and not read.questions[0].answers


def _words(question: Question) -> tuple[Answer, ...] | None:
    """The answers without their places, which are those of another text."""
    if question.answers is None:
        return None
    return tuple(dataclasses.replace(answer, start=None) for answer in question.answers)


def _moved(span: FoundSpan, text: RecalledText) -> FoundSpan:
    document, start, end = text.origin(span.start, span.end)
    return dataclasses.replace(span, document=document, question=0, start=start, end=end)


MODEL, SETTINGS = CogLtx, CogLtxSettings
