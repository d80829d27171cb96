"""What speaks for two entities being one thing."""

import pytest
from graph_documents import NAMES, make_document

from factloom.document import Document
from factloom.graph.judging import MERGED_FROM, Judgement, judge
from factloom.graph.profiles import Profile, profiles

Facts = tuple[tuple[str, str, str], ...]  # relation, type and name of the neighbour


def profile(
    key: str,
    names: str,
    type: str = "PER",
    facts: Facts = (),
    identifier: str | None = None,
    score: float | None = 0.75,
) -> Profile:
    entities = [(type, names), *((kind, name) for _, kind, name in facts)]
    relations = [(0, relation, number) for number, (relation, _, _) in enumerate(facts, start=1)]
    document: Document = make_document(key, entities, relations, score)
    found = profiles(document, NAMES)[0]
    return found if identifier is None else _with(found, identifier)


def _with(found: Profile, identifier: str) -> Profile:
    import dataclasses

    return dataclasses.replace(found, identifier=identifier)


def merged(judgement: Judgement | None) -> bool:
    return judgement is not None and judgement.score >= MERGED_FROM


def test_a_full_name_in_common_is_enough() -> None:
    judgement = judge(profile("a", "Ada Lovelace"), profile("b", "Ada Lovelace"))
    assert merged(judgement)
    assert judgement is not None
    assert judgement.reason == 'the same name "Ada Lovelace"'


def test_a_surname_in_common_is_not_enough() -> None:
    assert not merged(judge(profile("a", "Smith"), profile("b", "Smith")))
    assert not merged(judge(profile("a", "Smith"), profile("b", "Adam Smith")))
    assert judge(profile("a", "John Smith"), profile("b", "Adam Smith")) is None


def test_a_surname_and_two_facts_in_common_are_enough_and_the_reason_names_them() -> None:
    facts = (("P108", "ORG", "Quillmark"), ("P569", "TIME", "3 May 1931"))
    left, right = profile("a", "Velden", facts=facts), profile("b", "Mara Velden", facts=facts)
    judgement = judge(left, right)
    assert judgement is not None
    assert judgement.score == pytest.approx(1 - 0.7 * 0.65 * 0.65, abs=1e-4)
    assert not judgement.by_name
    assert 'the same surname "velden"' in judgement.reason
    assert "employer → quillmark" in judgement.reason
    one = facts[:1]
    assert not merged(judge(profile("a", "Velden", facts=one), profile("b", "Velden", facts=one)))


def test_first_names_that_contradict_are_not_merged_whatever_they_share() -> None:
    facts = tuple(("P108", "ORG", name) for name in ("Quillmark", "Ostrion", "Brenholt"))
    left, right = profile("a", "M. Velden", facts=facts), profile("b", "Petra Velden", facts=facts)
    assert judge(left, right) is None
    assert merged(judge(left, profile("c", "Mara Velden", facts=facts)))


def test_places_in_common_say_less_than_other_facts() -> None:
    scores = [
        judge(
            profile("a", "Velden", facts=((relation, type, "Ashmere"),)),
            profile("b", "Velden", facts=((relation, type, "Ashmere"),)),
        )
        for relation, type in (("P19", "LOC"), ("P108", "ORG"))
    ]
    assert scores[0] is not None
    assert scores[1] is not None
    assert scores[0].score < scores[1].score


def test_different_types_do_not_merge() -> None:
    assert judge(profile("a", "Washington", "LOC"), profile("b", "Washington", "ORG")) is None


def test_two_entities_of_one_document_do_not_merge() -> None:
    assert judge(profile("a", "Ada Lovelace"), profile("a", "Ada Lovelace")) is None


def test_values_merge_by_equal_value_only() -> None:
    assert merged(judge(profile("a", "3 May 1931", "TIME"), profile("b", "May 3, 1931", "TIME")))
    assert judge(profile("a", "1931", "TIME"), profile("b", "May 1931", "TIME")) is None
    assert judge(profile("a", "Monday", "TIME"), profile("b", "Monday", "TIME")) is None


def test_identifiers_decide() -> None:
    same = judge(
        profile("a", "Zinc", "CHEM", identifier="D1"), profile("b", "Zn", "CHEM", identifier="D1")
    )
    assert same is not None
    assert same.score == 1.0
    left, right = (profile(key, "Zinc", "CHEM", identifier=f"D{key}") for key in "ab")
    assert judge(left, right) is None


def test_an_other_name_in_common_is_enough_if_the_labels_belong_together() -> None:
    left = profile("a", "World Health Organization|WHO", "ORG")
    assert merged(judge(left, profile("b", "WHO", "ORG")))
    babbage = profile("c", "Charles Babbage, esquire|Ada Lovelace", "PER")
    assert not merged(judge(profile("d", "Ada Lovelace"), babbage))


def test_a_piece_of_two_longer_names_is_not_enough() -> None:
    left = profile("a", "United Nations Security Council|Council", "ORG")
    assert not merged(judge(left, profile("b", "Council of Europe|Council", "ORG")))


def test_two_years_of_birth_are_two_people() -> None:
    left = profile("a", "Ada Lovelace", facts=(("P569", "TIME", "10 December 1815"),))
    assert merged(judge(left, profile("b", "Ada Lovelace", facts=(("P569", "TIME", "1815"),))))
    assert judge(left, profile("b", "Ada Lovelace", facts=(("P569", "TIME", "1931"),))) is None


@pytest.mark.parametrize("score", [None, 0.75])
def test_a_year_that_the_model_doubts_tells_nobody_apart(score: float | None) -> None:
    sure = profile("a", "Quist Foods", "ORG", (("inception", "TIME", "1980"),), score=score)
    other = ("b", "Quist Foods", "ORG", (("inception", "TIME", "2 May 1950"),))
    assert judge(sure, profile(*other, score=score)) is None
    assert merged(judge(sure, profile(*other, score=0.51)))
    assert merged(judge(profile(*other, score=0.51), sure))


@pytest.mark.parametrize("score", [0.51, 0.75])
def test_a_profile_survives_being_stored(score: float) -> None:
    facts = (("P569", "TIME", "3 May 1931"), ("P19", "LOC", "Torvik"))
    found = profile("a", "Mara Velden|Velden", facts=facts, identifier="Q1", score=score)
    assert Profile.from_json(found.to_json()) == found


def test_a_profile_of_a_store_that_kept_no_doubts_is_read() -> None:
    import json

    found = profile("a", "Mara Velden", facts=(("P19", "LOC", "Torvik"),))
    *kept, _ = json.loads(found.to_json())
    assert Profile.from_json(json.dumps(kept)) == found
