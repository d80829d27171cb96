"""Entities as Experts: an entity memory within the encoder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from model_checks import check_model
from test_knowbert import ambiguous, document, linked_profiles  # noqa: F401 - a fixture

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.graph.knowledge_base import KnownEntity
from factloom.knowledge.tables import Tables
from factloom.models.entities_as_experts import (
    EntitiesAsExperts,
    EntitiesAsExpertsSettings,
    detection_tags,
    with_hidden,
)

TOWN, WRITER = KnownEntity("Q1", {"Torvik": 1}), KnownEntity("Q2", {"Mara Velden": 1}, "PER")


def settings_for(base: Path, describer: Path) -> EntitiesAsExpertsSettings:
    return EntitiesAsExpertsSettings(
        knowledge=str(base), describer=str(describer), least_score=0.0, masked=0.3
    )


def test_the_model_passes_the_checks_of_every_model(
    tiny_encoder_path: Path,
    linked_profiles: list[Document],  # noqa: F811
    tmp_path: Path,
) -> None:
    ambiguous(linked_profiles).save(tmp_path / "base")
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = EntitiesAsExperts.from_documents(
        encoder, linked_profiles, settings_for(tmp_path / "base", tiny_encoder_path)
    )
    check_model(model, linked_profiles, tmp_path, steps=150)


@pytest.fixture
def model(tiny_encoder_path: Path, tmp_path: Path) -> EntitiesAsExperts:
    torch.manual_seed(0)
    Tables.build([TOWN]).save(tmp_path / "base")
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    return EntitiesAsExperts(encoder, settings_for(tmp_path / "base", tiny_encoder_path)).eval()


def offered(model: EntitiesAsExperts, *names: str) -> list[list[str]]:
    (found,) = model.predict([document(*names)])
    return [[each["id"] for each in entity.link_candidates] for entity in found.entities]


def test_memories_of_no_entity_one_and_two_of_one_name(model: EntitiesAsExperts) -> None:
    assert offered(model, "Torvik", "Mara Velden") == [["Q1"], ["Q1"]]
    with model.source.replaced(Tables.build([])):
        assert offered(model, "Torvik") == [[]]
    with model.source.replaced(Tables.build([TOWN, KnownEntity("Q9", {"Torvik": 1})])):
        assert sorted(offered(model, "Torvik")[0]) == ["Q1", "Q9"]


def test_the_memory_grows_without_training(model: EntitiesAsExperts, tmp_path: Path) -> None:
    assert offered(model, "Mara Velden") == [["Q1"]]
    Tables.build([TOWN, WRITER]).save(tmp_path / "base")
    assert sorted(offered(model, "Mara Velden")[0]) == ["Q1", "Q2"]


def test_what_is_known_changes_what_is_read(model: EntitiesAsExperts) -> None:
    tops = []
    for base in (Tables.build([TOWN]), Tables.build([WRITER]), Tables.build([])):
        with model.source.replaced(base):
            batch = model._batch(model.prepare([document("Torvik")]), 0.0)
        tops.append(model._read(batch, None)[2])
    assert not torch.allclose(tops[0], tops[1], atol=1e-5)
    assert not torch.allclose(tops[0], tops[2], atol=1e-5)


def test_mentions_are_hidden_whole_and_told_by_tags(model: EntitiesAsExperts) -> None:
    (example,) = model.prepare([document("Mara Velden", "Torvik")])
    hidden = np.array([True, False])
    shown = with_hidden(example.mentions, hidden, -7)
    first, last = int(example.mentions.first[0]), int(example.mentions.last[0])
    assert [place for place, token in enumerate(shown) if token == -7] == [*range(first, last + 1)]
    (tags,) = detection_tags(model._batch([example], 0.0).mentions).tolist()
    # [CLS] mara velden was born in torvik . [SEP]
    assert tags == [0, 1, 2, 0, 0, 0, 1, 0, 0]


def test_halved_precision_learns_as_well(model: EntitiesAsExperts) -> None:
    given = document("Torvik")
    given = given.replace(entities=(replace(given.entities[0], id="Q1"),))
    with model.source.replaced(Tables.build([TOWN, WRITER])):
        batch = model.collate(model.prepare([given] * 9))
    whole = model(batch).loss.detach()
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(batch).loss
    loss.backward()
    assert float(loss.detach()) == pytest.approx(float(whole), rel=0.05)
    assert model.memory.query.weight.grad.isfinite().all()


def test_draws_are_the_same_outside_of_training_and_new_within(model: EntitiesAsExperts) -> None:
    examples = model.prepare([document("Mara Velden", "Torvik")]) * 20
    assert torch.equal(model.collate(examples).hidden, model.collate(examples).hidden)
    model.train()
    assert not torch.equal(model.collate(examples).hidden, model.collate(examples).hidden)
