"""Loading an encoder: what it offers, and a clear error for everything that cannot be loaded."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertTokenizerFast, ByT5Tokenizer

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError


@pytest.fixture
def copy(tiny_encoder_path: Path, tmp_path: Path) -> Path:
    """A directory to damage."""
    return shutil.copytree(tiny_encoder_path, tmp_path / "encoder")


@pytest.fixture(scope="module")
def encoder(tiny_encoder_path: Path) -> Encoder:
    return Encoder.load(str(tiny_encoder_path), overlap=16).eval()


def test_offsets_are_half_open_characters_of_the_text(encoder: Encoder) -> None:
    text = "Mara was born, 马云 too"
    (tokens,) = encoder.tokenize([text])
    assert tokens.ids.shape == (len(tokens.offsets),)
    pieces = [text[start:end] for start, end in tokens.offsets]
    assert "".join(pieces) == "".join(text.split())
    assert "马" in pieces


def test_texts_without_tokens_have_none(encoder: Encoder) -> None:
    empty, blank = encoder.tokenize(["", "  \n"])
    assert empty.offsets.shape == blank.offsets.shape == (0, 2)
    assert encoder.tokenize([]) == []


def test_a_text_longer_than_the_tokenizer_allows_is_not_cut(encoder: Encoder) -> None:
    (tokens,) = encoder.tokenize(["word " * 1000])
    assert encoder.tokenizer.model_max_length < 1000 <= len(tokens.ids)


def test_an_empty_document_has_the_states_of_its_special_tokens(encoder: Encoder) -> None:
    with torch.no_grad():
        found = encoder(encoder.batch([np.zeros(0, np.int64)]))
    assert found.states.shape == (1, 2, encoder.width)
    assert found.attention.shape[0] == 0


def test_attention_dropout_is_off_unless_asked_for(tiny_encoder_path: Path) -> None:
    plain = Encoder.load(str(tiny_encoder_path), overlap=16)
    assert plain.backbone.config.attention_probs_dropout_prob == 0
    assert plain.backbone.config.hidden_dropout_prob > 0
    chosen = Encoder.load(str(tiny_encoder_path), overlap=16, attention_dropout=0.3)
    assert chosen.backbone.config.attention_probs_dropout_prob == 0.3


def test_every_parameter_has_a_part_in_states_or_attention(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16).train()
    encoder(encoder.batch([np.arange(10, 30)])).states.square().sum().backward()
    assert [name for name, weights in encoder.named_parameters() if weights.grad is None] == []


def test_weights_are_kept_in_single_precision(copy: Path) -> None:
    weights = {name: value.half() for name, value in load_file(copy / "model.safetensors").items()}
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    encoder = Encoder.load(str(copy), overlap=16)
    assert {value.dtype for value in encoder.parameters()} == {torch.float32}


def without_word_embeddings(path: Path) -> None:
    weights = load_file(path / "model.safetensors")
    del weights["embeddings.word_embeddings.weight"]
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})


def with_other_shapes(path: Path) -> None:
    weights = load_file(path / "model.safetensors")
    weights["embeddings.word_embeddings.weight"] = torch.zeros(3, 3)
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})


def with_a_weight_that_is_no_number(path: Path) -> None:
    weights = load_file(path / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][3] = torch.nan
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})


def with_cut_weights(path: Path) -> None:
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def with_pickled_weights(path: Path) -> None:
    torch.save(load_file(path / "model.safetensors"), path / "pytorch_model.bin")
    (path / "model.safetensors").unlink()


def without_tokenizer(path: Path) -> None:
    for file in path.glob("tokenizer*"):
        file.unlink()


def with_unknown_type(path: Path) -> None:
    (path / "config.json").write_text('{"model_type": "abacus"}')


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without_word_embeddings, "lacks some weights, such as embeddings.word_embeddings.weight"),
        (with_other_shapes, "could not be loaded"),
        (with_a_weight_that_is_no_number, "weights embeddings.LayerNorm.bias hold nan"),
        (with_cut_weights, "incomplete"),
        (with_pickled_weights, "no file named model.safetensors"),
        (without_tokenizer, "no vocabulary"),
        (with_unknown_type, "abacus"),
        (lambda path: (path / "tokenizer.json").write_text("{]"), "line 1 column 2"),
        (lambda path: (path / "tokenizer.json").write_text("{}"), "could not be loaded"),
        (lambda path: (path / "config.json").write_text("{]"), "config.json"),
        (lambda path: (path / "config.json").unlink(), "config.json"),
    ],
)
def test_a_damaged_directory_is_told_with_its_name_and_the_way_out(
    copy: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(copy)
    with pytest.raises(ModelError) as caught:
        Encoder.load(str(copy), overlap=16)
    assert caught.value.code == "encoder-not-found"
    for part in (str(copy), said, "all-MiniLM-L6-v2"):
        assert part in str(caught.value)
    assert ".." not in str(caught.value)


def test_a_tokenizer_without_offsets_is_refused(copy: Path) -> None:
    without_tokenizer(copy)
    ByT5Tokenizer().save_pretrained(copy)
    with pytest.raises(ModelError, match="no character offsets") as caught:
        Encoder.load(str(copy), overlap=16)
    assert caught.value.code == "slow-tokenizer"


def test_an_unknown_name_without_a_network_says_what_to_do() -> None:
    with pytest.raises(ModelError) as caught:
        Encoder.load("nobody/no-such-encoder")
    assert caught.value.code == "encoder-not-found"
    for part in ("nobody/no-such-encoder", "config.json, tokenizer.json", "all-MiniLM-L6-v2"):
        assert part in str(caught.value)


def test_special_tokens_come_from_the_tokenizer_not_from_constants(copy: Path) -> None:
    """Here padding is not number 0, and the special tokens have other names."""
    tokenizer = BertTokenizerFast.from_pretrained(copy)
    words = [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    renamed = {"[CLS]": "<start>", "[SEP]": "<stop>", "[PAD]": "<nothing>"}
    order = [renamed.get(word, word) for word in reversed(words)]
    BertTokenizerFast(
        vocab={word: index for index, word in enumerate(order)},
        cls_token="<start>",
        sep_token="<stop>",
        pad_token="<nothing>",
    ).save_pretrained(copy)
    encoder = Encoder.load(str(copy), overlap=16)
    before, after = order.index("<start>"), order.index("<stop>")
    assert (encoder.special.before, encoder.special.after) == ((before,), (after,))
    batch = encoder.batch([np.array([7, 8, 9]), np.array([7])])
    assert batch.token_ids[1].tolist() == [before, 7, after, *[order.index("<nothing>")] * 2]
    assert batch.mask.tolist() == [[1] * 5, [1, 1, 1, 0, 0]]
