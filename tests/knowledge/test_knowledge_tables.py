"""Tables of knowledge: candidates with priors, facts by subject and relation, opened at once."""

from pathlib import Path

import numpy as np
import pytest

from factloom.errors import InputError
from factloom.graph.knowledge_base import Candidate, KnownEntity, KnownFact
from factloom.knowledge.tables import DESCRIPTION, Tables

BERLIN = KnownEntity("Q64", {"Berlin": 90, "Spree-Athens": 2}, "LOC", "capital of Germany")
TOWN = KnownEntity("Q821244", {"Berlin": 10}, "LOC", "town in New Hampshire")
WHO = KnownEntity("Q7817", {"World Health Organization": 5}, "ORG")
SWEDEN = KnownEntity("Q34", {"Sweden": 7}, "LOC")
FACTS = [
    KnownFact("Q64", "P17", "Q183"),
    KnownFact("Q64", "P47", "Brandenburg"),
    KnownFact("Q64", "P47", "Potsdam"),
    KnownFact("Q34", "P36", "Stockholm"),
    KnownFact("Q64", "P17", "Q183"),  # said twice
]


@pytest.fixture
def tables() -> Tables:
    return Tables.build([BERLIN, TOWN, WHO, SWEDEN], FACTS)


def test_a_name_has_its_meanings_with_the_share_of_its_uses(tables: Tables) -> None:
    assert tables.candidates("berlin") == [
        Candidate("Q64", 0.9, "name"),
        Candidate("Q821244", 0.1, "name"),
    ]
    assert tables.candidates("Berlin", most=1) == [Candidate("Q64", 0.9, "name")]


@pytest.mark.parametrize(
    ("mention", "id", "way"),
    [
        ("Spree Athens", "Q64", "name"),
        ("the World Health Organization", "Q7817", "name"),
        ("WHO", "Q7817", "initials"),
        ("W.H.O.", "Q7817", "initials"),
        ("Swedish", "Q34", "demonym"),
        ("the Swedes", "Q34", "demonym"),
    ],
)
def test_names_lead_to_entities_by_several_ways(
    tables: Tables, mention: str, id: str, way: str
) -> None:
    assert tables.candidates(mention) == [Candidate(id, 1.0, way)]  # type: ignore[arg-type]


def test_a_mention_may_have_no_candidates(tables: Tables) -> None:
    assert tables.candidates("Torvik") == []
    assert tables.candidates("who") == []  # a word, and no acronym


def test_what_a_name_means_beside_the_base_lowers_the_prior() -> None:
    tables = Tables.build([BERLIN], unknown={"Berlin": 10, "Rome": 3})
    assert tables.candidates("Berlin") == [Candidate("Q64", 0.9, "name")]
    assert tables.candidates("Rome") == []


def test_a_name_that_has_always_meant_nothing_known_is_no_other_form_of_one() -> None:
    sweden = KnownEntity("Q34", {"Sweden": 9})
    assert Tables.build([sweden]).candidates("Swedish") == [Candidate("Q34", 1.0, "demonym")]
    assert Tables.build([sweden], unknown={"Swedish": 1}).candidates("Swedish") == []


def test_facts_are_grouped_by_relation(tables: Tables) -> None:
    assert tables.facts("Q64") == {"P17": ("Q183",), "P47": ("Brandenburg", "Potsdam")}
    assert tables.facts("Q34") == {"P36": ("Stockholm",)}
    assert tables.facts("Q7817") == {}
    assert tables.facts("nobody") == {}


def test_ends_of_facts_that_nobody_described_are_entities(tables: Tables) -> None:
    assert list(tables.ids())[:4] == ["Q64", "Q821244", "Q7817", "Q34"]
    assert len(tables) == 8
    assert "Potsdam" in tables
    assert "Nowhere" not in tables
    assert tables.entity("Potsdam").name == "Potsdam"
    with pytest.raises(KeyError):
        tables.entity("Nowhere")


def test_entities_of_one_id_are_put_together() -> None:
    other = KnownEntity("Q64", {"Berlin": 3, "BER": 1}, "CITY", "another")
    assert Tables.build([BERLIN, other]).entity("Q64") == KnownEntity(
        "Q64", {"Berlin": 93, "Spree-Athens": 2, "BER": 1}, "LOC", "capital of Germany"
    )


@pytest.mark.parametrize("entities", [[], [BERLIN], [BERLIN, TOWN, WHO, SWEDEN]])
def test_what_is_saved_is_opened_as_it_was(entities: list[KnownEntity], tmp_path: Path) -> None:
    facts = FACTS if len(entities) > 1 else []
    made = Tables.build(entities, facts)
    made.save(tmp_path / "base")
    found = Tables.open(tmp_path / "base")
    assert list(found.ids()) == list(made.ids())
    assert [found.entity(id) for id in found.ids()] == [made.entity(id) for id in made.ids()]
    assert [found.facts(id) for id in found.ids()] == [made.facts(id) for id in made.ids()]
    assert found.candidates("Berlin") == made.candidates("Berlin")
    assert not len(found) or isinstance(found.arrays.records, np.memmap)


def test_tables_that_are_damaged_say_so(tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="knowledge-damaged"):
        Tables.open(tmp_path)
    tables.save(tmp_path)
    (tmp_path / "objects.npy").write_bytes(b"x")
    with pytest.raises(InputError, match="knowledge-damaged"):
        Tables.open(tmp_path)
    (tmp_path / DESCRIPTION).write_text('{"version": 99}')
    with pytest.raises(InputError, match="knowledge-version"):
        Tables.open(tmp_path)


def test_candidates_are_those_of_a_plain_loop() -> None:
    random = np.random.default_rng(5)
    names = [f"Name {number}" for number in range(20)]
    entities = [
        KnownEntity(f"E{index}", {names[n]: int(random.integers(1, 9)) for n in set(chosen)})
        for index, chosen in enumerate(random.integers(0, 20, (60, 3)).tolist())
    ]
    tables = Tables.build(entities)
    for name in names:
        counts = {e.id: e.names[name] for e in entities if name in e.names}
        found = {each.id: each.prior for each in tables.candidates(name, most=100)}
        expected = {id: count / sum(counts.values()) for id, count in counts.items()}
        assert found == pytest.approx(expected)
