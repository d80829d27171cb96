"""Characters that an encoder does not know get tokens and embeddings of their own."""

from pathlib import Path

import numpy as np
import pytest
import torch
from families import save_family

from factloom.encoders.encoder import Encoder
from factloom.encoders.new_characters import add_characters

TEXTS = ["肺内病变，肺部病变。", "Mara Velden was born in 杭州"]  # 马云出生于杭州。 is known


@pytest.fixture
def encoder(tiny_encoder_path: Path) -> Encoder:
    return Encoder.load(str(tiny_encoder_path), overlap=16).eval()


def tokens_of(encoder: Encoder, text: str) -> list[str]:
    return encoder.tokenizer.convert_ids_to_tokens(encoder.tokenize([text])[0].ids)


def test_unknown_characters_that_come_twice_are_learned(encoder: Encoder) -> None:
    unknown = encoder.tokenizer.unk_token
    assert tokens_of(encoder, "肺病") == [unknown] * 2
    assert add_characters(encoder, TEXTS) == ["变", "病", "肺"]
    assert tokens_of(encoder, "Mara肺病变内") == ["mara", "肺", "病", "变", unknown]
    (tokens,) = encoder.tokenize(["肺 内"])
    assert tokens.offsets.tolist() == [[0, 1], [2, 3]]
    assert add_characters(encoder, TEXTS) == [], "they are known now"


def test_what_was_known_is_read_as_before(encoder: Encoder) -> None:
    known = ["Mara Velden was born.", "马云出生于杭州。"]
    before = encoder.tokenize(known)
    with torch.no_grad():
        states = encoder(encoder.batch([tokens.ids for tokens in before])).states
        add_characters(encoder, TEXTS)
        after = encoder.tokenize(known)
        found = encoder(encoder.batch([tokens.ids for tokens in after])).states
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.offsets, other.offsets)
    assert torch.equal(found, states)


def test_new_characters_have_embeddings_that_differ_and_learn(encoder: Encoder) -> None:
    add_characters(encoder, TEXTS)
    ids = encoder.tokenize(["肺病"])[0].ids
    table = encoder.backbone.get_input_embeddings().weight
    assert not torch.equal(table[ids[0]], table[ids[1]])
    encoder(encoder.batch([ids])).states.square().sum().backward()
    assert table.grad is not None
    assert bool((table.grad[torch.from_numpy(ids)].abs().sum(1) > 0).all())


def test_new_characters_are_saved_with_the_encoder(encoder: Encoder, tmp_path: Path) -> None:
    add_characters(encoder, TEXTS)
    encoder.save(tmp_path)
    loaded = Encoder.from_directory(tmp_path, overlap=16).eval()
    loaded.load_state_dict(encoder.state_dict())
    ids = encoder.tokenize(["肺内病变 Mara"])[0].ids
    assert np.array_equal(loaded.tokenize(["肺内病变 Mara"])[0].ids, ids)
    with torch.no_grad():
        batch = encoder.batch([ids])
        assert torch.equal(loaded(batch).states, encoder(batch).states)


def test_a_tokenizer_of_bytes_has_nothing_to_learn(tmp_path: Path) -> None:
    save_family("RoBERTa", tmp_path)
    encoder = Encoder.load(str(tmp_path), overlap=16)
    size = len(encoder.tokenizer)
    assert add_characters(encoder, TEXTS) == []
    assert len(encoder.tokenizer) == size
