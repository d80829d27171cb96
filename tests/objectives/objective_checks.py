"""What every objective has to pass. The test of each calls these with what its paper says."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from factloom.document import Document, Mention
from factloom.encoders.encoder import Encoder
from factloom.objectives import Corrupted, Objective, Stretch
from factloom.objectives.batch import lay_out
from factloom.objectives.corpus import SENTENCE, WORD, marks_of
from factloom.objectives.packing import TextExample
from factloom.objectives.pretraining import Pretraining, load_pretraining
from factloom.objectives.vocabulary import Vocabulary
from factloom.text.sentences import find_sentences

NAMES = ("Mara Velden", "Halden College")
TEXT = (
    "Mara Velden was born in Torvik. She studied at Halden College. It has a marker, and one token."
)

Sees = Callable[[Stretch, Corrupted], np.ndarray]  # (targets, tokens of the text)


def stretch_of(encoder: Encoder, text: str, other: Stretch | None = None) -> Stretch:
    """A text as a corpus gives it, with the names that it has."""
    (tokens,) = encoder.tokenize([text])
    places = [(text.find(name), name) for name in NAMES if name in text]
    mentions = tuple(Mention(at, at + len(name), "X") for at, name in places)
    document = Document(text, sentences=find_sentences(text), mentions=mentions)
    return Stretch(tokens.ids, marks_of(document, tokens, "rule"), other)


def enlarge(module: nn.Module) -> None:
    """So large weights that whatever a token sees can be felt."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        for weights in module.parameters():
            if weights.dim() > 1:
                nn.init.normal_(weights, std=0.2)


def examples_of(stretches: Sequence[Stretch], objective: Objective) -> list[TextExample]:
    return [
        TextExample(f"text {n}", (stretch,), (n,), objective.slots(len(stretch.ids)))
        for n, stretch in enumerate(stretches)
    ]


def randomness(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def many(objective: Objective, stretch: Stretch, count: int = 400) -> list[Corrupted]:
    return [objective.corrupt(stretch, randomness(n)) for n in range(count)]


def check_objective(model: Pretraining, stretches: Sequence[Stretch], folder: Path) -> None:
    """All that holds of any objective, on some texts."""
    examples = examples_of(stretches, model.objective)
    check_slots(model, stretches)
    check_every_parameter_gets_a_gradient(model, examples)
    check_packed_equals_alone(model, stretches)
    check_batch_equals_single(model, examples)
    check_learns(model, examples)
    check_saved_and_loaded(model, examples, folder)


def check_slots(model: Pretraining, stretches: Sequence[Stretch]) -> None:
    """No text takes more slots than was said, and no slot is asked twice."""
    for stretch in stretches:
        for corrupted in many(model.objective, stretch, 20):
            assert len(corrupted.tokens) <= model.objective.slots(len(stretch.ids))
            assert len(corrupted.slots) == len(corrupted.wanted) > 0
            assert len(set(corrupted.slots.tolist())) == len(corrupted.slots)


def check_every_parameter_gets_a_gradient(
    model: Pretraining, examples: Sequence[TextExample]
) -> None:
    model.train()
    model.zero_grad()
    model(model.collate(examples)).loss.backward()
    without = {
        name
        for name, weights in model.named_parameters()
        if weights.requires_grad and (weights.grad is None or not weights.grad.abs().sum() > 0)
    }
    model.zero_grad()
    assert not without


@torch.no_grad()
def check_packed_equals_alone(model: Pretraining, stretches: Sequence[Stretch]) -> None:
    """Texts that share a row do not see each other."""
    model.eval()
    pieces = [model.objective.corrupt(s, randomness(n)) for n, s in enumerate(stretches)]
    packed = torch_losses(model, [pieces])
    alone = torch_losses(model, [[piece] for piece in pieces])
    assert packed.tolist() == pytest.approx(alone.tolist(), abs=1e-4)


def torch_losses(model: Pretraining, rows: Sequence[Sequence[Corrupted]]) -> Tensor:
    """(targets,) of the tokens; what a network draws is the same each time."""
    torch.manual_seed(0)
    return model.objective.losses(model.network, lay_out(rows, 0)).tokens


@torch.no_grad()
def check_batch_equals_single(model: Pretraining, examples: Sequence[TextExample]) -> None:
    model.eval()
    together = model.collate(examples)
    alone = [model.collate([example]) for example in examples]
    assert together.weight == sum(batch.weight for batch in alone)
    total = sum(loss_of(model, batch) * batch.weight for batch in alone)
    assert loss_of(model, together) * together.weight == pytest.approx(total, rel=1e-4)


def loss_of(model: Pretraining, batch: Any) -> float:
    return float(model(batch).loss.detach())


def check_learns(model: Pretraining, examples: Sequence[TextExample], steps: int = 60) -> None:
    """The loss on a few texts, masked in the same way, falls to less than a third."""
    model.train()
    batch = model.collate(examples)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            output = model(batch)
            output.loss.backward()
            optimizer.step()
            losses.append(float(output.loss.detach()))
    model.eval()
    assert losses[-1] < losses[0] / 3, losses


@torch.no_grad()
def check_saved_and_loaded(
    model: Pretraining, examples: Sequence[TextExample], folder: Path
) -> None:
    """The same losses, and an encoder that anybody can begin with."""
    model.eval()
    model.provenance = {"recipe": {}}
    model.save_pretrained(folder / "saved")
    loaded = load_pretraining(folder / "saved")
    assert not loaded.training
    assert (loaded.kind, loaded.settings) == (model.kind, model.settings)
    assert loaded.provenance == model.provenance
    trained = {name for name, weights in model.named_parameters() if weights.requires_grad}
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value) or name not in trained, name
    batch = model.collate(examples)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        mine = model(batch).loss
        torch.manual_seed(0)
        assert torch.equal(loaded(batch).loss, mine)
    encoder = Encoder.load(str(folder / "saved"), overlap=0)
    for name, value in model.network.encoder.backbone.state_dict().items():
        assert torch.equal(encoder.backbone.state_dict()[name], value), name


@torch.no_grad()
def check_nothing_leaks(model: Pretraining, stretch: Stretch, sees: Sees, draws: int = 3) -> None:
    """By brute force: a change of any token is felt by the targets that may see it alone."""
    model.eval()
    for draw in range(draws):
        corrupted = model.objective.corrupt(stretch, randomness(draw))
        before = torch_losses(model, [[corrupted]])
        expected = sees(stretch, corrupted)
        felt = np.zeros_like(expected)
        for token in range(len(stretch.ids)):
            ids = stretch.ids.copy()
            ids[token] = next(i for i in model.vocabulary.ordinary if i not in stretch.ids)
            changed = Stretch(ids, stretch.marks, stretch.other)
            piece = model.objective.corrupt(changed, randomness(draw))
            assert piece.slots.tolist() == corrupted.slots.tolist()
            same = dataclasses.replace(piece, wanted=corrupted.wanted)
            after = torch_losses(model, [[same]])
            felt[:, token] = (after != before).numpy()  # what is not seen has no part at all
        assert not (felt & ~expected).any(), "seen, and should not be"
        assert not (expected & ~felt).any(), "not seen, and should be"


def distinct_stretch(vocabulary: Vocabulary, tokens: int = 24) -> Stretch:
    """No token twice, four sentences: what is seen can be told from the tokens alone."""
    marks = np.full(tokens, WORD, np.uint8)
    marks[:: tokens // 4] |= SENTENCE
    return Stretch(randomness(7).permutation(vocabulary.ordinary)[:tokens], marks)


def read_or_written(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    """With a decoder, of a text without repetitions: what is read, and what is written before."""
    assert corrupted.written is not None
    written = corrupted.written.tokens
    rows = [np.concatenate([corrupted.tokens, written[: n + 1]]) for n in corrupted.slots]
    return np.array([np.isin(stretch.ids, row) for row in rows])


def hidden_tokens(stretch: Stretch, corrupted: Corrupted, before: int = 1) -> np.ndarray:
    """Masks that all see: no target sees a token that is one, each sees all others."""
    seen = np.ones(len(stretch.ids), bool)
    seen[corrupted.slots - before] = False
    return np.broadcast_to(seen, (len(corrupted.slots), len(seen))).copy()


def original(corrupted: Corrupted) -> list[int]:
    """What was there before: the tokens that are wanted, at their slots."""
    tokens = corrupted.tokens.copy()
    tokens[corrupted.slots] = corrupted.wanted
    return tokens.tolist()
