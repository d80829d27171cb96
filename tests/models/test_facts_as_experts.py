"""Facts as Experts: answers follow the facts of the store, as they are."""

from pathlib import Path

import pytest
import torch
from model_checks import check_model
from test_knowbert import linked_profiles  # noqa: F401 - a fixture

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.encoders.encoder import Encoder
from factloom.graph.knowledge_base import KnownEntity, KnownFact
from factloom.graph.store import Store
from factloom.knowledge.annotated import Annotated
from factloom.knowledge.tables import Tables
from factloom.models.facts_as_experts import (
    FactsAsExperts,
    FactsAsExpertsSettings,
    right_facts,
)

QUESTION = "Mara Velden was born in [MASK]."


def settings_for(base: Path, describer: Path) -> FactsAsExpertsSettings:
    return FactsAsExpertsSettings(
        knowledge=str(base), describer=str(describer), least_score=0.0, masked=0.4, facts=5
    )


def test_the_model_passes_the_checks_of_every_model(
    tiny_encoder_path: Path,
    linked_profiles: list[Document],  # noqa: F811
    tmp_path: Path,
) -> None:
    annotated = Annotated.of(linked_profiles)
    ids = [[e.id for e in document.entities if e.id] for document in linked_profiles]
    facts = [KnownFact(of[0], "knows", other) for of in ids for other in of[1:]]
    Tables.build(annotated.entities(), facts).save(tmp_path / "base")
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = FactsAsExperts.from_documents(
        encoder, linked_profiles, settings_for(tmp_path / "base", tiny_encoder_path)
    )
    check_model(model, linked_profiles, tmp_path, steps=250)


def made(id: str, names: list[str], fact: tuple[int, int] | None) -> Document:
    """Names in a row, and that the one was born in the other."""
    text = " and ".join(names) + "."
    starts = [text.index(name) for name in names]
    mentions = tuple(
        Mention(start, start + len(name), "X") for start, name in zip(starts, names, strict=True)
    )
    entities = tuple(Entity((number,), "X") for number in range(len(names)))
    relations = () if fact is None else (Relation(fact[0], fact[1], "P19", 0.9, (0,)),)
    return Document(text, id, (Sentence(0, len(text)),), mentions, entities, relations)


def question() -> Document:
    mentions = (Mention(0, 11, "X"), Mention(24, 30, "X"))
    entities = (Entity((0,), "X"), Entity((1,), "X"))
    return Document(QUESTION, "q", (Sentence(0, len(QUESTION)),), mentions, entities)


@pytest.fixture
def model(tiny_encoder_path: Path, tmp_path: Path) -> FactsAsExperts:
    """One that always believes facts."""
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = FactsAsExperts(encoder, settings_for(tmp_path / "graph", tiny_encoder_path)).eval()
    with torch.no_grad():
        model.fact_memory.query.weight.zero_()
        model.fact_memory.query.bias.fill_(1.0)
        model.fact_memory.null_key.fill_(-100.0)
    return model


def answer(model: FactsAsExperts) -> str:
    (found,) = model.predict([question()])
    return str(found.entities[1].link_candidates[0]["name"])


def known(model: FactsAsExperts) -> list[tuple[str, str, list[str]]]:
    memory = model.prepare([question()])[0].memory
    rows = zip(memory.subject.tolist(), memory.relation.tolist(), memory.objects, strict=True)
    return [
        (memory.names[subject], memory.relations[relation], [memory.names[o] for o in objects])
        for subject, relation, objects in rows
    ]


PEOPLE_AND_TOWNS = ["Mara Velden", "Torvik", "Ashmere"]


def test_an_added_changed_rejected_or_deleted_fact_is_seen_by_the_next_question(
    model: FactsAsExperts, tmp_path: Path
) -> None:
    path, options = tmp_path / "graph", {"relation_names": {"P19": "place of birth"}, "model": "m"}
    with Store.open(path) as store:
        store.ingest([made("a", PEOPLE_AND_TOWNS, None)], **options)
    assert known(model) == []
    with Store.open(path) as store:  # added
        store.ingest([made("b", PEOPLE_AND_TOWNS, (0, 1))], **options)
    assert known(model) == [("Mara Velden", "P19", ["Torvik"])]
    assert answer(model) == "Torvik"
    with Store.open(path) as store:  # changed
        store.edit().correct(store.fact("Mara Velden", "P19", "Torvik"), tail="Ashmere")
    assert known(model) == [("Mara Velden", "P19", ["Ashmere"])]
    assert answer(model) == "Ashmere"
    with Store.open(path) as store:  # and back
        store.edit().undo()
    assert answer(model) == "Torvik"
    with Store.open(path) as store:  # rejected
        store.edit().reject(store.fact("Mara Velden", "P19", "Torvik"))
    assert known(model) == []
    with Store.open(path) as store:  # deleted
        store.edit().undo()
    assert answer(model) == "Torvik"
    with Store.open(path) as store:
        store.delete("b")
    assert known(model) == []


def test_bases_without_facts_or_entities_are_asked_in_vain(model: FactsAsExperts) -> None:
    with model.source.replaced(Tables.build([])):
        (found,) = model.predict([question()])
        assert all(not entity.link_candidates for entity in found.entities)
    with model.source.replaced(Tables.build([KnownEntity("Q1", {"Torvik": 1})])):
        assert answer(model) == "Torvik"  # the only thing that there is


def test_right_facts_lead_from_another_entity_of_the_document(model: FactsAsExperts) -> None:
    entities = [KnownEntity(id, {id: 1}) for id in ("a", "b", "c", "d")]
    facts = [("a", "r", "b"), ("a", "r", "d"), ("b", "s", "b"), ("c", "r", "b"), ("d", "r", "a")]
    base = Tables.build(entities, [KnownFact(*fact) for fact in facts])
    document = made("d", ["Mara Velden", "Torvik", "Ashmere"], None)
    ids = ("a", "b", None)
    linked = tuple(Entity((n,), "X", id) for n, id in enumerate(ids))
    with model.source.replaced(base):
        (example,) = model.prepare([document.replace(entities=linked)])
    memory = example.memory
    groups = [
        (memory.ids[s], memory.relations[r])
        for s, r in zip(memory.subject.tolist(), memory.relation.tolist(), strict=True)
    ]
    right = right_facts(example.mentions, memory)
    assert right[0].tolist() == [True] + [False] * 4  # d, which tells of a, is not spoken of
    assert [groups[int(n)] for n in right[1, 1:].nonzero()] == [("a", "r")]
    assert right[:, 0].tolist() == [True, False, True]
