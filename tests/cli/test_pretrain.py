"""`factloom pretrain` and `factloom fill`: from plain text to an encoder that fills blanks."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom import cli
from factloom.errors import FactloomError
from factloom.objectives import objective_settings
from factloom.objectives.network import Network
from factloom.objectives.pretraining import Pretraining

RECIPE = """
[objective]
kind = "whole_word"
[encoder]
name = "{encoder}"
window = 32
[data]
text = ["{folder}"]
hold_out = 0.1
[training]
steps = 60
batch_size = 8
learning_rates = {{ "" = 5e-3 }}
validate_every_steps = 30
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def finished(
    tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("texts")
    for number in range(20):
        (folder / f"{number}.txt").write_text("She was born in Torvik and studied at Halden. " * 5)
    (folder / "picture.png").write_bytes(b"\x89PNG\x00")
    recipe = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    recipe.write_text(RECIPE.format(encoder=tiny_encoder_path, folder=folder))
    output = tmp_path_factory.mktemp("runs") / "mine"
    return output, run("pretrain", recipe, "--output", output)


def test_a_pretraining_says_what_it_reached_and_what_it_left_out(
    finished: tuple[Path, Result],
) -> None:
    output, result = finished
    assert result.exit_code == 0, result.exception
    assert "held out: loss " in result.stdout
    assert f"encoder: {output / 'best'}" in result.stdout
    assert "left out: " in result.stderr
    assert "picture.png" in result.stderr


def test_blanks_are_filled_with_what_was_read(finished: tuple[Path, Result]) -> None:
    result = run("fill", "She was [MASK] in Torvik.", "--model", finished[0] / "best", "--most", 2)
    assert result.exit_code == 0, result.exception
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == ["1", "1"]
    assert lines[0][2] == "born"
    assert float(lines[0][1]) > 0.1


def test_blanks_of_any_length_are_filled_where_spans_were_learned(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    network = Network.load(str(tiny_encoder_path), window=64, overlap=0)
    Pretraining(network, "glm", objective_settings("glm")()).save_pretrained(tmp_path / "glm")
    result = run("fill", "She was [MASK] in [MASK].", "--model", tmp_path / "glm", "--most", 2)
    assert result.exit_code == 0, result.exception
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["1", "1", "2", "2"]


@pytest.mark.parametrize(
    ("text", "code"), [("Nothing is hidden.", "no-mask-in-text"), ("[MASK] a" * 999, "text-too")]
)
def test_a_text_that_cannot_be_filled_is_told(
    text: str, code: str, finished: tuple[Path, Result]
) -> None:
    result = run("fill", text, "--model", finished[0] / "best")
    assert isinstance(result.exception, FactloomError)
    assert result.exception.code.startswith(code)


def test_an_encoder_without_a_head_fills_nothing(tiny_encoder_path: Path) -> None:
    result = run("fill", "She was [MASK].", "--model", tiny_encoder_path)
    assert isinstance(result.exception, FactloomError)
    assert result.exception.code == "head-not-trained"
