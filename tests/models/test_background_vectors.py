"""Vectors made by another process: training neither waits for it nor reads half of them."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from open_examples import corpus_file, documents, far_apart

from factloom.answers import background_vectors
from factloom.answers.background_vectors import BackgroundVectors, write_whole
from factloom.answers.realm_pretraining import RealmPretraining, RealmPretrainingSettings
from factloom.encoders.encoder import Encoder
from factloom.errors import RecipeError
from factloom.training.plugin import Plugin
from factloom.training.plugins import make_plugins
from factloom.training.settings import TrainingSettings
from factloom.training.step import Step
from factloom.training.trainer import Trainer

# A process that is at work until it is ended, or a file says that it may write its vectors.
SLOW = """
import sys, time, pathlib, numpy
folder, step = pathlib.Path(sys.argv[1]), sys.argv[2]
part = folder / f"vectors-{step}.part"
part.write_bytes(b"half of")
for _ in range(1200):
    if (folder / "go").exists():
        from factloom.answers.background_vectors import write_whole
        write_whole(folder / f"vectors-{step}.npy", numpy.full((4, 16), float(step), "float32"))
        break
    time.sleep(0.1)
"""


@pytest.fixture
def model(tiny_encoder_path: Path, tmp_path: Path) -> RealmPretraining:
    settings = RealmPretrainingSettings(corpus=[corpus_file(tmp_path)], vector_width=16, passages=2)
    torch.manual_seed(0)
    return RealmPretraining.from_documents(
        Encoder.load(str(tiny_encoder_path), overlap=16), documents(), settings
    )


@pytest.fixture
def background(model: RealmPretraining, tmp_path: Path) -> BackgroundVectors:
    found = model.background_vectors(tmp_path / "index")
    found.prepare()
    return found


def wait(background: BackgroundVectors) -> None:
    assert background.process is not None
    background.process.wait(timeout=600)


def test_another_process_makes_the_vectors_of_the_weights_as_they_were(
    model: RealmPretraining, background: BackgroundVectors
) -> None:
    far_apart(model)
    model.float()
    embedder = model.retriever.passages
    expected = embedder.encode(model.corpus.tokens(embedder))
    assert background.begin(step=7)
    with torch.no_grad():
        embedder.projection.weight.mul_(3)  # training goes on
    wait(background)
    assert background.failure() is None
    assert background.take() == 7
    assert background.take() is None
    np.testing.assert_allclose(model.corpus.vectors(embedder).numpy(), expected, atol=1e-5)
    fresh = model.corpus.vectors(embedder, fresh=True).numpy()
    np.testing.assert_allclose(fresh, 3 * expected, atol=1e-4)


class Watch(Plugin):
    """What the corpus was searched by in each step, and whether a process was at work."""

    def __init__(self, background: list[BackgroundVectors]) -> None:
        self.background = background
        self.working: list[bool] = []
        self.vectors: list[float] = []

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        (background,) = self.background
        self.working.append(background.running)
        self.vectors.append(float(background.corpus.vectors(background.embedder)[0, 0]))
        if len(self.working) == 4:  # from here on it may go on, and is waited for by this test
            (background.folder / "go").touch()
            wait(background)


def test_training_goes_on_with_the_old_vectors_while_new_ones_are_made(
    model: RealmPretraining, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    monkeypatch.setattr(background_vectors, "COMMAND", (sys.executable, str(script)))
    made: list[BackgroundVectors] = []
    original = model.background_vectors
    model.background_vectors = lambda folder: made.append(original(folder)) or made[0]  # type: ignore
    watch = Watch(made)
    settings = TrainingSettings(steps=6, batch_size=2, learning_rates={"": 1e-3})
    plugins = [*make_plugins({"index_renewal": {"every": 1}}), watch]
    examples = model.prepare(documents())
    Trainer(model, examples, settings, tmp_path / "run", plugins=plugins).train()
    # four steps are done while the first process is at work, by the vectors of the beginning
    assert watch.working[:4] == [True] * 4
    assert len(set(watch.vectors[:4])) == 1
    # the next step takes what is whole, which was begun behind the first step
    assert watch.vectors[4] == 1.0
    assert not made[0].running


def test_what_is_half_written_is_not_seen(background: BackgroundVectors) -> None:
    whole = np.ones((4, 16), np.float32)
    path = background.folder / "vectors-3.npy"
    write_whole(path, whole)
    half = path.read_bytes()[:-40]
    path.unlink()
    path.with_suffix(".part").write_bytes(half)  # a process that was killed has left it
    assert background.take() is None
    write_whole(path, whole)
    assert background.take() == 3
    assert float(background.corpus.vectors(background.embedder)[3, 15]) == 1.0
    write_whole(background.folder / "vectors-9.npy", 2 * whole)
    assert background.take() == 9
    assert not path.exists()


def test_a_process_that_fails_is_told_once_and_the_old_vectors_stay(
    background: BackgroundVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (sys.executable, "-c", "raise ValueError('no more room')")
    monkeypatch.setattr(background_vectors, "COMMAND", broken)
    before = background.corpus.vectors(background.embedder)
    assert background.begin(1)
    wait(background)
    assert background.take() is None
    assert background.failure() == "ValueError: no more room"
    assert background.failure() is None
    assert background.corpus.vectors(background.embedder).equal(before)
    assert background.begin(2)  # the next one is tried


def test_one_process_is_at_work_at_a_time_and_ends_with_the_training(
    background: BackgroundVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = (sys.executable, "-c", "import time; time.sleep(60)")
    monkeypatch.setattr(background_vectors, "COMMAND", slow)
    assert background.begin(1)
    assert not background.begin(2)
    begun = time.monotonic()
    background.stop()
    assert not background.running
    assert time.monotonic() - begun < 50


def test_a_model_without_such_vectors_is_told(tiny_encoder_path: Path, tmp_path: Path) -> None:
    from factloom.models.reader import Reader

    reader = Reader(Encoder.load(str(tiny_encoder_path)))
    settings = TrainingSettings(steps=1, batch_size=2)
    asked = [one for one in reader.prepare(documents()) if one.terms]
    plugins = make_plugins({"index_renewal": {}})
    trainer = Trainer(reader, asked, settings, tmp_path / "run", plugins=plugins)
    with pytest.raises(RecipeError, match="nothing-to-renew"):
        trainer.train()
