"""Phrases and the relations that they mean."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from factloom.answers.meaning import SentenceVectors
from factloom.answers.senses import SenseFinder
from factloom.text.relation_phrases import SENSES, Sense, Step, senses_of

WORDS = SenseFinder(SENSES)


@pytest.mark.parametrize(
    ("phrase", "step"),
    [
        ("who founded X", "P112"),
        ("what did X found", "-P112"),
        ("which company was founded by X", "-P112"),
        ("where was X born", "P19"),
        ("when was X born", "P569"),
        ("who was born in X", "-P19"),
        ("at which university did X study", "P69"),
        ("who studied at X", "-P69"),
        ("tributaries of X", "-P403"),
        ("into what river does X flow", "P403"),
    ],
)
def test_words_and_their_side_of_x_tell_relation_and_direction(phrase: str, step: str) -> None:
    best = WORDS.find(phrase)[0]
    assert str(best.sense.steps[0]) == step
    assert best.score > 0.5


@pytest.mark.parametrize("sense", SENSES, ids=lambda sense: str(sense.steps[0]))
def test_every_phrase_of_the_table_means_its_own_sense_or_one_that_shares_a_step(
    sense: Sense,
) -> None:
    for phrase in sense.phrases:
        found = WORDS.find(phrase)
        assert found[0].score > 0.9
        likely = [meant.sense for meant in found if meant.score > found[0].score - 1e-9]
        assert any(set(one.steps) & set(sense.steps) for one in likely), phrase


def test_a_phrase_of_other_words_means_nothing() -> None:
    assert WORDS.find("what colour is X")[0].score < 0.3


class OneWordAlike:
    """Vectors under which "begat" is as "fathered"."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        alike = [any(word in text for word in ("begat", "father")) for text in texts]
        return np.array([[one, not one] for one in alike], np.float32)


def test_meaning_finds_what_words_do_not() -> None:
    senses = [
        Sense((Step("P22"),), ("who is the father of X",)),
        Sense((Step("P25"),), ("who is the mother of X",)),
    ]
    with_meaning = SenseFinder(senses, OneWordAlike()).find("who begat X")
    assert with_meaning[0].sense.steps == (Step("P22"),)
    assert with_meaning[0].score > with_meaning[1].score + 0.1


def test_sentence_vectors_are_means_of_states_of_length_one(tiny_encoder_path: Path) -> None:
    import torch

    meaning = SentenceVectors.load(str(tiny_encoder_path))
    texts = ["Mara Velden was born in Torvik", "Quillmark", "the company"]
    found = meaning.vectors(texts)
    for text, vector in zip(texts, found, strict=True):
        encoder = meaning.texts.reader.encoder
        tokens = encoder.tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            mean = encoder.backbone(**tokens).last_hidden_state[0].mean(0)
        np.testing.assert_allclose(vector, (mean / mean.norm()).numpy(), atol=1e-5)


def test_a_passive_relation_of_the_users_own_is_asked_both_ways() -> None:
    finder = SenseFinder(senses_of({"cites": "cited by"}))
    assert str(finder.find("who cited X")[0].sense.steps[0]) == "cites"
    assert str(finder.find("what did X cite")[0].sense.steps[0]) == "-cites"
