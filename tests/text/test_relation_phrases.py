"""The table of phrases: whole, and about relations that there are."""

from factloom.text.relation_names import RELATIONS
from factloom.text.relation_phrases import SENSES, UNIQUE


def test_every_relation_has_phrases_and_no_other_has() -> None:
    assert {step.relation for sense in SENSES for step in sense.steps} == set(RELATIONS)
    assert set(RELATIONS) >= UNIQUE


def test_every_phrase_has_one_x() -> None:
    phrases = [phrase for sense in SENSES for phrase in sense.phrases]
    assert [phrase for phrase in phrases if phrase.split().count("X") != 1] == []


def test_no_sense_has_a_step_or_a_phrase_twice() -> None:
    for sense in SENSES:
        assert len(set(sense.steps)) == len(sense.steps)
        assert len(set(sense.phrases)) == len(sense.phrases), sense.steps
