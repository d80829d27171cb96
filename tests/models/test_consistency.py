"""Rules between relations: learned from documents, and kept by what is predicted."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation
from factloom.models.consistency import (
    MINIMUM,
    Consistency,
    agreeing,
    learn_consistency,
    with_denied_causes,
)

RULES = Consistency(
    inverses=(
        ("father", "child"),
        ("follows", "followed"),
        ("followed", "follows"),
        ("mother", "child"),
        ("spouse", "spouse"),
    ),
    exclusives=(("father", "mother"), ("followed", "follows")),
    singles=("born", "country"),
    companions=(("country", "lies in"),),
)


def people(*facts: tuple[int, int, str]) -> Document:
    return Document(
        "A B C",
        mentions=tuple(Mention(2 * i, 2 * i + 1, "PER") for i in range(3)),
        entities=tuple(Entity((i,), "PER") for i in range(3)),
        relations=tuple(Relation(*fact) for fact in facts),
    )


def family(parent: str) -> Document:
    return people((0, 1, parent), (1, 0, "child"), (1, 2, "spouse"), (2, 1, "spouse"))


def agree(*relations: Relation, document: Document | None = None) -> tuple[Relation, ...]:
    return agreeing(document or people(), relations, RULES)


def facts(relations: tuple[Relation, ...]) -> set[tuple[int, int, str]]:
    return {(relation.head, relation.tail, relation.type) for relation in relations}


def test_rules_are_those_that_the_documents_keep() -> None:
    documents = [family("father")] * MINIMUM + [family("mother")] * MINIMUM
    learned = learn_consistency(documents)
    assert learned.inverses == (("father", "child"), ("mother", "child"), ("spouse", "spouse"))
    # a child of the same pair is never the spouse either: both are common between people
    assert ("father", "mother") in learned.exclusives
    assert ("child", "spouse") in learned.exclusives
    assert learn_consistency([*documents, people((0, 1, "father"), (0, 1, "mother"))]) != learned


def test_single_relations_and_their_companions_are_learned() -> None:
    countries = ["Sweden", "Norway"]
    apart = [
        named(*countries).replace(
            relations=(Relation(0, own, "country"), Relation(0, own, "lies in"))
        )
        for own in (1, 2)
    ]
    learned = learn_consistency(apart * MINIMUM)
    assert learned.singles == ("country", "lies in")
    assert ("country", "lies in") in learned.companions
    both = named(*countries).replace(
        relations=(Relation(0, 1, "country"), Relation(0, 2, "country"), Relation(0, 1, "lies in"))
    )
    assert learn_consistency([both] * MINIMUM).singles == ("lies in",)
    alike = named("Sweden", "Swedish").replace(relations=both.relations)
    assert "country" in learn_consistency([alike] * MINIMUM).singles


def test_nothing_is_learned_from_few_examples_or_between_other_types() -> None:
    few = [family("father")] * (MINIMUM - 1) + [family("mother")] * (MINIMUM - 1)
    learned = learn_consistency(few)
    assert ("father", "child") not in learned.inverses
    assert ("father", "mother") not in learned.exclusives
    town = people((0, 1, "born in"))
    town = town.replace(entities=(town.entities[0], Entity((1,), "LOC"), town.entities[2]))
    learned = learn_consistency([family("father")] * MINIMUM + [town] * MINIMUM)
    assert not any("born in" in pair for pair in learned.exclusives)
    assert learn_consistency([]) == Consistency()


def test_the_surer_of_two_relations_that_exclude_each_other_stays() -> None:
    found = (Relation(0, 1, "mother", 0.5), Relation(0, 1, "father", 0.4))
    assert facts(agree(*found)) == {(0, 1, "mother"), (1, 0, "child")}
    surer = (found[0], replace(found[1], score=0.6))
    assert facts(agree(*surer)) == {(0, 1, "father"), (1, 0, "child")}


def test_a_relation_is_excluded_by_an_inverse_too() -> None:
    found = (Relation(0, 1, "follows", 0.6), Relation(1, 0, "follows", 0.5))
    assert facts(agree(*found)) == {(0, 1, "follows"), (1, 0, "followed")}


def test_an_inverse_has_the_score_and_evidence_of_what_implies_it() -> None:
    father = Relation(0, 1, "father", 0.7, (2,), {"model": "docre_sd", "bridges": []})
    kept, added = agree(father)
    assert kept == father
    assert added == Relation(
        1, 0, "child", 0.7, (2,), {"model": "docre_sd", "inverse_of": "father"}
    )


def test_pairs_that_are_not_asked_for_get_no_inverse() -> None:
    father = Relation(0, 1, "father", 0.7)
    one = people().replace(candidates=((0, 1),))
    both = people().replace(candidates=((0, 1), (1, 0)))
    assert agree(father, document=one) == (father,)
    assert len(agree(father, document=both)) == 2


def named(*names: str) -> Document:
    """A thing, and others with these names."""
    text = "X " + " ; ".join(names)
    starts = [text.index(name) for name in names]
    spans = [
        (0, 1),
        *((start, start + len(name)) for start, name in zip(starts, names, strict=True)),
    ]
    return Document(
        text,
        mentions=tuple(Mention(*span, "LOC") for span in spans),
        entities=tuple(Entity((index,), "LOC") for index in range(len(spans))),
    )


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("Sweden", "Norway"), {1}),
        (("Sweden", "Swedish"), {1, 2}),  # one country
        (("3 May 2004", "2004"), {1, 2}),  # one date
        (("3 May 2004", "2005"), {1}),
        (("Austria", "Australia"), {1}),
    ],
)
def test_a_single_relation_has_one_value(names: tuple[str, str], kept: set[int]) -> None:
    found = (Relation(0, 1, "country", 0.7), Relation(0, 2, "country", 0.6))
    agreed = agree(*found, document=named(*names))
    assert {relation.tail for relation in agreed} == kept


def test_with_a_dropped_value_goes_what_holds_only_together_with_it() -> None:
    found = (
        Relation(0, 2, "lies in", 0.9),
        Relation(0, 1, "country", 0.7),
        Relation(0, 2, "country", 0.6),
        Relation(0, 1, "lies in", 0.5),
    )
    agreed = agree(*found, document=named("Sweden", "Norway"))
    assert facts(agreed) == {(0, 1, "country"), (0, 1, "lies in")}


@given(
    st.lists(
        st.builds(
            Relation,
            st.integers(0, 2),
            st.integers(0, 2),
            st.sampled_from(["father", "mother", "child", "follows", "followed", "spouse"]),
            st.floats(0, 1),
        ),
        unique_by=lambda r: (r.head, r.tail, r.type),
    ).map(lambda found: [r for r in found if r.head != r.tail])
)
def test_what_agrees_has_every_inverse_and_no_contradiction(found: list[Relation]) -> None:
    agreed = agree(*found)
    known = facts(agreed)
    assert len(known) == len(agreed)
    for head, tail, name in known:
        for one, other in RULES.inverses:
            assert name != one or (tail, head, other) in known
        for pair in RULES.exclusives:
            assert not {(head, tail, of_pair) for of_pair in pair} <= known
    assert agree(*agreed) == agreed


@pytest.mark.parametrize("rules", [RULES, Consistency()])
def test_rules_are_the_same_when_read_back(rules: Consistency) -> None:
    assert Consistency.model_validate_json(rules.model_dump_json()) == rules


def test_what_would_bring_a_denied_relation_back_is_denied_with_it() -> None:
    document = people((1, 2, "father")).replace(
        denied=(Relation(1, 0, "child"), Relation(2, 1, "child"), Relation(0, 2, "born"))
    )
    denied = facts(with_denied_causes(document, RULES).denied) - facts(document.denied)
    # that 1 is the father of 2 is stated: it stays, whatever follows from it
    assert denied == {(0, 1, "father"), (0, 1, "mother"), (1, 2, "mother")}
    for cause in denied:
        [*_, implied] = agree(Relation(*cause))
        assert facts((implied,)) <= facts(document.denied)


def test_a_document_without_causes_to_deny_is_as_it_was() -> None:
    document = people().replace(denied=(Relation(0, 1, "born"),))
    assert with_denied_causes(document, RULES) is document
