"""A joint model as a pipeline: text in, a whole document out, whatever the batch size."""

from pathlib import Path

import pytest
import torch

import factloom
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.joint import Joint, JointSettings
from factloom.pipeline import Pipeline

TEXTS = (
    "Mara Velden was born in Torvik on 3 May 1931 and studied at Halden College.",
    "She founded Quillmark Ltd in 1956; the company has its headquarters in Ashmere, Norvania.",
    "Torvik lies in Norvania. Mara Velden left it.",
)


@pytest.fixture(scope="module")
def saved(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model that finds many mentions, entities and relations."""
    settings = JointSettings(block_size=8, hidden=12)
    with torch.random.fork_rng():
        torch.manual_seed(6)
        encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
        model = Joint(encoder, ["LOC", "PER"], ["P19", "P27"], settings)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    model.link_scale.threshold.fill_(1.5)  # else all mentions are one entity
    with torch.no_grad():
        model.classifier.bias[0] = -5.0  # of the threshold class: most relations are above it
    path = tmp_path_factory.mktemp("models") / "joint"
    model.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def pipeline(saved: Path) -> Pipeline:
    return factloom.load(saved)


def test_a_text_comes_back_with_entities_and_relations(pipeline: Pipeline) -> None:
    found = pipeline(TEXTS[1])
    assert found.text == TEXTS[1]
    assert found.sentences
    assert found.entities
    assert found.relations


def things(document: Document) -> list[object]:
    """What was found, without the scores."""
    relations = sorted((r.head, r.tail, r.type) for r in document.relations)
    return [document.mentions and [(m.start, m.end, m.type) for m in document.mentions], relations]


def test_the_batch_size_changes_nothing(pipeline: Pipeline) -> None:
    alone = list(pipeline.stream(TEXTS, batch_size=1))
    together = list(pipeline.stream(TEXTS, batch_size=3))
    assert [things(document) for document in alone] == [things(document) for document in together]
    for one, other in zip(alone, together, strict=True):
        scores = {(r.head, r.tail, r.type): r.score for r in other.relations}
        assert {(r.head, r.tail, r.type): r.score for r in one.relations} == pytest.approx(
            scores, abs=1e-5
        )


def test_settings_restrict_what_the_model_finds(saved: Path, pipeline: Pipeline) -> None:
    found = pipeline(TEXTS[1])
    chosen = found.relations[0].type
    kept = factloom.load(saved, relations=[chosen])(TEXTS[1])
    assert {relation.type for relation in kept.relations} == {chosen}
    assert kept.entities == found.entities


def test_given_entities_are_related_as_they_are(pipeline: Pipeline) -> None:
    given = pipeline(TEXTS[1]).replace(relations=())
    (related,) = pipeline.relate([given])
    assert related.replace(relations=()) == given
