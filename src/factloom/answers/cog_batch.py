"""Questions for CogQA as tensors: all that is read in one batch, and the graphs over it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.answers.cog_questions import CogQuestion
from factloom.encoders.encoder import Encoder
from factloom.layouts import asked_questions
from factloom.layouts.asked_questions import QuestionBatch
from factloom.modules.devices import moved

HOPS, ANSWERS = 0, 1  # what is pointed to


@dataclass(frozen=True, slots=True)
class CogBatch:
    """Rows are what is read, one after the other through all questions; each is a node, too."""

    readings: QuestionBatch
    spans: Tensor  # (spans, 4) HOPS or ANSWERS, row, first and last column of what is right
    shares: Tensor  # (spans,) what each counts; those of a question sum to 2
    edges: Tensor  # (edges, 2) from row to row
    owner: Tensor  # (rows,) question of each
    asked: Tensor  # (nodes asked for,) questions whose right node is known
    target: Tensor  # (nodes asked for,) its row, -1 for none
    pairs: Tensor  # (pairs, 2) rows that are compared
    first: Tensor  # bool (pairs,) the first of them is right, or it is yes
    yes_no: Tensor  # bool (pairs,) which of the two is asked
    weight: int  # questions of which something is known

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


def make_batch(questions: Sequence[CogQuestion], encoder: Encoder) -> CogBatch:
    """The questions of which something is known; without any, what is read of the others."""
    known = [question for question in questions if question.terms]
    chosen = known or [question for question in questions if question.readings]
    counts = [len(question.readings) for question in chosen]
    before = np.concatenate([[0], np.cumsum(counts)]).tolist()
    spans = [
        (*span, share)
        for row, question in zip(before, chosen, strict=False)
        for span, share in _spans(question, row)
    ]
    numbered = list(zip(before, range(len(chosen)), chosen, strict=False))
    nodes = [
        (number, one.target if one.target == -1 else one.target + row)
        for row, number, one in numbered
        if one.target is not None
    ]
    pairs = [
        (one.pair[0] + row, one.pair[1] + row, one.first, one.kind == "yes/no")
        for row, _, one in numbered
        if one.pair is not None and one.first is not None
    ]
    edges = [(a + row, b + row) for row, _, one in numbered for a, b in one.edges]
    rows = [reading.asked for question in chosen for reading in question.readings]
    spans_table, nodes_table, pairs_table = _table(spans, 5), _table(nodes, 2), _table(pairs, 4)
    return CogBatch(
        readings=asked_questions.make_batch(rows, encoder, first_answer=False).to("cpu"),
        spans=torch.from_numpy(spans_table[:, :4].astype(np.int64)),
        shares=torch.from_numpy(spans_table[:, 4].astype(np.float32)),
        edges=torch.from_numpy(_table(edges, 2).astype(np.int64)),
        owner=torch.from_numpy(np.repeat(np.arange(len(chosen)), counts)),
        asked=torch.from_numpy(nodes_table[:, 0].astype(np.int64)),
        target=torch.from_numpy(nodes_table[:, 1].astype(np.int64)),
        pairs=torch.from_numpy(pairs_table[:, :2].astype(np.int64)),
        first=torch.from_numpy(pairs_table[:, 2].astype(bool)),
        yes_no=torch.from_numpy(pairs_table[:, 3].astype(bool)),
        weight=len(known),
    )


def _spans(question: CogQuestion, before: int) -> Iterator[tuple[tuple[int, int, int, int], float]]:
    """What is right in each text: pointer, row, columns; and what it counts."""
    for row, reading in enumerate(question.readings[: question.texts], start=before):
        for pointer, gold in ((HOPS, reading.hops), (ANSWERS, reading.answers)):
            columns = (gold + 1).tolist() or [[0, 0]]
            for first, last in columns:
                yield (pointer, row, first, last), 1 / (len(columns) * question.texts)


def _table(rows: Sequence[tuple[float, ...]], columns: int) -> NDArray[np.float64]:
    return np.asarray(rows, dtype=np.float64).reshape(-1, columns)
