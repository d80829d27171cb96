"""Countries under several names are one where it is asked what is missing."""

from factloom.graph.knowledge_base import KnownEntity, KnownFact
from factloom.knowledge.countries import countries_as_one, facts_as_one
from factloom.knowledge.tables import Tables

BASE = Tables.build(
    [
        KnownEntity("sweden", {"Sweden": 3}, "LOC"),
        KnownEntity("swedish", {"Swedish": 2}, "LOC"),
        KnownEntity("language", {"Swedish": 2}, "MISC"),
        KnownEntity("norwegian", {"Norwegian": 1}, "LOC"),
        KnownEntity("uppsala", {"Uppsala": 1}, "LOC"),
    ]
)


def test_an_adjective_is_the_country_of_its_type_that_is_known() -> None:
    assert countries_as_one(BASE) == {"swedish": "sweden"}


def test_facts_are_those_of_the_country_each_as_certain_as_the_surest() -> None:
    certainties = {
        KnownFact("uppsala", "in", "swedish"): 0.9,
        KnownFact("uppsala", "in", "sweden"): 0.5,
        KnownFact("swedish", "language", "language"): 0.4,
        KnownFact("swedish", "country", "sweden"): 0.3,
        KnownFact("uppsala", "twin", "uppsala"): 0.2,
    }
    assert facts_as_one(certainties, countries_as_one(BASE)) == {
        KnownFact("uppsala", "in", "sweden"): 0.9,
        KnownFact("sweden", "language", "language"): 0.4,
        KnownFact("uppsala", "twin", "uppsala"): 0.2,
    }
