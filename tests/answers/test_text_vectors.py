"""Vectors of texts: the mean of the states of a text that is read alone, of length 1."""

from pathlib import Path

import numpy as np
import pytest
import torch

from factloom.answers.text_vectors import TextVectors

TEXTS = ["Mara Velden was born in Torvik.", "Quillmark", "the company " * 30]


def test_a_vector_is_the_mean_of_the_states_whatever_is_read_beside_it(
    tiny_encoder_path: Path,
) -> None:
    texts = TextVectors(str(tiny_encoder_path))
    found = texts.encode(TEXTS)
    assert found.shape == (3, texts.width)
    for text, vector in zip(TEXTS, found, strict=True):
        encoder = texts.reader.encoder
        (tokens,) = encoder.tokenize([text])
        with torch.inference_mode():
            states = encoder.states(encoder.batch([tokens.ids]))[0].numpy()
        mean = states.mean(axis=0)
        assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_an_encoder_is_loaded_when_it_is_needed() -> None:
    assert TextVectors("no such encoder").name == "no such encoder"


def test_no_texts_have_no_vectors(tiny_encoder_path: Path) -> None:
    assert len(TextVectors(str(tiny_encoder_path)).encode([])) == 0
