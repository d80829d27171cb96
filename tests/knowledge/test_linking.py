"""Linking by name, prior, type and context."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from factloom.components import lacking
from factloom.document import Document, Entity, Mention, Sentence
from factloom.errors import ModelError
from factloom.evaluation.tasks import TASKS
from factloom.graph.knowledge_base import KnownEntity
from factloom.knowledge.linking import Linker, LinkSettings, Vectors
from factloom.knowledge.tables import Tables
from factloom.pipeline import Pipeline

CAPITAL = KnownEntity("Q90", {"Paris": 8}, "LOC", "capital of France on the river")
HERO = KnownEntity("Q1", {"Paris": 2, "Alexander": 2}, "PER", "hero of a war")
TOWN = KnownEntity("Q2", {"Paris": 2}, "LOC", "town with oil")
WHO = KnownEntity("Q7817", {"World Health Organization": 5}, "ORG")
BASE = Tables.build([CAPITAL, HERO, TOWN, WHO], unknown={"World Health Organization": 5})
WORDS = ("france", "river", "war", "oil")


def embed(texts: Sequence[str]) -> Vectors:
    """Which of four words a text has."""
    found = np.array([[word in text.casefold() for word in WORDS] for text in texts], np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1)


def document(text: str, *names: str, type: str = "LOC", id: str | None = None) -> Document:
    mentions = tuple(Mention(text.index(n), text.index(n) + len(n), type) for n in names)
    entity = Entity(tuple(range(len(names))), type, id)
    return Document(text, "d", (Sentence(0, len(text)),), mentions, (entity,))


def linked(linker: Linker, given: Document) -> tuple[str | None, list[str]]:
    (entity,) = linker.link(given).entities
    return entity.id, [each["id"] for each in entity.link_candidates]


def test_the_prior_decides_where_nothing_else_is_known() -> None:
    linker = Linker(BASE, settings=LinkSettings(other_type=1.0, something_new=0.0))
    assert linked(linker, document("Paris was there.", "Paris")) == ("Q90", ["Q90", "Q1", "Q2"])
    scores = linker.scores(document("Paris was there.", "Paris"), 0)
    assert scores == pytest.approx({"Q90": 8 / 12, "Q1": 2 / 12, "Q2": 2 / 12})


def test_the_type_and_the_other_names_count() -> None:
    linker = Linker(BASE)
    assert linked(linker, document("Paris was there.", "Paris", type="PER"))[0] == "Q1"
    assert linked(linker, document("Paris was there.", "Paris", type="GOD"))[0] == "Q90"
    both = document("Paris, or Alexander, ran.", "Paris", "Alexander", type="GOD")
    assert linked(linker, both)[0] == "Q1"


def test_the_context_overrules_the_prior() -> None:
    linker = Linker(BASE, embed, LinkSettings(context=10, neutral=0.5))
    assert linked(linker, document("They found oil in Paris.", "Paris"))[0] == "Q2"
    assert linked(linker, document("In Paris, France, by the river.", "Paris"))[0] == "Q90"


def test_scores_are_those_of_the_formula() -> None:
    settings = LinkSettings(context=3, neutral=0.2, other_type=0.25, something_new=0.1)
    given = document("Paris or Alexander had oil, or WHO.", "Paris", "Alexander", "WHO")
    scores = Linker(BASE, embed, settings).scores(given, 0)
    cosine = {"Q90": 0.0, "Q1": 0.0, "Q2": 1.0, "Q7817": 0.0}
    share = {"Q90": 8 / 12 / 3, "Q1": (2 / 12 + 1) / 3, "Q2": 2 / 12 / 3, "Q7817": 0.5 / 3}
    fit = {"Q90": 1.0, "Q1": 0.25, "Q2": 1.0, "Q7817": 0.25 * settings.by_initials}
    nothing = max(0.1, 1 - sum(share.values()))
    weight = {id: share[id] * fit[id] * np.exp(3 * (cosine[id] - 0.2)) for id in share}
    total = sum(weight.values()) + nothing
    assert scores == pytest.approx({id: value / total for id, value in weight.items()})


def test_what_speaks_against_a_candidate_counts_though_it_has_no_rival() -> None:
    base = Tables.build([KnownEntity("Q34", {"Sweden": 9}, "LOC"), HERO])
    assert linked(Linker(base), document("Swedish coasts.", "Swedish"))[0] == "Q34"
    taught = document("Swedish is taught.", "Swedish", type="PER")
    assert linked(Linker(base), taught) == (None, ["Q34"])
    always = Linker(base, settings=LinkSettings(something_new=0.0))
    assert linked(always, taught)[0] == "Q34"


def test_an_unknown_part_of_a_known_name_counts_as_that_name() -> None:
    base = Tables.build([KnownEntity("Q7", {"Ada Brook": 1}, "PER"), HERO])
    text = "Ada Brook came. Brook saw Alexander."
    given = document(text, "Ada Brook", "Brook saw", type="PER")
    part = Mention(text.index("Brook saw"), text.index(" saw"), "PER")
    given = given.replace(mentions=(given.mentions[0], part))
    linker = Linker(base, settings=LinkSettings(something_new=0.0))
    assert linker.scores(given, 0) == {"Q7": 1.0}
    other = document(text, "Ada Brook", "Alexander", type="PER")  # known, as somebody else
    assert linker.scores(other, 0) == {"Q7": 0.5, "Q1": 0.5}


def test_no_link_without_candidates_or_below_the_least_score() -> None:
    assert linked(Linker(BASE), document("Torvik was there.", "Torvik")) == (None, [])
    never = Linker(BASE, settings=LinkSettings(least_score=0.6))
    given = document("The World Health Organization.", "World Health Organization", type="ORG")
    assert linked(never, given) == (None, ["Q7817"])
    assert linked(Linker(Tables.build([])), given) == (None, [])


def test_an_identifier_of_somebody_else_stays_and_ones_own_is_found_anew() -> None:
    linker = Linker(BASE)
    assert linked(linker, document("Paris was there.", "Paris", id="Q5")) == ("Q5", [])
    once = linker.link(document("Paris was there.", "Paris"))
    assert Linker(Tables.build([TOWN])).link(once).entities[0].id == "Q2"
    assert once.without_links() == document("Paris was there.", "Paris")


def test_a_linker_is_a_component_of_a_pipeline() -> None:
    pipeline = Pipeline(Linker(BASE))
    assert pipeline.task == "linking"
    assert pipeline(document("Paris was there.", "Paris")).entities[0].id == "Q90"
    assert lacking(Document("Paris"), Linker.needs) == "entities"
    with pytest.raises(ModelError, match="entities-needed"):
        pipeline("Paris was there.")


def test_links_are_measured_mention_by_mention() -> None:
    both = document("Paris, or Alexander, ran.", "Paris", "Alexander", type="PER", id="Q1")
    gold = [
        replace(both, id="a"),
        replace(document("Paris was there.", "Paris", id="Q90"), id="b"),
        replace(document("Torvik was there.", "Torvik", id="Q9"), id="c"),
        replace(document("WHO was there.", "WHO", type="ORG"), id="d"),
    ]
    task = TASKS["linking"]
    found = task.measure(gold, task.ask(Linker(BASE), gold), samples=0).numbers
    # WHO is linked although the gold has no link; Torvik is not known
    assert (found["gold_links"], found["predicted_links"], found["correct_links"]) == (4, 4, 3)
    assert found["precision"] == found["recall"] == 0.75
    assert found["accuracy"] == 3 / 5
    assert found["ambiguous_links"] == 3
    assert found["ambiguous_accuracy"] == 1.0
    assert found["candidate_recall"] == 0.75
