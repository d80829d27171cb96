"""The next token, by a network that remembers what it has read: how Transformer-XL is trained.

Dai, Yang, Yang, Carbonell, Le, Salakhutdinov: Transformer-XL: Attentive Language Models beyond a
Fixed-Length Context, ACL 2019, arXiv 1901.02860.

    loss      - mean over i of log p(x_i | x_1 ... x_(i-1)), as `causal`; what is in front of the
              segment is known by the memory alone
    token     p(x | i) = softmax(E h_i)         E: the network's own embeddings

The segments of a document come one after the other, one a step; what is remembered of one is kept
for the next (`Memories`), in training and in evaluation apart. The paper's adaptive softmax, for
vocabularies of whole words, is not needed with pieces of words.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from factloom.encoders.encoder import Encoder, quiet
from factloom.encoders.transformer_xl import Memory, TransformerXLModel
from factloom.errors import InputError, ModelError, Place
from factloom.models.storage import writing
from factloom.modules.devices import moved
from factloom.objectives.corpus import Corpus
from factloom.objectives.pretraining import ABOUT

_NONE = -100  # padding: no token is asked for


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens of a document that follow each other; an `Example` of the trainer.

    Each from `start` to `end` is a target, from the one in front of it. The end of a document
    counts as a token behind it, so that only the last segment is shorter than others.
    """

    corpus: Corpus
    number: int  # the segment that follows it in the document has the next one
    start: int
    end: int
    begins: bool  # nothing is remembered in front of it
    first: bool  # of its document
    last: bool

    @property
    def id(self) -> str:
        return f"{self.corpus.folder.name}, token {self.start}"

    @property
    def tokens(self) -> int:
        return self.end - self.start

    @property
    def terms(self) -> int:
        return self.tokens

    def ids(self, start: int, end: int) -> Any:
        """(tokens + 1,) with `start` in front of a document, and `end` behind."""
        front = [start] if self.first else [int(self.corpus.ids[self.start - 1])]
        inside = self.corpus.ids[self.start : self.end - self.last]
        return np.concatenate([front, inside, [end] if self.last else []]).astype(np.int64)


def segments_of(corpora: Iterable[Corpus], length: int) -> list[list[Segment]]:
    """Those of all documents, in their order."""
    documents: list[list[Segment]] = []
    number = 0
    for corpus in corpora:
        for first, last in pairwise(corpus.documents.tolist()):
            ends = [*range(first + length, last + 1, length), last + 1]
            starts = [first, *ends[:-1]]
            documents.append(
                [
                    Segment(corpus, number + place, start, end, place == 0, place == 0, end > last)
                    for place, (start, end) in enumerate(zip(starts, ends, strict=True))
                ]
            )
            number += len(ends)
    return documents


def in_parts(documents: Iterable[Sequence[Segment]], most: int) -> Iterator[list[Segment]]:
    """Documents of more than `most` segments in parts; each begins without memory."""
    for document in documents:
        for start in range(0, len(document), most):
            yield beginning(document[start : start + most])


def beginning(part: Sequence[Segment]) -> list[Segment]:
    """A part of a document whose first segment remembers nothing."""
    return [replace(part[0], begins=True), *part[1:]]


def held_out(
    documents: Sequence[Sequence[Segment]], part: float
) -> tuple[list[list[Segment]], list[list[Segment]]]:
    """Documents to train on, and the last part of the text, by segments."""
    count = sum(map(len, documents))
    kept = min(count - max(round(count * part), 1), count - 1)
    if kept < 1:
        raise InputError("nothing-to-learn")
    training, measured = [], []
    for document in documents:
        cut = max(min(kept, len(document)), 0)
        kept -= len(document)
        training += [list(document[:cut])] if cut else []
        measured += [beginning(document[cut:])] if cut < len(document) else []
    return training, measured


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """A row for each segment; which ones they are decides what is remembered in front."""

    token_ids: Tensor  # (rows, length)
    wanted: Tensor  # (rows, length) the next token of each; _NONE for padding
    numbers: tuple[int, ...]
    begins: tuple[bool, ...]

    @property
    def weight(self) -> int:
        return int((self.wanted != _NONE).sum())

    def to(self, device: Any) -> Self:
        return moved(self, device)


class Memories:
    """What is remembered behind each segment, by its number."""

    def __init__(self) -> None:
        self.kept: dict[int, Tensor] = {}  # (layers, tokens, width)
        self.fresh: set[int] = set()

    def before(self, batch: SegmentBatch, nothing: Memory) -> Memory:
        """Of the segments in front of those of the batch, the last ones at the end."""
        pairs = zip(batch.numbers, batch.begins, strict=True)
        found = [None if begins else self.kept.get(number - 1) for number, begins in pairs]
        lengths = [0 if one is None else one.shape[1] for one in found]
        layers, rows, _, width = nothing.states.shape
        states = nothing.states.new_zeros(layers, rows, max(lengths), width)
        for row, (one, length) in enumerate(zip(found, lengths, strict=True)):
            if one is not None:
                states[:, row, states.shape[2] - length :] = one
        return Memory(states, torch.tensor(lengths, device=states.device))

    def remember(self, batch: SegmentBatch, memory: Memory) -> None:
        for row, (number, length) in enumerate(
            zip(batch.numbers, memory.lengths.tolist(), strict=True)
        ):
            self.kept[number] = memory.states[:, row, memory.states.shape[2] - length :].clone()
            self.fresh.add(number)

    def forget(self) -> None:
        """All but what was remembered since it was last called: a step is over."""
        self.kept = {number: self.kept[number] for number in sorted(self.fresh)}
        self.fresh = set()


@dataclass(frozen=True, slots=True)
class RecurrentOutput:
    """The loss, and that of each target."""

    losses: Tensor  # (targets,)
    loss: Tensor  # ()


class RecurrentPretraining(nn.Module):
    """What is trained; one `Memories` for training, which the trainer keeps, one to measure."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.in_training, self.in_evaluation = Memories(), Memories()
        self.provenance: dict[str, Any] = {}

    @property
    def network(self) -> TransformerXLModel:
        backbone = self.encoder.backbone
        assert isinstance(backbone, TransformerXLModel)
        return backbone

    @property
    def memories(self) -> Memories:
        return self.in_training if self.training else self.in_evaluation

    def collate(self, segments: Sequence[Segment]) -> SegmentBatch:
        special = self.encoder.special
        start, end = (*special.before, *special.after)[0], (*special.after, *special.before)[0]
        rows = [segment.ids(start, end) for segment in segments]
        length = max(map(len, rows)) - 1
        token_ids = np.full((len(rows), length), special.padding, np.int64)
        wanted = np.full((len(rows), length), _NONE, np.int64)
        for row, ids in enumerate(rows):
            token_ids[row, : len(ids) - 1], wanted[row, : len(ids) - 1] = ids[:-1], ids[1:]
        return SegmentBatch(
            torch.from_numpy(token_ids),
            torch.from_numpy(wanted),
            tuple(segment.number for segment in segments),
            tuple(segment.begins for segment in segments),
        )

    def forward(self, batch: SegmentBatch) -> RecurrentOutput:
        network = self.network
        memory = self.memories.before(batch, network.nothing(len(batch.token_ids)))
        states, inputs, _ = network.read(batch.token_ids, memory)
        most = network.config.memory if self.training else network.config.evaluation_memory
        # a row with padding is the end of its document: nobody asks what it remembers
        self.memories.remember(batch, memory.followed_by(inputs, most))
        asked = batch.wanted != _NONE
        logits = functional.linear(states[asked], network.words.weight)  # (targets, tokens)
        losses = functional.cross_entropy(logits, batch.wanted[asked], reduction="none")
        return RecurrentOutput(losses, losses.mean())

    def save_pretrained(self, directory: str | Path) -> None:
        """A folder as that of any encoder, with `objective.json` beside it."""
        about = {
            "kind": "causal",
            "encoder": self.encoder.options(),
            "provenance": self.provenance,
        }
        with writing(Path(directory)), quiet():
            self.network.save_pretrained(directory)
            self.encoder.tokenizer.save_pretrained(directory)
            text = json.dumps(about, indent=2, ensure_ascii=False)
            (Path(directory) / ABOUT).write_text(text + "\n", encoding="utf-8")


def load_recurrent(directory: str | Path) -> RecurrentPretraining:
    """What `save_pretrained` has written, in evaluation mode."""
    file = Path(directory) / ABOUT
    try:
        about: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        options, provenance = about["encoder"], about["provenance"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError("model-damaged", Place(file=str(file)), detail=error) from error
    model = RecurrentPretraining(Encoder.load(str(directory), **options))
    model.provenance = provenance
    return model.eval()
