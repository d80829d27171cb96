"""`factloom train`: a recipe becomes a model; killed and resumed, it becomes the same model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import factloom
from factloom import cli, formats
from factloom.document import Document
from factloom.errors import InputError, RecipeError
from factloom.evaluation.relations import evaluate

RECIPE = """
[model]
kind = "atlop"
block_size = 8
evidence_weight = 1.0

[encoder]
name = "{encoder}"

[data]
train = ["{folder}/train.jsonl"]
development = ["{folder}/dev.jsonl"]

[training]
epochs = 3
batch_size = 2
learning_rates = {{ encoder = 1e-3, "" = 3e-3 }}
checkpoint_every_steps = 1
"""

# Runs the command line, and kills itself as it begins the step that is named first.
KILLED = """
import os, signal, sys
from factloom.cli import main
from factloom.training.trainer import Trainer

number, train_step = int(sys.argv.pop(1)), Trainer._train_step

def deadly(trainer, step):
    if step.number == number:
        os.kill(os.getpid(), signal.SIGKILL)
    train_step(trainer, step)

Trainer._train_step = deadly
main()
"""


@pytest.fixture(scope="module")
def recipe(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("recipe")
    formats.write(profiles[:4], folder / "train.jsonl")
    formats.write(profiles[4:6], folder / "dev.jsonl")
    path = folder / "tiny.toml"
    path.write_text(RECIPE.format(encoder=tiny_encoder_path, folder=folder))
    return path


@pytest.fixture(scope="module")
def finished(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """An undisturbed training and what the command said."""
    output = tmp_path_factory.mktemp("runs") / "tiny"
    result = run(recipe, "--output", output)
    assert result.exit_code == 0, result.exception
    return output, result


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, ["train", *(str(argument) for argument in arguments)])


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_training_leaves_a_model_results_and_a_line_to_copy(
    finished: tuple[Path, Result], profiles: list[Document]
) -> None:
    output, result = finished
    results = json.loads((output / "results.json").read_text())
    scores = results["development"]
    report = evaluate(profiles[4:6], factloom.load(output / "best")(profiles[4:6]))
    assert (scores["f1"], scores["precision"]) == (report.f1, report.precision)
    assert f"development: f1 {100 * scores['f1']:.1f}" in result.stdout
    assert f"model: {output / 'best'}" in result.stdout
    assert results["training"]["steps"] == 6
    assert len((output / "metrics.jsonl").read_text().splitlines()) >= 6


def test_a_killed_training_resumes_to_the_same_model_bit_for_bit(
    recipe: Path, finished: tuple[Path, Result], tmp_path: Path
) -> None:
    output = tmp_path / "killed"
    arguments = ["train", str(recipe), "--output", str(output)]
    command = [sys.executable, "-c", KILLED, "4", *arguments]
    killed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert killed.returncode == -9, killed.stderr
    assert not (output / "results.json").exists()
    resumed = run(recipe, "--output", output, "--resume")
    assert resumed.exit_code == 0, resumed.exception
    undisturbed, _ = finished
    last = Path("checkpoints") / "step-00000006"
    for name in ("model.safetensors", "training.safetensors"):
        assert (output / last / name).read_bytes() == (undisturbed / last / name).read_bytes()
    assert files(output / "best") == files(undisturbed / "best")
    scores = [
        json.loads((folder / "results.json").read_text())["development"]
        for folder in (output, undisturbed)
    ]
    assert scores[0] == scores[1]


def test_resuming_a_finished_training_measures_it_again(
    recipe: Path, finished: tuple[Path, Result]
) -> None:
    output, first = finished
    before = files(output / "best")
    again = run(recipe, "--output", output, "--resume")
    assert again.exit_code == 0, again.exception
    assert files(output / "best") == before
    lines = [line for line in first.stdout.splitlines() if line.startswith("development")]
    assert lines[0] in again.stdout


def test_an_output_that_holds_a_training_is_not_overwritten(
    recipe: Path, finished: tuple[Path, Result]
) -> None:
    output, _ = finished
    before = files(output / "best")
    result = run(recipe, "--output", output)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "training-exists"
    assert "--resume" in str(result.exception)
    assert files(output / "best") == before


def test_a_training_is_not_resumed_with_other_settings(
    recipe: Path, finished: tuple[Path, Result]
) -> None:
    result = run(recipe, "--output", finished[0], "--resume", "--set", "training.seed=7")
    assert isinstance(result.exception, RecipeError)
    assert result.exception.code == "other-training"
    assert "training.seed was 42 and is 7" in str(result.exception)


def test_settings_are_changed_on_the_command_line_and_the_output_has_the_recipe_s_name(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(recipe, "--set", "training.epochs=1", "--set", "model.pooling=mean")
    assert result.exit_code == 0, result.exception
    best = tmp_path / "runs" / "tiny" / "best"
    assert factloom.load(best).model.settings.pooling == "mean"
    assert factloom.load(best).model.provenance["recipe"]["training"]["epochs"] == 1


def test_a_mistake_is_one_line_and_no_traceback(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["factloom", "train", str(recipe), "--set", "model.kin=3"])
    monkeypatch.setattr("factloom.training.run.Trainer.train", lambda *_, **__: None)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 1
    written = capsys.readouterr()
    (line,) = [line for line in written.err.splitlines() if line.strip()]
    assert line.startswith("error: ")
    assert "kin" in line
    assert str(recipe) in line
