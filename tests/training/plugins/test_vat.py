"""VAT against plain float64 computations: the direction, the divergence, and its gradient."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
import torch.nn.functional as F
from adversarial_steps import assert_sum, plain_gradients
from mention_typing import MentionTyping, TypingBatch, documents, trainer_of
from torch import Tensor, nn

from factloom import formats
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import RecipeError
from factloom.models.mrc import Mrc, MrcSettings
from factloom.training.plugin import Plugin
from factloom.training.plugins.vat import VatSettings, VirtualAdversarialTraining, _unit
from factloom.training.step import Step
from factloom.training.trainer import Trainer

DOCUMENTS = 6


class Watch(Plugin):
    """What the layers behind the embeddings are given in every pass, the loss, the gradients."""

    def __init__(self, model: MentionTyping) -> None:
        self.passes: list[Tensor] = []  # (mentions, words x width) each
        self.losses: list[float] = []
        self.gradients: dict[str, Tensor] = {}
        model.hidden.register_forward_pre_hook(
            lambda _, inputs: self.passes.append(inputs[0].detach().clone())
        )

    def before_backward(self, trainer: Trainer, batch: Any, loss: Tensor) -> Tensor:  # noqa: ARG002
        self.losses.append(float(loss.detach()))
        return loss

    def after_backward(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        weights = trainer.model.named_parameters()
        self.gradients = {name: w.grad.clone() for name, w in weights if w.grad is not None}

    @property
    def shifts(self) -> list[Tensor]:
        """r of each pass, the training's own and the clean one (both 0) included."""
        return [inputs - self.passes[0] for inputs in self.passes]


def step(output: Path, model: MentionTyping | None = None, **settings: Any) -> Watch:
    """One step of six documents in one batch."""
    model = (model or MentionTyping()).double()
    watch = Watch(model)
    sizes = {"epochs": 1, "batch_size": DOCUMENTS, "train": DOCUMENTS}
    trainer_of(output, {"vat": settings}, watch, model=model, **sizes).train()
    return watch


def whole_batch(model: MentionTyping) -> TypingBatch:
    """The mentions in the order of the trainer, shortest documents first."""
    examples = model.prepare(documents("train")[:DOCUMENTS])
    return model.collate(sorted(examples, key=lambda example: example.tokens))


def scores(model: MentionTyping, inputs: Tensor) -> Tensor:
    """What the model makes of embedded words (mentions, words x width)."""
    return model.scores(model.hidden(inputs).tanh())


def naive_divergence(clean: Tensor, moved: Tensor) -> Tensor:
    """KL of softmax, (mentions,)."""
    p, q = (logits.exp() / logits.exp().sum(1, keepdim=True) for logits in (clean, moved))
    return (p * (p / q).log()).sum(1)


def unit_rows(vectors: Tensor) -> Tensor:
    return torch.stack([row / math.sqrt(float(row @ row)) for row in vectors])


def test_it_starts_with_noise_of_the_length_of_the_probe(tmp_path: Path) -> None:
    first = step(tmp_path, probe=0.3).shifts[2]
    torch.testing.assert_close(first.norm(dim=1), torch.full((len(first),), 0.3).double())
    assert abs(float((first / 0.3).mean())) < 0.01
    assert not first[0].allclose(first[1])


@pytest.mark.parametrize("iterations", [1, 3])
def test_each_iteration_follows_the_gradient_of_the_divergence(
    tmp_path: Path, iterations: int
) -> None:
    watch = step(tmp_path, probe=0.3, epsilon=1.7, power_iterations=iterations)
    model = MentionTyping().double()
    inputs = watch.passes[0]
    shift = watch.shifts[2]  # the noise
    for number in range(iterations):
        shift = shift.clone().requires_grad_()
        clean = scores(model, inputs).detach()
        naive_divergence(clean, scores(model, inputs + shift)).sum().backward()
        length = 1.7 if number == iterations - 1 else 0.3
        shift = length * unit_rows(shift.grad)
        torch.testing.assert_close(watch.shifts[3 + number], shift, rtol=1e-6, atol=1e-9)
    assert len(watch.passes) == 3 + iterations  # training's own, clean, one each, the last


def test_many_iterations_find_the_direction_of_largest_curvature(tmp_path: Path) -> None:
    """The top eigenvector of J^T (diag(p) - p p^T) J, the curvature of the divergence at 0."""
    watch = step(tmp_path, probe=1e-4, epsilon=1.0, power_iterations=200)
    model = MentionTyping().double()
    for row in range(0, len(watch.passes[0]), 9):
        inputs = watch.passes[0][row]
        jacobian = torch.autograd.functional.jacobian(lambda x: scores(model, x), inputs)
        p = scores(model, inputs).detach().softmax(0)
        curvature = jacobian.T @ (torch.diag(p) - torch.outer(p, p)) @ jacobian
        worst = torch.linalg.eigh(curvature).eigenvectors[:, -1]
        assert abs(float(watch.shifts[-1][row] @ worst)) == pytest.approx(1, abs=1e-3)


def test_the_mean_divergence_joins_the_loss_and_its_gradient(tmp_path: Path) -> None:
    watch = step(tmp_path, epsilon=1.7, weight=0.6)
    model = MentionTyping().double()
    batch = whole_batch(model)
    inputs = model.words(batch.words).flatten(1)
    clean = scores(model, inputs)
    moved = scores(model, inputs + watch.shifts[-1])  # r is a constant, and p(x) too
    mean = naive_divergence(clean.detach(), moved).sum() / len(batch.types)
    loss = F.cross_entropy(clean, batch.types)
    assert watch.losses == [pytest.approx(float((loss + 0.6 * mean).detach()), rel=1e-12)]
    assert float(mean.detach()) > 0.01
    (0.6 * mean).backward()
    added = {name: w.grad for name, w in model.named_parameters() if w.grad is not None}
    assert_sum(watch.gradients, plain_gradients(MentionTyping().double().state_dict()), added)


def test_all_passes_drop_the_same_units_out(tmp_path: Path) -> None:
    watch = step(tmp_path / "close", model=MentionTyping(dropout=0.5), epsilon=1e-4, weight=1e3)
    model = MentionTyping(dropout=0.5).double()
    plain = []

    class Note(Plugin):
        def before_backward(self, trainer: Trainer, batch: Any, loss: Tensor) -> Tensor:  # noqa: ARG002
            plain.append(float(loss.detach()))
            return loss

    sizes = {"epochs": 1, "batch_size": DOCUMENTS, "train": DOCUMENTS}
    trainer_of(tmp_path / "plain", {}, Note(), model=model, **sizes).train()
    # Other units in the two passes would make a divergence of about 0.1.
    assert watch.losses == pytest.approx(plain, abs=1e-3)
    assert len(plain) == 1


@dataclass(frozen=True)
class NoLogits:
    loss: Tensor


class WithoutLogits(MentionTyping):
    def forward(self, batch: TypingBatch) -> Any:
        return NoLogits(super().forward(batch).loss)


def test_a_model_without_logits_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        trainer_of(tmp_path, {"vat": {}}, model=WithoutLogits(), train=2).train()
    assert caught.value.code == "no-logits"
    assert "plugins.vat" in str(caught.value)


class OfNothing(MentionTyping):
    """Predicts nothing of these texts, as a model of relations does where there are no pairs."""

    def forward(self, batch: TypingBatch) -> Any:
        output = super().forward(batch)
        return replace(output, logits=output.logits.detach()[:0])


def test_texts_of_which_nothing_is_predicted_add_nothing(tmp_path: Path) -> None:
    watch, plain = step(tmp_path / "vat", OfNothing()), MentionTyping().double()
    assert watch.losses == [pytest.approx(float(plain(whole_batch(plain)).loss.detach()))]


def test_a_table_that_is_not_used_is_told(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, {"vat": {"embeddings": "spare_words"}}, train=2)
    with pytest.raises(RecipeError) as caught:
        trainer.train()
    assert caught.value.code == "unused-embeddings"
    assert "plugins.vat.embeddings" in str(caught.value)


def test_a_relation_model_reads_its_logits_by_its_own_rule(tmp_path: Path) -> None:
    class Halves(nn.Module):
        def divergence(self, target: Tensor, logits: Tensor) -> Tensor:
            return (logits - target).square().sum(1)

    model = MentionTyping()
    model.rule = Halves()
    watch = step(tmp_path, model=model, epsilon=0.5)
    plain = MentionTyping().double()
    clean = scores(plain, watch.passes[0])
    difference = scores(plain, watch.passes[-1]) - clean
    expected = F.cross_entropy(clean, whole_batch(plain).types) + difference.square().sum(1).mean()
    assert watch.losses == [pytest.approx(float(expected.detach()))]


# --- unlabelled text -------------------------------------------------------------------------


def with_unlabelled(output: Path, path: Path, watch: Plugin | None = None) -> MentionTyping:
    model = MentionTyping()
    sizes = {"epochs": 2, "batch_size": 3, "train": 6}
    more = [] if watch is None else [watch]
    tables = {"vat": {"unlabelled": [str(path)]}}
    trainer_of(output, tables, *more, model=model, **sizes).train()
    return model


def test_labels_of_unlabelled_documents_are_not_used(tmp_path: Path) -> None:
    texts = documents("train")[20:30]
    untyped = [
        document.replace(mentions=tuple(replace(m, type="LOC") for m in document.mentions))
        for document in texts
    ]
    assert untyped != list(texts)
    formats.write(texts, tmp_path / "labelled.jsonl")
    formats.write(untyped, tmp_path / "untyped.jsonl")
    first = with_unlabelled(tmp_path / "first", tmp_path / "labelled.jsonl").state_dict()
    second = with_unlabelled(tmp_path / "second", tmp_path / "untyped.jsonl").state_dict()
    assert all(first[name].equal(second[name]) for name in first)


def test_labels_do_not_decide_what_a_model_of_mentions_is_asked(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write(profiles[:3], tmp_path / "labelled.jsonl")
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Mrc.from_documents(encoder, profiles[:3], MrcSettings(negative_questions=0.1))
    plugin = VirtualAdversarialTraining(VatSettings(unlabelled=[str(tmp_path / "labelled.jsonl")]))
    plugin.on_start(cast(Trainer, SimpleNamespace(model=model)))
    assert any(len(passage.answers) for passage in model.prepare(profiles[:3]))
    assert plugin.unlabelled
    assert not any(len(passage.answers) for passage in plugin.unlabelled)


def test_words_that_only_unlabelled_documents_have_are_learned(tmp_path: Path) -> None:
    formats.write(documents("train")[20:30], tmp_path / "more.jsonl")
    model = with_unlabelled(tmp_path / "run", tmp_path / "more.jsonl")
    examples = model.prepare(documents("train"))
    labelled = torch.cat([e.words.flatten() for e in examples[:6]]).unique()
    unlabelled = torch.cat([e.words.flatten() for e in examples[20:30]]).unique()
    only = unlabelled[~torch.isin(unlabelled, labelled)]
    moved = (model.words.weight - MentionTyping().words.weight).abs().sum(1) > 0
    seen = torch.isin(torch.arange(len(moved)), torch.cat([labelled, unlabelled]))
    assert int(moved[only].sum()) > len(only) / 2
    assert not moved[~seen].any()


def test_documents_without_anything_to_predict_are_told(tmp_path: Path) -> None:
    formats.write([Document("Nobody.", id="x")], tmp_path / "empty.jsonl")

    class Bare(MentionTyping):
        def prepare(self, documents: Any) -> list[Any]:
            return super().prepare([d for d in documents if d.mentions])

    settings = {"unlabelled": [str(tmp_path / "empty.jsonl")]}
    trainer = trainer_of(tmp_path / "run", {"vat": settings}, model=Bare(), train=2)
    with pytest.raises(RecipeError) as caught:
        trainer.train()
    assert caught.value.code == "nothing-unlabelled"


def test_words_of_a_list_are_moved_together_as_far_as_their_sequences() -> None:
    """A sequence on its own is moved by 1, three of them by the root of three."""
    sequences, words = torch.randn(3, 4, 2), torch.randn(5, 2)
    assert [float(each.norm()) for each in _unit(sequences, 3)] == pytest.approx([1, 1, 1])
    moved = _unit(words, 3)
    assert float(moved.norm()) == pytest.approx(math.sqrt(3))
    torch.testing.assert_close(moved / moved.norm(), words / words.norm())
    assert _unit(torch.zeros(5, 2), 3).eq(0).all()
