"""Ways through a graph, the rules that they make, and what is missing by them."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from factloom.graph.knowledge_base import KnownFact
from factloom.knowledge.completion import Completion
from factloom.knowledge.fact_table import FactTable
from factloom.knowledge.graph_vectors import FactExample, GraphVectors
from factloom.knowledge.rules import find_rules, ways_between
from factloom.knowledge.tables import Tables
from factloom.training.graph_vectors import SETTINGS, learn_vectors

TRIPLES = sorted(
    {(f"e{s}", f"r{r}", f"e{o}") for s, r, o in np.random.default_rng(3).integers(0, 6, (40, 3))}
)


@pytest.fixture
def table() -> FactTable:
    return FactTable.from_triples(TRIPLES)


def told(table: FactTable) -> set[tuple[int, int, int]]:
    """All facts, each also from its other end."""
    count = len(table.relations)
    facts = {tuple(row) for row in table.facts.tolist()}
    return facts | {(o, r + count, s) for s, r, o in facts}


def by_loops(table: FactTable, start: int, way: tuple[int, ...]) -> set[int]:
    """All that a way leads to without coming to an entity twice."""
    ways = [[start]]
    for step in way:
        ways = [[*on, o] for on in ways for s, r, o in told(table) if (s, r) == (on[-1], step)]
    return {on[-1] for on in ways if len(set(on)) == len(on)}


def test_facts_are_found_from_both_ends(table: FactTable) -> None:
    assert len(table.both_ways) == 2 * len(TRIPLES)
    for entity, relation in product(range(len(table.entities)), range(2 * len(table.relations))):
        expected = {o for s, r, o in told(table) if (s, r) == (entity, relation)}
        assert set(table.objects(entity, relation).tolist()) == expected
        known = {s for s, r, _ in told(table) if r == relation}
        assert set(table.subjects(relation).tolist()) == known
        assert table.inverse(table.inverse(relation)) == relation


def test_a_table_of_a_base_has_its_facts() -> None:
    base = Tables.build([], [KnownFact(*triple) for triple in TRIPLES])
    found = FactTable.of(base)
    assert np.array_equal(found.facts, FactTable.from_triples(TRIPLES).facts)
    assert len(FactTable.of(Tables.build([])).facts) == 0


def test_ways_are_followed_as_by_loops(table: FactTable) -> None:
    steps = range(2 * len(table.relations))
    for way in [(step,) for step in steps] + list(product(steps, steps)):
        for entity in range(len(table.entities)):
            assert set(table.follow(entity, way).tolist()) == by_loops(table, entity, way)


def test_a_way_is_as_certain_as_its_surest_facts_together() -> None:
    sure = dict(zip(TRIPLES, np.random.default_rng(5).uniform(0.1, 1, len(TRIPLES)), strict=True))
    table = FactTable.from_certainties({KnownFact(*t): float(c) for t, c in sure.items()})
    count = len(table.relations)
    told = {(s, r, o): c for (s, r, o), c in zip(table.facts.tolist(), sure.values(), strict=True)}
    told |= {(o, r + count, s): c for (s, r, o), c in told.items()}
    for start, one, two in product(range(len(table.entities)), range(2 * count), range(2 * count)):
        expected: dict[int, tuple[float, int]] = {}
        for middle, end in product(range(len(table.entities)), repeat=2):
            facts = (start, one, middle), (middle, two, end)
            if len({start, middle, end}) == 3 and all(fact in told for fact in facts):
                found = told[facts[0]] * told[facts[1]], middle
                expected[end] = max(found, expected.get(end, found))
        ends, certainties = table.reached(start, (one, two))
        products = [expected[end][0] for end in ends.tolist()]
        assert sorted(expected) == ends.tolist()
        assert certainties == pytest.approx(np.array(products), rel=1e-5)
        for end, (_, middle) in expected.items():
            assert table.middle(start, (one, two), end) == middle


def test_the_ways_between_two_entities_are_all_that_lead_there(table: FactTable) -> None:
    chance = np.random.default_rng(0)
    steps = range(2 * len(table.relations))
    ways = [(step,) for step in steps] + list(product(steps, steps))
    for start, end in product(range(len(table.entities)), repeat=2):
        expected = set()
        for way in ways:
            if start == end:
                continue
            if len(way) == 1 and (start, way[0], end) in told(table):
                expected.add(way)
            for middle in set(range(len(table.entities))) - {start, end}:
                both = {(start, way[0], middle), (middle, way[-1], end)}
                if len(way) == 2 and both <= told(table):
                    expected.add(way)
        assert ways_between(table, start, end, chance) == expected


def test_confidences_are_counted(table: FactTable) -> None:
    rules = find_rules(table)
    assert rules
    for rule in rules:
        pairs = [
            (start, end)
            for start in range(len(table.entities))
            for end in by_loops(table, start, rule.way)
        ]
        right = sum((start, rule.relation, end) in told(table) for start, end in pairs)
        assert rule.right == right
        assert rule.confidence == right / (len(pairs) + 5)
        turned = rule.turned(table)
        back = {(e, s) for s, e in pairs}
        assert back == {
            (s, e) for s in range(len(table.entities)) for e in by_loops(table, s, turned.way)
        }
    most = Counter(rule.relation for rule in rules)
    assert (
        max(Counter(r.relation for r in find_rules(table, most=2)).values())
        == 2
        < max(most.values())
    )


@pytest.mark.parametrize("score", ["complex", "translation"])
def test_scores_are_their_formulas(score: str) -> None:
    torch.manual_seed(0)
    model = GraphVectors(5, 2, width=6, score=score)  # type: ignore[arg-type]
    found = model.scores(torch.tensor([1, 4]), torch.tensor([0, 3]))
    for row, (s, r) in enumerate([(1, 0), (4, 3)]):
        for o in range(5):
            first, step, last = model.entities[s], model.relations[r], model.entities[o]
            if score == "translation":
                expected = -float((first + step - last).norm().detach())
            else:
                one, two, three = (
                    torch.complex(v[:3], v[3:]).detach() for v in (first, step, last)
                )
                expected = float((one * two * three.conj()).sum().real)
            assert float(found[row, o]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("score", ["complex", "translation"])
def test_the_loss_is_that_of_a_loop_over_both_directions(score: str) -> None:
    torch.manual_seed(0)
    model = GraphVectors(5, 2, width=6, score=score, n3=0.0)  # type: ignore[arg-type]
    facts = [(0, 1, 3), (2, 0, 2), (4, 1, 0)]
    loss = model(model.collate([FactExample(*fact) for fact in facts])).loss
    asked = facts + [(o, r + 2, s) for s, r, o in facts]
    losses = []
    for s, r, o in asked:
        scores = model.scores(torch.tensor([s]), torch.tensor([r]))
        losses.append(F.cross_entropy(scores, torch.tensor([o])))
    assert float(loss.detach()) == pytest.approx(float(torch.stack(losses).mean()), abs=1e-4)
    model.others = 3  # drawn, and never the right one twice
    assert model(model.collate([FactExample(*facts[0])])).loss.isfinite()


def family() -> list[tuple[str, str, str]]:
    """Everybody who lives in a town lives in its country, too; of one that is not known."""
    facts = []
    for number in range(12):
        person, town = f"p{number}", f"t{number % 4}"
        facts.append((person, "town", town))
        if number != 11:
            facts.append((person, "country", f"c{number % 2}"))
    return facts + [(f"t{n}", "in", f"c{n % 2}") for n in range(4)]


def test_what_is_missing_is_found_with_its_reason() -> None:
    table = FactTable.from_triples(family())
    completion = Completion(table, None, find_rules(table))
    best, *_ = completion.missing(relation="country", least=0.3)
    assert (best.subject, best.relation, best.object) == ("p11", "country", "c1")
    assert set(best.because) == {("p11", "town", "t3"), ("t3", "in", "c1")}
    assert best.score == best.confidence == round(11 / (12 + 5), 4)
    assert completion.missing(relation="country", entity="p3", least=0.3) == []
    by_object = completion.missing(relation="country", entity="c1", least=0.3)
    assert [each.subject for each in by_object] == ["p11"]


def test_what_follows_from_a_doubtful_fact_is_as_doubtful() -> None:
    facts = {KnownFact(*triple): 1.0 for triple in family()}
    table = FactTable.from_certainties(facts | {KnownFact("p11", "town", "t3"): 0.4})
    best, *_ = Completion(table, None, find_rules(table)).missing(relation="country", least=0.1)
    assert (best.subject, best.object, best.certainty) == ("p11", "c1", 0.4)
    assert best.score == pytest.approx(0.4 * 11 / (12 + 5), abs=1e-4)
    assert set(best.because) == {("p11", "town", "t3"), ("t3", "in", "c1")}


def test_what_has_never_been_an_object_is_as_unlikely_as_new_objects_are() -> None:
    """Whoever lives in a town is a citizen of its country: of one that has no citizen yet, too?"""
    away = [("p12", "town", "t4"), ("t4", "in", "c2")]
    mayors = [(f"t{n}", "mayor", f"m{n}") for n in range(4)]
    heads = [(f"t{n}", "head", f"m{n}") for n in range(5)]
    table = FactTable.from_triples([*family(), *away, *mayors, *heads])
    completion = Completion(table, None, find_rules(table))
    found = {m.object: m.score for m in completion.missing(relation="country", least=0.01)}
    assert found == {"c1": round(11 / (13 + 5), 4), "c2": round(11 / (13 + 5) / (11 + 1), 4)}
    (best,) = completion.missing(relation="mayor", least=0.3)  # every town has one of its own
    assert (best.subject, best.object, best.score) == ("t4", "m4", round(4 / (5 + 5), 4))


def test_vectors_are_learned_and_join_the_rules() -> None:
    table = FactTable.from_triples(family())
    settings = SETTINGS.model_copy(update={"epochs": 150, "batch_size": 16})
    vectors = learn_vectors(table, settings, width=16)
    completion = Completion(table, vectors, find_rules(table))
    person, country = table.entities.index("p11"), table.relations.index("country")
    asked = np.array([person])
    rules, shares = (f(asked, country) for f in (completion.by_rules, completion.by_vectors))
    assert shares.sum() == pytest.approx(1, abs=1e-5)
    both = completion.scores(asked, country)
    assert both == pytest.approx(1 - (1 - rules) * (1 - shares))
    alone = Completion(table, vectors, [])
    found = {(m.subject, m.object): m for m in alone.missing(relation="country", least=0.0)}
    if ("p11", "c1") in found:  # without rules nobody asks about p11, who has no country
        pytest.fail("a subject that no rule and no fact leads to was asked for")
    known = {s for s, r, _ in table.facts.tolist() if r == country}
    assert {table.entities.index(m.subject) for m in found.values()} <= known
    for missing in found.values():
        if missing.alike is not None:
            assert missing.because == ((missing.alike, "country", missing.object),)
            assert missing.because[0] in family()


def test_a_graph_without_facts_lacks_nothing() -> None:
    table = FactTable.from_triples([])
    assert find_rules(table) == []
    assert Completion(table, None, []).missing() == []
