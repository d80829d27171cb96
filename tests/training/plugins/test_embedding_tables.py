"""Which embedding tables are moved, and that they come back bit for bit whatever happens."""

from pathlib import Path

import pytest
import torch
from adversarial_steps import PARTS, watched_step
from mention_typing import Failing, MentionTyping, trainer_of
from torch import nn

from factloom.encoders.encoder import Encoder
from factloom.errors import RecipeError
from factloom.training.embeddings import (
    embedding_tables,
    gradient_direction,
    restored,
    trainable_tables,
)

ADVERSARIAL = {"fgm": {}, "fgsm": {}, "pgd": {"steps": 3}}


class WithEncoder(nn.Module):
    """A pretrained encoder, and a table of the model's own."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.word_shapes = nn.Embedding(4, 3)
        self.encoder = encoder


@pytest.fixture
def with_encoder(tiny_encoder_path: Path) -> WithEncoder:
    return WithEncoder(Encoder.load(str(tiny_encoder_path)))


def names(model: nn.Module, tables: list[nn.Embedding]) -> list[str]:
    return [name for name, module in model.named_modules() if any(module is t for t in tables)]


def test_of_a_pretrained_encoder_it_is_the_word_embeddings(with_encoder: WithEncoder) -> None:
    found = embedding_tables(with_encoder, None, "fgm")
    assert names(with_encoder, found) == ["encoder.backbone.embeddings.word_embeddings"]


def test_without_an_encoder_it_is_every_table() -> None:
    model = MentionTyping()
    assert names(model, embedding_tables(model, None, "fgm")) == ["words", "spare_words"]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("word_shapes", ["word_shapes"]),
        ("position_embeddings", ["encoder.backbone.embeddings.position_embeddings"]),
        (
            "backbone.embeddings",
            [
                "encoder.backbone.embeddings.word_embeddings",
                "encoder.backbone.embeddings.position_embeddings",
                "encoder.backbone.embeddings.token_type_embeddings",
            ],
        ),
    ],
)
def test_a_setting_names_other_tables(
    with_encoder: WithEncoder, chosen: str, expected: list[str]
) -> None:
    assert names(with_encoder, embedding_tables(with_encoder, chosen, "fgm")) == expected


@pytest.mark.parametrize("chosen", ["word", "shapes", "encoder.word_embeddings", "hidden"])
def test_a_name_that_fits_no_table_is_told_with_those_there_are(
    with_encoder: WithEncoder, chosen: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        embedding_tables(with_encoder, chosen, "pgd")
    assert caught.value.code == "no-embedding-table"
    assert "plugins.pgd.embeddings" in str(caught.value)
    assert "encoder.backbone.embeddings.word_embeddings" in str(caught.value)


def test_a_model_without_any_table_is_told() -> None:
    with pytest.raises(RecipeError, match="its tables: none"):
        embedding_tables(nn.Linear(2, 2), None, "fgm")


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_a_frozen_table_is_told_before_the_first_step(tmp_path: Path, name: str) -> None:
    model = MentionTyping()
    model.words.requires_grad_(False)
    trainer = trainer_of(tmp_path, {name: {"embeddings": "words"}}, model=model)
    with pytest.raises(RecipeError) as caught:
        trainer.train()
    assert caught.value.code == "frozen-embeddings"
    assert f"plugins.{name}.embeddings" in str(caught.value)
    assert trainer.progress.step == 0


def test_only_trained_tables_are_moved() -> None:
    model = MentionTyping()
    model.spare_words.requires_grad_(False)
    (found,) = trainable_tables(model, None, "fgm")
    assert found is model.words.weight


# --- back again ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_weights_are_the_same_bits_after_the_adversarial_passes(tmp_path: Path, name: str) -> None:
    watch = watched_step(tmp_path, {name: ADVERSARIAL[name]})
    for key, value in MentionTyping().double().state_dict().items():
        assert watch.after[key].equal(value), key
    assert len(watch.moves) > 1
    assert not watch.tables[-1].equal(watch.tables[0]), "it was never moved"


@pytest.mark.parametrize("name", ADVERSARIAL)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("call", [PARTS + 1, PARTS + 2])
def test_weights_are_the_same_bits_if_an_adversarial_pass_fails(
    tmp_path: Path, name: str, error: type[BaseException], call: int
) -> None:
    model = MentionTyping()
    sizes = {"batch_size": 2, "accumulation": PARTS, "train": 2 * PARTS}
    failing = Failing(call, error)
    trainer = trainer_of(tmp_path, {name: ADVERSARIAL[name]}, failing, model=model, **sizes)
    with pytest.raises(error, match="in the middle"):
        trainer.train()
    for key, value in MentionTyping().state_dict().items():
        assert model.state_dict()[key].equal(value), key


def test_restored_weights_have_the_same_bits_even_of_odd_numbers() -> None:
    odd = torch.tensor([0.0, -0.0, float("nan"), float("inf"), 1e-45, 0.1])
    weight = nn.Parameter(odd.clone())
    with restored([weight]) as clean, torch.no_grad():
        weight.add_(0.3)
        assert clean[0].view(torch.int32).equal(odd.view(torch.int32))
    assert weight.view(torch.int32).equal(odd.view(torch.int32))


@pytest.mark.parametrize(
    "gradient", [None, [0.0, 0.0], [float("inf"), 1.0], [float("nan"), 1.0]], ids=str
)
def test_without_a_direction_there_is_no_step(gradient: list[float] | None) -> None:
    weight = nn.Parameter(torch.zeros(2))
    weight.grad = None if gradient is None else torch.tensor(gradient)
    assert gradient_direction(weight) is None
