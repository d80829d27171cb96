"""What a training writes and shows."""

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console
from toy_model import ToyModel, negative_error, toy_examples, toy_settings

from factloom.training.curves import draw_curves, smoothed
from factloom.training.progress import duration
from factloom.training.reporting import (
    BarDisplay,
    LineDisplay,
    Reporter,
    StepReport,
    ValidationReport,
)
from factloom.training.trainer import Trainer


@pytest.fixture(autouse=True)
def no_drawing() -> None:
    """Here the pictures are wanted."""


def report(step: int, loss: float = 0.5, seconds: float = 0.5) -> StepReport:
    return StepReport(step, 1, loss, 5e-5, 1.5, documents=4, tokens=40, seconds=seconds)


def records(output: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]


def lines_console() -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, force_terminal=False, width=80), text


def reporter(output: Path) -> Reporter:
    console, _ = lines_console()
    return Reporter(output, "f1", LineDisplay(console, total=10, epochs=1, every=100))


def test_a_training_leaves_metrics_curves_events_and_log_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = toy_settings(epochs=2, log_every=2)
    trainer = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, negative_error)
    result = trainer.train()
    made = records(tmp_path)
    assert [(r["step"], r["epoch"]) for r in made if "loss" in r] == [
        *((1, 1), (2, 1), (3, 1)),
        *((4, 2), (5, 2), (6, 2)),
    ]
    assert made[0].keys() == {
        *("step", "epoch", "loss", "learning_rate", "gradient_norm"),
        *("documents_per_second", "tokens_per_second"),
    }
    assert [(r["step"], r["epoch"]) for r in made if "validation" in r] == [(3, 1), (6, 2)]
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert list((tmp_path / "tensorboard").iterdir())
    shown = capsys.readouterr().err
    assert "epoch 1/2 step 2/6 loss" in shown
    assert shown.rstrip().splitlines()[-1] == str(result)


def test_without_a_terminal_a_line_comes_every_so_many_steps() -> None:
    console, text = lines_console()
    display = LineDisplay(console, total=10, epochs=1, every=4)
    display.begin(0)
    for step in range(1, 11):
        display.step(report(step, loss=step), "f1 0.4000")
    lines = text.getvalue().splitlines()
    assert [line.split(" loss ")[0] for line in lines] == [
        f"epoch 1/1 step {step}/10" for step in (4, 8, 10)
    ]
    # the mean of the steps since the last line: 5, 6, 7, 8
    assert (
        " loss 6.5000 lr 5.00e-05 8.0 documents/s 80 tokens/s remaining 0:00:00 f1 0.4000"
        in lines[1]
    )


def test_a_terminal_shows_a_bar_with_rate_loss_and_score() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=140)
    display = BarDisplay(console, total=10, epochs=3)
    display.begin(2)
    display.step(report(3), "f1 0.4000")
    display.message("epoch 1 validation")
    display.close()
    shown = text.getvalue()
    for part in ("epoch 1/3", "3/10 steps", "loss 0.5000", "8.0 documents/s", "f1 0.4000"):
        assert part in shown
    assert "epoch 1 validation" in shown


def test_records_behind_the_checkpoint_are_cut_off_on_resume(tmp_path: Path) -> None:
    first = reporter(tmp_path)
    first.begin(0)
    for step in (1, 2):
        first.step(report(step))
    first.validation(ValidationReport(2, 1, {"f1": 0.5}, True, 1.0))
    first.step(report(3))
    first.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')  # a kill in the middle of a line
    second = reporter(tmp_path)
    second.begin(2)
    second.step(report(3))
    second.close()
    steps = [(record["step"], "validation" in record) for record in records(tmp_path)]
    assert steps == [(1, False), (2, False), (2, True), (3, False)]


def test_missing_extras_are_told_once_and_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    console, text = lines_console()
    made = Reporter(tmp_path, "f1", LineDisplay(console, total=10, epochs=1, every=100))
    made.begin(0)
    made.step(report(1))
    made.draw_now_and_then()
    made.draw_now_and_then()
    made.end("done")
    made.close()
    assert text.getvalue().splitlines() == [
        "no TensorBoard events: install factloom[tensorboard] to have them",
        "no curves.png: install factloom[plots] to have it",
        "done",
    ]
    assert len(records(tmp_path)) == 1


def test_curves_are_drawn_without_a_validation_and_without_any_step(tmp_path: Path) -> None:
    metrics, picture = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    for content in ("", '{"step": 1, "loss": 0.5}\n'):
        metrics.write_text(content)
        draw_curves(metrics, picture, "f1")
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_smoothing_keeps_a_constant_and_follows_a_change() -> None:
    assert [value for _, value in smoothed([(1, 3.0), (2, 3.0)])] == pytest.approx([3.0, 3.0])
    values = [value for _, value in smoothed([(step, float(step > 5)) for step in range(100)])]
    assert values == sorted(values)
    assert values[-1] > 0.9


def test_durations_are_hours_minutes_and_seconds() -> None:
    assert [duration(s) for s in (0, 59.6, 3723)] == ["0:00:00", "0:01:00", "1:02:03"]
