"""A training that is killed and resumed ends with the very weights of one that is not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toy_model import Interrupt, ToyModel, last_weights, negative_error, toy_examples, toy_settings

from factloom.errors import InputError, RecipeError
from factloom.training.progress import TrainingResult
from factloom.training.trainer import Trainer

PROGRAM = Path(__file__).parent / "killed_training.py"
LAST = Path("checkpoints") / "step-00000048"


def train(output: Path, *, resume: bool, stop: int = -1, **changes: Any) -> TrainingResult:
    settings = toy_settings(**changes)
    plugins = [Interrupt(stop)]
    trainer = Trainer(
        ToyModel(dropout=0.2), toy_examples(12), settings, output, negative_error, plugins
    )
    return trainer.train(resume=resume)


def interrupt(output: Path, stop: int, **changes: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(output, resume=False, stop=stop, **changes)


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def recorded(output: Path) -> list[tuple[int, bool]]:
    records = map(json.loads, (output / "metrics.jsonl").read_text().splitlines())
    return [(record["step"], "validation" in record) for record in records]


@pytest.fixture(scope="module", params=["bucketed", "contiguous", "stream"])
def killed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, int]]:
    output = tmp_path_factory.mktemp("killed")
    command = [sys.executable, str(PROGRAM), str(output), request.param]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output, json.loads(done.stdout)


@pytest.mark.parametrize("way", ["files", "moments"])
def test_weights_after_kills_equal_those_of_an_undisturbed_training(
    killed: tuple[Path, dict[str, int]], way: str
) -> None:
    output, kills = killed
    assert kills[way] >= 3
    for name in ("model.safetensors", "training.safetensors"):
        expected = (output / "undisturbed" / LAST / name).read_bytes()
        assert (output / way / LAST / name).read_bytes() == expected
    assert contents(output / way / "best") == contents(output / "undisturbed" / "best")


@pytest.mark.parametrize("way", ["files", "moments"])
def test_kills_leave_no_record_twice_and_no_half_written_directory(
    killed: tuple[Path, dict[str, int]], way: str
) -> None:
    output, _ = killed
    assert recorded(output / way) == recorded(output / "undisturbed")
    assert [path for path in (output / way).rglob("*") if path.suffix in (".new", ".old")] == []


def test_resuming_without_a_checkpoint_starts_from_the_beginning(tmp_path: Path) -> None:
    train(tmp_path / "plain", resume=False)
    train(tmp_path / "resumed", resume=True)
    expected, weights = last_weights(tmp_path / "plain"), last_weights(tmp_path / "resumed")
    assert all(weights[name].equal(expected[name]) for name in expected)


def test_resuming_a_finished_training_returns_its_result(tmp_path: Path) -> None:
    first = train(tmp_path, resume=False)
    files = contents(tmp_path / "best")
    again = train(tmp_path, resume=True)
    assert (again.best_score, again.best_epoch, again.steps) == (
        first.best_score,
        first.best_epoch,
        first.steps,
    )
    assert contents(tmp_path / "best") == files


def test_starting_anew_over_an_earlier_training_is_refused(tmp_path: Path) -> None:
    interrupt(tmp_path, stop=5)
    with pytest.raises(InputError, match="earlier training") as error:
        train(tmp_path, resume=False)
    assert error.value.code == "training-exists"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 1}, "training.seed was 42 and is 1"),
        ({"learning_rates": {"": 1e-3}}, "training.learning_rates was {'': 0.01}"),
        ({"batch_size": 3}, "training.batch_size was 4 and is 3"),
    ],
)
def test_resuming_with_other_settings_is_refused_and_says_which(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    interrupt(tmp_path, stop=5)
    with pytest.raises(RecipeError, match="another training") as error:
        train(tmp_path, resume=True, **changes)
    assert told in str(error.value)


def test_resuming_with_other_documents_is_refused(tmp_path: Path) -> None:
    interrupt(tmp_path, stop=5)
    others = toy_examples(12, seed=9)
    trainer = Trainer(ToyModel(), others, toy_settings(), tmp_path, plugins=[Interrupt(-1)])
    with pytest.raises(RecipeError, match="examples was"):
        trainer.train(resume=True)


def test_patience_and_checkpoint_settings_may_change_on_resume(tmp_path: Path) -> None:
    interrupt(tmp_path, stop=5)
    result = train(tmp_path, resume=True, patience=7, keep=2, log_every=1, checkpoint_every_steps=2)
    assert result.epochs == 3


def test_a_broken_checkpoint_is_one_clear_error(tmp_path: Path) -> None:
    interrupt(tmp_path, stop=5)
    broken = max((tmp_path / "checkpoints").iterdir()) / "training.safetensors"
    broken.write_bytes(broken.read_bytes()[:100])
    with pytest.raises(InputError) as error:
        train(tmp_path, resume=True)
    assert error.value.code == "broken-checkpoint"


@pytest.mark.parametrize("file", ["model.safetensors", "training.safetensors", "training.json"])
def test_a_flipped_byte_is_noticed_and_the_checkpoint_before_goes_on(
    tmp_path: Path, file: str
) -> None:
    train(tmp_path / "whole", resume=False)
    output = tmp_path / "flipped"
    interrupt(output, stop=7, keep=2)
    before, damaged = sorted((output / "checkpoints").iterdir())
    content = bytearray((damaged / file).read_bytes())
    content[-40] ^= 1
    (damaged / file).write_bytes(content)
    with pytest.raises(InputError, match="from the checkpoint before it") as error:
        train(output, resume=True)
    assert error.value.code == "broken-checkpoint"
    assert damaged.name in str(error.value)
    shutil.rmtree(damaged)
    train(output, resume=True, keep=2)
    assert not before.exists()
    expected, weights = last_weights(tmp_path / "whole"), last_weights(output)
    assert all(weights[name].equal(expected[name]) for name in expected)


@pytest.mark.parametrize(
    ("edited", "code"),
    [
        ("[]", "broken-checkpoint"),
        ("3", "broken-checkpoint"),
        ("{}", "broken-checkpoint"),
        ("{]", "broken-checkpoint"),
        ('{"version": 2}', "broken-checkpoint"),
        ('{"version": 1}', "checkpoint-version"),
        (None, "broken-checkpoint"),
    ],
)
def test_an_edited_checkpoint_is_one_clear_error(
    tmp_path: Path, edited: str | None, code: str
) -> None:
    interrupt(tmp_path, stop=5)
    last = max((tmp_path / "checkpoints").iterdir())
    if edited is None:
        (last / "SHA256SUMS").unlink()
    else:
        (last / "training.json").write_text(edited)
    with pytest.raises(InputError) as error:
        train(tmp_path, resume=True)
    assert error.value.code == code


def test_what_others_put_beside_checkpoints_is_left_alone(tmp_path: Path) -> None:
    interrupt(tmp_path, stop=5)
    for stray in ("step-1.tmp", "step-backup", "step-00000009.zip"):
        (tmp_path / "checkpoints" / stray).write_text("mine")
    (tmp_path / "metrics.jsonl").write_text('3\n[]\n{"loss": 1}\n')
    assert train(tmp_path, resume=True).epochs == 3
    assert (tmp_path / "checkpoints" / "step-1.tmp").read_text() == "mine"


def test_the_last_checkpoints_are_kept(tmp_path: Path) -> None:
    train(tmp_path, resume=False, keep=2, checkpoint_every_steps=2)
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["step-00000008", "step-00000009"]  # 9 steps in all


def test_checkpoints_may_be_rarer_than_epochs(tmp_path: Path) -> None:
    train(tmp_path, resume=False, epochs=5, keep=9, checkpoint_every_epochs=2)
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["step-00000006", "step-00000012", "step-00000015"]
