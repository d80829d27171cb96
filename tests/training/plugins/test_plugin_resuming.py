"""With every plug-in, an interrupted and resumed training ends with the very same weights."""

from pathlib import Path
from typing import Any

import pytest
from mention_typing import TRAIN, Failing, MentionTyping, accuracy, trainer_of
from toy_model import last_weights

from factloom.errors import RecipeError

PLUGINS: dict[str, dict[str, dict[str, Any]]] = {
    "fgm": {"fgm": {}},
    "fgsm": {"fgsm": {}},
    "pgd": {"pgd": {"steps": 2}},
    "vat": {"vat": {"epsilon": 2.0, "unlabelled": [str(TRAIN)]}},
    "swa": {"swa": {"start": 0.4, "rate": 0.5}},
    "swa in cycles": {"swa": {"start": 0.2, "cycle": 4, "first_rate": 0.9}},
    "several": {"swa": {"start": 0.4}, "vat": {}, "fgm": {"epsilon": 3.0}},
}
PASSES = {"fgm": 4, "fgsm": 4, "pgd": 6, "vat": 2, "swa": 2, "swa in cycles": 2, "several": 4}


def train(output: Path, tables: dict[str, Any], *, stop: int = -1, resume: bool = False) -> None:
    """Three epochs of four steps, each of two batches; interrupted in pass number `stop`."""
    model = MentionTyping(dropout=0.2)
    failing = Failing(stop, KeyboardInterrupt)
    trainer_of(
        output,
        tables,
        failing,
        model=model,
        validate=lambda model: {"f1": accuracy(model)},
        train=16,
        epochs=3,
        batch_size=2,
        accumulation=2,
        checkpoint_every_steps=3,
    ).train(resume=resume)


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("name", PLUGINS)
def test_interrupted_and_resumed_it_ends_with_the_same_weights(tmp_path: Path, name: str) -> None:
    tables = PLUGINS[name]
    train(tmp_path / "undisturbed", tables)
    output = tmp_path / "interrupted"
    for _ in range(2):  # in the fifth step, then in the fifth behind a checkpoint: the last pass
        with pytest.raises(KeyboardInterrupt):
            train(output, tables, stop=5 * PASSES[name], resume=True)
    train(output, tables, resume=True)
    expected, found = last_weights(tmp_path / "undisturbed"), last_weights(output)
    assert [key for key in expected if not found[key].equal(expected[key])] == []
    assert contents(output / "best") == contents(tmp_path / "undisturbed" / "best")


@pytest.mark.parametrize("name", ["fgm", "pgd", "vat", "swa"])
def test_each_makes_a_difference(tmp_path: Path, name: str) -> None:
    train(tmp_path / "plain", {})
    train(tmp_path / "plugin", PLUGINS[name])
    plain, changed = last_weights(tmp_path / "plain"), last_weights(tmp_path / "plugin")
    assert not plain["words.weight"].equal(changed["words.weight"])


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"fgm": {"epsilon": 0.5}}, "epsilon=0.5"),
        ({"fgsm": {}}, "FastGradientSignMethod"),
        ({}, "FastGradientMethod"),
        ({"vat": {}, "fgm": {}}, "VirtualAdversarialTraining"),
    ],
)
def test_resuming_with_other_plugins_or_settings_is_refused(
    tmp_path: Path, tables: dict[str, Any], told: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, {"fgm": {}}, stop=24)
    with pytest.raises(RecipeError, match="another training") as caught:
        train(tmp_path, tables, resume=True)
    assert told in str(caught.value)
    train(tmp_path, {"fgm": {}}, resume=True)
