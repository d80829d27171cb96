"""Self-distillation, R-Drop and distillation: their losses are their formulas, and they resume."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from toy_model import ToyModel, toy_examples, toy_settings

from factloom.document import Document, Relation
from factloom.encoders.encoder import Encoder
from factloom.errors import RecipeError
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.docre_sd import DocreSd, DocreSdSettings, ReasonedScores
from factloom.training import optimization
from factloom.training.plugin import Plugin
from factloom.training.plugins import make_plugins
from factloom.training.plugins.self_distillation import SelfDistillation, SelfDistillationSettings
from factloom.training.trainer import Trainer


def reasoning_model(path: Path, documents: list[Document], **settings: Any) -> DocreSd:
    torch.manual_seed(7)
    chosen = DocreSdSettings.model_validate(settings)
    return DocreSd.from_documents(Encoder.load(str(path), overlap=16), documents, chosen)


def plain_model(path: Path, documents: list[Document], seed: int = 7, **settings: Any) -> Atlop:
    torch.manual_seed(seed)
    chosen = AtlopSettings.model_validate({"block_size": 8, **settings})
    return Atlop.from_documents(Encoder.load(str(path), overlap=16), documents, chosen)


def trainer_of(
    model: Any, documents: list[Document], output: Path, plugin: Plugin, **changes: Any
) -> Trainer:
    settings = toy_settings(**{"epochs": 2, "batch_size": 2, **changes})
    return Trainer(model, model.prepare(documents), settings, output, plugins=(plugin,))


def classes(logits: Tensor) -> list[list[float]]:
    """Softmax by hand."""
    rows = [[math.exp(number) for number in row] for row in logits.tolist()]
    return [[number / sum(row) for number in row] for row in rows]


def divergence(target: Tensor, logits: Tensor) -> float:
    """The mean over pairs of KL(target || logits), by hand."""
    total = 0.0
    for p, q in zip(classes(target), classes(logits), strict=True):
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    return total / len(logits)


def unlikeness(masked: ReasonedScores, target: ReasonedScores, hidden: Tensor) -> float:
    """1 - cos of the refined features of hidden pairs, as a mean over all pairs, by hand."""
    total = 0.0
    rows = zip(masked.features[-1].tolist(), target.features[-1].tolist(), strict=True)
    for (one, other), chosen in zip(rows, hidden.tolist(), strict=True):
        product = sum(a * b for a, b in zip(one, other, strict=True))
        sizes = math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
        total += (1 - product / sizes) if chosen else 0.0
    return total / len(hidden)


@pytest.fixture
def documents(profiles: list[Document]) -> list[Document]:
    return profiles[:4]


@pytest.fixture
def bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor passes for one that computes in it; emulated, it is only slower."""
    monkeypatch.setattr(optimization, "cpu_features", lambda: optimization.BFLOAT16_FEATURES)


# --- self-distillation -----------------------------------------------------------------------


def begun(
    model: DocreSd, documents: list[Document], output: Path, settings: SelfDistillationSettings
) -> tuple[SelfDistillation, Trainer]:
    """The plug-in of a training that has begun."""
    plugin = SelfDistillation(settings)
    trainer = trainer_of(model, documents, output, plugin)
    plugin.on_start(trainer)
    return plugin, trainer


def test_self_distillation_adds_the_masked_loss_and_both_divergences(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    model = reasoning_model(tiny_encoder_path, documents).double().eval()
    settings = SelfDistillationSettings(
        curriculum="constant",
        largest_rate=0.4,
        masked_weight=0.7,
        divergence_weight=1.3,
        cosine_weight=0.6,
    )
    plugin, trainer = begun(model, documents, tmp_path, settings)
    batch = model.collate(model.prepare(documents))
    with torch.no_grad():
        output = model(batch)
        torch.manual_seed(11)
        changed = plugin.after_forward(trainer, batch, output)
        torch.manual_seed(11)
        hidden = torch.rand(len(batch.labels)) < 0.4
        masked = model.reason_with_hidden(output.scores, hidden)
    expected = float(output.loss)
    expected += 0.7 * float(model.rule.loss(masked.logits, batch.labels).mean())
    both = divergence(masked.logits, output.logits) + divergence(output.logits, masked.logits)
    expected += 1.3 * both / 2
    expected += 0.6 * unlikeness(masked, output.scores, hidden)
    assert float(changed.loss) == pytest.approx(expected, rel=1e-9)
    assert torch.equal(changed.logits, output.logits)


def test_the_curriculum_hides_more_and_more_up_to_the_largest_rate() -> None:
    plugin = SelfDistillation(SelfDistillationSettings(largest_rate=0.5))
    assert [plugin.rate(step, 100) for step in (0, 10, 49, 50, 99)] == [0, 0.1, 0.49, 0.5, 0.5]
    constant = SelfDistillation(SelfDistillationSettings(largest_rate=0.3, curriculum="constant"))
    assert {constant.rate(step, 100) for step in (0, 10, 99)} == {0.3}


def test_pairs_without_a_relation_are_hidden_at_a_rate_of_their_own() -> None:
    plugin = SelfDistillation(SelfDistillationSettings(unrelated_part=0.5))
    labels = torch.zeros(40_000, 3, dtype=torch.bool)
    labels[:20_000, 1] = True
    torch.manual_seed(0)
    hidden = plugin._hidden(labels, 0.4).double()
    assert float(hidden[:20_000].mean()) == pytest.approx(0.4, abs=0.02)
    assert float(hidden[20_000:].mean()) == pytest.approx(0.2, abs=0.02)


def test_the_mask_vector_is_learned(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    model = reasoning_model(tiny_encoder_path, documents)
    before = model.mask_vector.detach().clone()
    plugin = SelfDistillation(SelfDistillationSettings(curriculum="constant"))
    trainer_of(model, documents, tmp_path, plugin).train()
    assert not torch.equal(model.mask_vector, before)


def test_an_averaged_teacher_follows_the_reasoning_layers_and_adds_its_word(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    model = reasoning_model(tiny_encoder_path, documents).double().eval()
    settings = SelfDistillationSettings(
        curriculum="constant", teacher_decay=0.75, teacher_weight=0.4, cosine_weight=0.6
    )
    plugin, trainer = begun(model, documents, tmp_path, settings)
    layers = model.reasoning
    average = {name: weights.detach().clone() for name, weights in layers.named_parameters()}
    for _ in range(3):
        with torch.no_grad():
            for weights in model.parameters():
                weights.add_(torch.randn_like(weights), alpha=0.05)
        plugin.after_step(trainer, None)  # type: ignore[arg-type]
        for name, weights in layers.named_parameters():
            average[name] = 0.75 * average[name] + 0.25 * weights.detach()
    assert plugin.teacher is not None
    for name, weights in plugin.teacher.named_parameters():
        torch.testing.assert_close(weights, average[name])
        assert not weights.requires_grad
    batch = model.collate(model.prepare(documents))
    with torch.no_grad():
        output = model(batch)
        torch.manual_seed(11)
        changed = plugin.after_forward(trainer, batch, output)
        torch.manual_seed(11)
        hidden = torch.rand(len(batch.labels)) < 0.5
        masked = model.reason_with_hidden(output.scores, hidden)
        model.reasoning = plugin.teacher
        target = model.score(batch)
    expected = float(output.loss + model.rule.loss(masked.logits, batch.labels).mean())
    both = divergence(masked.logits, output.logits) + divergence(output.logits, masked.logits)
    expected += both / 2 + 0.4 * divergence(target.logits, masked.logits)
    expected += 0.6 * unlikeness(masked, target, hidden)
    assert float(changed.loss) == pytest.approx(expected, rel=1e-7)


def test_the_cosine_term_teaches_the_first_branch_only(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    """With everything hidden, the target alone sees the features of the pairs."""
    model = reasoning_model(tiny_encoder_path, documents).eval()
    settings = SelfDistillationSettings(
        curriculum="constant",
        largest_rate=1.0,
        masked_weight=0.0,
        divergence_weight=0.0,
        cosine_weight=1.0,
    )
    plugin, trainer = begun(model, documents, tmp_path, settings)
    batch = model.collate(model.prepare(documents))
    output = model(batch)
    (plugin.after_forward(trainer, batch, output).loss - output.loss).backward()
    assert model.mask_vector.grad is not None
    assert model.mask_vector.grad.abs().sum() > 0
    assert model.bilinear.weight.grad is not None
    assert model.bilinear.weight.grad.abs().max() < 1e-7


@pytest.mark.usefixtures("bfloat16")
def test_both_branches_and_the_teacher_compute_in_the_same_precision(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    model = reasoning_model(tiny_encoder_path, documents)
    kinds: list[torch.dtype] = []
    model.classifier.register_forward_hook(lambda _, __, logits: kinds.append(logits.dtype))
    plugin = SelfDistillation(SelfDistillationSettings(teacher_decay=0.9))
    trainer_of(model, documents, tmp_path, plugin, epochs=1, mixed_precision="bf16").train()
    assert len(kinds) % 3 == 0
    assert set(kinds) == {torch.bfloat16}


class InterruptionError(Exception):
    pass


class Interrupt(Plugin):
    """Stops the training after some steps, as a kill would."""

    def __init__(self, after: int) -> None:
        self.after = after

    def after_step(self, trainer: Trainer, step: Any) -> None:  # noqa: ARG002
        if step.number == self.after:
            raise InterruptionError


def test_a_training_with_a_teacher_goes_on_as_if_nothing_had_happened(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    settings = SelfDistillationSettings(teacher_decay=0.9)
    training = toy_settings(epochs=2, batch_size=2, checkpoint_every_steps=1)
    weights = []
    for folder, interrupted in (("whole", False), ("halves", True)):

        def make(interrupt: Interrupt, output: Path = tmp_path / folder) -> Trainer:
            model = reasoning_model(tiny_encoder_path, documents)
            plugins = (SelfDistillation(settings), interrupt)
            return Trainer(model, model.prepare(documents), training, output, None, plugins)

        if interrupted:
            with pytest.raises(InterruptionError):
                make(Interrupt(after=3)).train()
        trainer = make(Interrupt(after=-1))
        trainer.train(resume=interrupted)
        teacher = trainer.plugins[0].state_dict()["teacher"]
        weights.append(
            {**trainer.model.state_dict(), **{f"teacher {n}": v for n, v in teacher.items()}}
        )
    for name, value in weights[0].items():
        assert torch.equal(weights[1][name], value), name


def test_self_distillation_needs_a_model_that_reasons(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    for model in (
        plain_model(tiny_encoder_path, documents),
        reasoning_model(tiny_encoder_path, documents, layers=0),
    ):
        plugin = SelfDistillation(SelfDistillationSettings())
        with pytest.raises(RecipeError, match="docre_sd"):
            trainer_of(model, documents, tmp_path, plugin).train()


# --- R-Drop ----------------------------------------------------------------------------------


def plugin_named(name: str, **settings: Any) -> Plugin:
    return make_plugins({name: settings})[0]


@pytest.mark.parametrize("make", [plain_model, reasoning_model])
def test_r_drop_is_the_mean_of_two_losses_and_their_divergence(
    make: Any, tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    model = make(tiny_encoder_path, documents).double().train()
    plugin = plugin_named("r_drop", weight=0.8)
    trainer = trainer_of(model, documents, tmp_path, plugin)
    plugin.on_start(trainer)
    batch = model.collate(model.prepare(documents))
    with torch.no_grad():
        torch.manual_seed(1)
        first = model(batch)
        torch.manual_seed(2)
        second = model(batch)
        torch.manual_seed(2)
        changed = plugin.after_forward(trainer, batch, first)
    both = divergence(first.logits, second.logits) + divergence(second.logits, first.logits)
    assert both > 0
    expected = float(first.loss + second.loss) / 2 + 0.8 * both / 2
    assert float(changed.loss) == pytest.approx(expected, rel=1e-9)


def test_r_drop_behind_a_plug_in_that_changes_the_loss_is_refused(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    model = reasoning_model(tiny_encoder_path, documents)
    plugins = make_plugins({"self_distillation": {}, "r_drop": {}})
    examples, settings = model.prepare(documents), toy_settings(epochs=1)
    trainer = Trainer(model, examples, settings, tmp_path, plugins=plugins)
    with pytest.raises(RecipeError, match=r"in front of \[plugins.self_distillation\]"):
        plugins[1].on_start(trainer)
    plugins[1].on_start(Trainer(model, examples, settings, tmp_path, plugins=plugins[::-1]))


# --- distillation ----------------------------------------------------------------------------


def test_distillation_adds_the_divergence_from_the_saved_teacher(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    teacher = reasoning_model(tiny_encoder_path, documents)
    teacher.save_pretrained(tmp_path / "teacher")
    model = plain_model(tiny_encoder_path, documents, seed=8).eval()
    plugin = plugin_named(
        "distillation", teacher=str(tmp_path / "teacher"), weight=0.5, temperature=2.0
    )
    trainer = trainer_of(model, documents, tmp_path, plugin)
    plugin.on_start(trainer)
    batch = model.collate(model.prepare(documents))
    with torch.no_grad():
        output = model(batch)
        changed = plugin.after_forward(trainer, batch, output)
        target = teacher.eval().score(batch).logits
    expected = float(output.loss) + 0.5 * 4 * divergence(target / 2, output.logits / 2)
    assert float(changed.loss) == pytest.approx(expected, rel=1e-4)


def test_the_teacher_says_nothing_of_what_people_have_decided(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    plain_model(tiny_encoder_path, documents, seed=7).save_pretrained(tmp_path / "teacher")
    model = plain_model(tiny_encoder_path, documents, seed=8).eval()
    plugin = plugin_named("distillation", teacher=str(tmp_path / "teacher"))
    trainer = trainer_of(model, documents, tmp_path, plugin)
    plugin.on_start(trainer)
    lesson = next(document for document in documents if len(document.relations) > 1)
    stated, denied = lesson.relations[:2]
    lesson = lesson.replace(relations=(stated,), denied=(denied,), annotated=())
    batch = model.collate(model.prepare([lesson, documents[0]]))
    with torch.no_grad():
        output = model(batch)
        changed = plugin.after_forward(trainer, batch, output)
        target = plugin.teacher(batch).logits
    own = len(list(lesson.pairs()))
    decided = [
        {model.relations.index(fact.type) + 1 for fact in (stated, denied) if ends == pair_of(fact)}
        for ends in zip(batch.pair_head.tolist(), batch.pair_tail.tolist(), strict=True)
    ]
    decided[own:] = [set()] * (len(decided) - own)  # all is known of the other document
    total = 0.0
    for row, said, left_out in zip(target, output.logits, decided, strict=True):
        kept = [number for number in range(len(row)) if number not in left_out]
        total += divergence(row[kept][None], said[kept][None])
    expected = float(output.loss) + total / len(decided)
    assert sum(map(len, decided)) == 2
    assert float(changed.loss) == pytest.approx(expected, rel=1e-4)


def pair_of(fact: Relation) -> tuple[int, int]:
    return fact.head, fact.tail


def test_a_student_comes_closer_to_its_teacher(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    teacher = plain_model(tiny_encoder_path, documents, seed=1)
    teacher.save_pretrained(tmp_path / "teacher")
    student = plain_model(tiny_encoder_path, documents, seed=8)
    batch = student.collate(student.prepare(documents))

    @torch.no_grad()
    def distance() -> float:
        return divergence(teacher.eval()(batch).logits, student.eval()(batch).logits)

    before = distance()
    plugin = plugin_named("distillation", teacher=str(tmp_path / "teacher"), weight=100.0)
    trainer_of(student, documents, tmp_path / "run", plugin, epochs=15).train()
    assert distance() < before / 2


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"marker": "#"}, "marker"), ({"threshold": "global"}, "threshold")],
)
def test_a_teacher_that_sees_something_else_is_refused(
    tiny_encoder_path: Path,
    documents: list[Document],
    tmp_path: Path,
    changes: dict[str, str],
    named: str,
) -> None:
    plain_model(tiny_encoder_path, documents, **changes).save_pretrained(tmp_path / "teacher")
    student = plain_model(tiny_encoder_path, documents)
    plugin = plugin_named("distillation", teacher=str(tmp_path / "teacher"))
    with pytest.raises(RecipeError, match=named):
        trainer_of(student, documents, tmp_path / "run", plugin).train()


@pytest.mark.usefixtures("bfloat16")
def test_a_saved_teacher_computes_in_the_precision_of_the_training(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    plain_model(tiny_encoder_path, documents, seed=1).save_pretrained(tmp_path / "teacher")
    plugin: Any = plugin_named("distillation", teacher=str(tmp_path / "teacher"))
    model = plain_model(tiny_encoder_path, documents)
    trainer = trainer_of(model, documents, tmp_path / "run", plugin, mixed_precision="bf16")
    plugin.on_start(trainer)
    kinds: list[torch.dtype] = []
    layer = next(part for part in plugin.teacher.modules() if isinstance(part, nn.Linear))
    layer.register_forward_hook(lambda _, __, found: kinds.append(found.dtype))
    batch = model.collate(model.prepare(documents))
    plugin.after_forward(trainer, batch, model(batch))
    assert set(kinds) == {torch.bfloat16}


@pytest.mark.parametrize("named", ["window", "special tokens"])
def test_a_teacher_that_cannot_read_the_students_windows_is_refused(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path, named: str
) -> None:
    teacher, student = (plain_model(tiny_encoder_path, documents) for _ in range(2))
    if named == "window":
        teacher.encoder.window = student.encoder.window - 8
    else:
        special = student.encoder.special
        student.encoder.special = replace(special, after=())
    teacher.save_pretrained(tmp_path / "teacher")
    plugin = plugin_named("distillation", teacher=str(tmp_path / "teacher"))
    with pytest.raises(RecipeError, match=named):
        trainer_of(student, documents, tmp_path / "run", plugin).train()


def test_a_teacher_of_other_relations_is_refused(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path
) -> None:
    fewer = [document.replace(relations=document.relations[:1]) for document in documents]
    plain_model(tiny_encoder_path, fewer).save_pretrained(tmp_path / "teacher")
    student = plain_model(tiny_encoder_path, documents)
    plugin = plugin_named("distillation", teacher=str(tmp_path / "teacher"))
    with pytest.raises(RecipeError, match="relations"):
        trainer_of(student, documents, tmp_path / "run", plugin).train()


@pytest.mark.parametrize("name", ["r_drop", "distillation"])
def test_other_models_are_refused(name: str, tmp_path: Path) -> None:
    settings = {"teacher": "nowhere"} if name == "distillation" else {}
    plugin = plugin_named(name, **settings)
    trainer = Trainer(
        ToyModel(), toy_examples(4), toy_settings(epochs=1), tmp_path, plugins=(plugin,)
    )
    with pytest.raises(RecipeError, match="ToyModel"):
        trainer.train()
