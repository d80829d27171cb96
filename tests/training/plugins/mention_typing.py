"""A small task for the tests of plug-ins: the type of a mention by the words around it.

The documents are the invented ones of examples/, the model is a table of word embeddings and two
layers.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from factloom import formats
from factloom.document import Document, Mention
from factloom.training.plugin import Plugin
from factloom.training.plugins import make_plugins
from factloom.training.settings import TrainingSettings
from factloom.training.trainer import Trainer

EXAMPLES = Path(__file__).parents[3] / "examples"
TRAIN = EXAMPLES / "profiles-train.jsonl"
REACH = 2  # words in front of a mention, of its own (the last ones), and behind it
WIDTH = 16


@dataclass(frozen=True)
class TypingExample:
    """The mentions of a document; each is one term of the loss."""

    id: str
    words: Tensor  # (mentions, words)
    types: Tensor  # (mentions,)

    @property
    def tokens(self) -> int:
        return self.words.numel()

    @property
    def terms(self) -> int:
        return len(self.types)


@dataclass(frozen=True)
class TypingBatch:
    words: Tensor  # (mentions, words)
    types: Tensor  # (mentions,)

    @property
    def weight(self) -> int:
        return len(self.types)

    def to(self, device: torch.device) -> "TypingBatch":
        return TypingBatch(self.words.to(device), self.types.to(device))


@dataclass(frozen=True)
class TypingOutput:
    logits: Tensor  # (mentions, types)
    loss: Tensor


class MentionTyping(nn.Module):
    """Word embeddings side by side, a hidden layer, a score a type."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.numbers = {word: number for number, word in enumerate(vocabulary())}
        self.types = ("LOC", "MISC", "ORG", "PER", "TIME")
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.words = nn.Embedding(len(self.numbers), WIDTH)
            self.spare_words = nn.Embedding(3, WIDTH)  # has no part in the loss
            self.hidden = nn.Linear(3 * REACH * WIDTH, 32)
            self.dropout = nn.Dropout(dropout)
            self.scores = nn.Linear(32, len(self.types))

    def prepare(self, documents: Sequence[Document]) -> list[TypingExample]:
        return [
            TypingExample(
                document.id,
                torch.tensor([self._numbers(document, m) for m in document.mentions]),
                torch.tensor([self.types.index(mention.type) for mention in document.mentions]),
            )
            for document in documents
        ]

    def _numbers(self, document: Document, mention: Mention) -> list[int]:
        words = list(around(document, mention))
        known = [word if word in self.numbers else shape(word) for word in words]
        return [self.numbers.get(word, 0) for word in known]

    def collate(self, examples: Sequence[TypingExample]) -> TypingBatch:
        return TypingBatch(
            torch.cat([example.words for example in examples]),
            torch.cat([example.types for example in examples]),
        )

    def forward(self, batch: TypingBatch) -> TypingOutput:
        logits = self.classify(self.words(batch.words))
        return TypingOutput(logits, F.cross_entropy(logits, batch.types))

    def classify(self, embedded: Tensor) -> Tensor:
        """(mentions, words, width) -> (mentions, types)."""
        return self.scores(self.dropout(self.hidden(embedded.flatten(1)).tanh()))

    def save_pretrained(self, directory: Path) -> None:
        save_file(self.state_dict(), Path(directory) / "model.safetensors")


def around(document: Document, mention: Mention) -> Iterator[str]:
    """The words of a mention and its surroundings; an empty one where there is none."""
    before = re.findall(r"\w+|[^\w\s]", document.text[: mention.start])[-REACH:]
    inside = re.findall(r"\w+|[^\w\s]", document.text[mention.start : mention.end])[-REACH:]
    after = re.findall(r"\w+|[^\w\s]", document.text[mention.end :])[:REACH]
    for words in (before, inside, after):
        yield from words + [""] * (REACH - len(words))


def shape(word: str) -> str:
    """Rare words are known by their shape: Torvik and Halden are Xx, 1931 is 0000."""
    return re.sub("[a-z]+", "x", re.sub("[A-Z]", "X", re.sub("[0-9]", "0", word)))


@cache
def documents(name: str) -> tuple[Document, ...]:
    return tuple(formats.read(EXAMPLES / f"profiles-{name}.jsonl"))


@cache
def vocabulary() -> tuple[str, ...]:
    """The words that the training documents have three times or more, and the others' shapes."""
    train = documents("train")
    counts = Counter(word for d in train for mention in d.mentions for word in around(d, mention))
    known = {word if count >= 3 else shape(word) for word, count in counts.items()}
    return tuple(sorted(known | {""}))


def accuracy(model: nn.Module) -> float:
    return robust_accuracy(model, 0.0)


def robust_accuracy(model: Any, epsilon: float, steps: int = 5) -> float:
    """Accuracy on the development documents under attack.

    For every mention on its own, a few steps uphill move its embedded words within a ball.
    """
    batch = model.collate(model.prepare(documents("dev")))
    clean = model.words(batch.words).detach()  # (mentions, words, width)
    moved = torch.zeros_like(clean)
    for _ in range(steps):
        moved.requires_grad_()
        loss = F.cross_entropy(model.classify(clean + moved), batch.types, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, moved)
        moved = moved.detach() + 2 * epsilon / steps * gradient / lengths(gradient)
        moved = moved * (epsilon / lengths(moved)).clamp(max=1)
    right = model.classify(clean + moved).argmax(1) == batch.types  # (mentions,)
    return float(right.double().mean())


def lengths(vectors: Tensor) -> Tensor:
    return vectors.flatten(1).norm(dim=1).clamp(min=1e-30)[:, None, None]


def trainer_of(
    output: Path,
    tables: dict[str, dict[str, Any]],
    *more: Plugin,
    model: nn.Module | None = None,
    train: int | None = None,
    change: Callable[[list[TypingExample]], list[TypingExample]] = list,
    validate: Any = None,
    **changes: Any,
) -> Trainer:
    """A trainer with the plug-ins of `tables`, as in a recipe, and `more` behind them.

    `train` is the number of documents, `change` may change their examples.
    """
    model = model or MentionTyping()
    chosen = {"epochs": 8, "learning_rates": {"": 5e-3}, "clip": None, **changes}
    return Trainer(
        model,
        change(model.prepare(documents("train")[:train])),
        TrainingSettings.model_validate(chosen),
        output,
        validate,
        [*make_plugins(tables), *more],
    )


class Failing(Plugin):
    """Raises an error in one of the passes over a batch; plug-ins make more of them."""

    def __init__(self, call: int, error: type[BaseException]) -> None:
        self.left = call
        self.error = error

    def before_forward(self, trainer: Trainer, batch: Any) -> None:  # noqa: ARG002
        self.left -= 1
        if self.left == 0:
            raise self.error("in the middle of a step")
