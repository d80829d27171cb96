"""What names and types say of an entity before its text is read."""

import math

import pytest

from factloom.document import Document, Entity, Mention, Sentence
from factloom.graph.knowledge_base import KnownEntity
from factloom.knowledge.beliefs import Prospect, beliefs_by_names, beliefs_of
from factloom.knowledge.linking import LinkSettings
from factloom.knowledge.offers import SIGNS, _signs
from factloom.knowledge.tables import Tables

CAPITAL = KnownEntity("Q90", {"Paris": 6}, "LOC")
HERO = KnownEntity("Q1", {"Paris": 2, "Alexander": 1}, "PER")
SWEDEN = KnownEntity("Q34", {"Sweden": 9})
BASE = Tables.build([CAPITAL, HERO, SWEDEN], unknown={"Alexander": 1})


def test_shares_are_means_over_the_names() -> None:
    found = beliefs_by_names(BASE, {"Paris": 3, "Alexander": 1, "Torvik": 1}, "PER")
    shares = {each.id: each.share for each in found.prospects}
    assert shares == pytest.approx({"Q90": 3 / 5 * 6 / 8, "Q1": 3 / 5 * 2 / 8 + 1 / 5 * 1 / 2})
    assert found.nothing == pytest.approx(1 - sum(shares.values()))


def test_any_name_may_mean_something_new() -> None:
    assert beliefs_by_names(BASE, {"Sweden": 1}).nothing == 0.2
    assert beliefs_by_names(BASE, {"Sweden": 1}, something_new=0.05).nothing == 0.05
    assert beliefs_by_names(BASE, {"Torvik": 1}).nothing == 1


def test_a_candidate_is_told_by_its_surest_way() -> None:
    (by_adjective,) = beliefs_by_names(BASE, {"Swedish": 5}).prospects
    (by_both,) = beliefs_by_names(BASE, {"Swedish": 5, "Sweden": 1}).prospects
    assert (by_adjective.way, by_both.way) == ("demonym", "name")


def test_types_fit_do_not_or_say_nothing() -> None:
    def fits(type: str) -> dict[str, str]:
        found = beliefs_by_names(BASE, {"Paris": 1, "Sweden": 1}, type)
        return {each.id: each.type for each in found.prospects}

    assert fits("loc") == {"Q90": "same", "Q1": "other", "Q34": "unknown"}
    assert set(fits("").values()) == set(fits("GOD").values()) == {"unknown"}


def test_pronouns_are_no_names() -> None:
    text = "Paris came, and Sweden won."
    mentions = (Mention(0, 5, "LOC"), Mention(16, 22, "LOC", kind="pronoun"))
    entities = (Entity((0, 1), "LOC"), Entity((1,), "LOC"))
    given = Document(text, "d", (Sentence(0, len(text)),), mentions, entities)
    assert {each.id for each in beliefs_of(BASE, given, 0).prospects} == {"Q90", "Q1"}
    assert {each.id for each in beliefs_of(BASE, given, 1).prospects} == {"Q34"}


def test_signs_begin_as_the_factors_of_linking_by_rules() -> None:
    factors = LinkSettings()
    expected = {
        ("name", "same"): 1.0,
        ("name", "unknown"): 1.0,
        ("initials", "unknown"): factors.by_initials,
        ("demonym", "same"): factors.by_demonym,
        ("demonym", "other"): factors.by_demonym * factors.other_type,
    }
    for (way, type), factor in expected.items():
        signs = _signs(Prospect("Q1", 0.5, way, type))
        weight = sum(w for w, sign in zip(SIGNS.values(), signs, strict=True) if sign)
        assert math.exp(weight) == pytest.approx(factor)
