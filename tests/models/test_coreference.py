"""Coreference: mentions in, entities out."""

from pathlib import Path

import numpy as np
import pytest
import torch
from model_checks import check_model

from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.evaluation.tasks import TASKS
from factloom.models import entity_decoding
from factloom.models.coreference import Coreference, CoreferenceSettings
from factloom.modules.linking import Linking

TEXT = "Ada Lovelace met Babbage . Lovelace and Babbage wrote . She left ."
SPANS = [(0, 12), (17, 24), (27, 35), (40, 47), (56, 59)]
ADA, BABBAGE = (0, 2, 4), (1, 3)


def document(scores: list[float | None] | None = None) -> Document:
    return Document(
        TEXT,
        sentences=(Sentence(0, 26), Sentence(27, 55), Sentence(56, 66)),
        mentions=tuple(
            Mention(*span, "PER", score=score)
            for span, score in zip(SPANS, scores or [None] * 5, strict=True)
        ),
    )


@pytest.fixture(scope="module")
def model(tiny_encoder_path: Path) -> Coreference:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
        return Coreference(encoder, ["LOC", "PER"], CoreferenceSettings(hidden=8)).eval()


def test_coreference_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = CoreferenceSettings(hidden=16, dropout=0.0)
    trained = Coreference.from_documents(encoder, profiles[:3], settings)
    unknown_type = {"scorer.types.weight"}  # gets a gradient, but not in its last row
    assert unknown_type <= dict(trained.named_parameters()).keys()
    check_model(trained, profiles[:3], tmp_path)
    task = TASKS["entities"]
    found = task.scores(profiles[:3], task.ask(trained, profiles[:3]))
    assert found["f1"] > 0.9  # of what it was trained on


def linked(model: Coreference, same: list[tuple[int, ...]], scores: list[float | None]) -> Document:
    """The entities where the given clusters have sure links and all others sure doubts."""
    whole = document(scores)
    (example,) = model.prepare([whole])
    of_pairs = [
        4.0 if any({one, other} <= set(cluster) for cluster in same) else -4.0
        for one, other in zip(example.left.tolist(), example.right.tolist(), strict=True)
    ]
    return entity_decoding.with_entities(whole, example, np.array(of_pairs), Linking())


def test_linked_mentions_are_one_entity_in_the_order_of_the_text(model: Coreference) -> None:
    found = linked(model, [ADA, BABBAGE], [None] * 5)
    assert [entity.mentions for entity in found.entities] == [ADA, BABBAGE]
    assert [entity.type for entity in found.entities] == ["PER", "PER"]


def test_mentions_of_one_spelling_and_type_are_one_entity(model: Coreference) -> None:
    text = "Rome and Rome and Rome ."
    mentions = (Mention(0, 4, "LOC"), Mention(9, 13, "LOC"), Mention(18, 22, "PER"))
    (example,) = model.prepare([Document(text, mentions=mentions)])
    doubts = np.full(3, -9.0)
    found = entity_decoding.with_entities(
        Document(text, mentions=mentions), example, doubts, Linking()
    )
    assert [entity.mentions for entity in found.entities] == [(0, 1), (2,)]


def test_mentions_with_different_numbers_are_never_one_entity(model: Coreference) -> None:
    dates = Document(
        "On 14 March 2019 and on 2 May 2019 .",
        mentions=(Mention(3, 16, "TIME"), Mention(24, 34, "TIME")),
    )
    (example,) = model.prepare([dates])
    found = entity_decoding.with_entities(dates, example, np.array([9.0]), Linking())
    assert [entity.mentions for entity in found.entities] == [(0,), (1,)]


def test_what_is_named_after_a_person_is_never_the_person(model: Coreference) -> None:
    museum = Document(
        "Ada Brook . The Ada Brook Museum .",
        mentions=(Mention(0, 9, "PER"), Mention(12, 32, "ORG")),
    )
    (example,) = model.prepare([museum])
    found = entity_decoding.with_entities(museum, example, np.array([9.0]), Linking())
    assert [entity.mentions for entity in found.entities] == [(0,), (1,)]
    person = museum.replace(mentions=(museum.mentions[0], Mention(12, 32, "PER")))
    assert not model.prepare([person])[0].different.any()


def test_an_entity_is_as_sure_as_its_weakest_part(model: Coreference) -> None:
    found = linked(model, [ADA], [0.9, 0.8, 0.95, 0.3, 0.99])
    link, surname = (1 / (1 + 2.718281828459045**-score) for score in (4, 8))
    assert [entity.score for entity in found.entities] == pytest.approx([0.9, 0.3])
    sure = linked(model, [ADA], [1.0, 0.8, 1.0, 0.3, 1.0])
    assert sure.entities[0].score == pytest.approx((2 * link + surname) / 3)


def test_the_type_with_the_most_confidence_wins_and_found_mentions_take_it_over(
    model: Coreference,
) -> None:
    whole = document([0.4, 0.5, None, 0.5, 0.6])
    kinds = ["LOC", "PER", "LOC", "PER", "PER"]
    mixed = whole.replace(
        mentions=tuple(
            Mention(m.start, m.end, kind, m.score)
            for m, kind in zip(whole.mentions, kinds, strict=True)
        )
    )
    (example,) = model.prepare([mixed])
    scores = np.full(example.terms, 5.0)
    found = entity_decoding.with_entities(mixed, example, scores, Linking())
    assert [entity.type for entity in found.entities] == ["PER"]
    assert [mention.type for mention in found.mentions] == ["PER", "PER", "LOC", "PER", "PER"]


def test_the_fitted_threshold_gets_the_most_entities_right(
    model: Coreference, profiles: list[Document]
) -> None:
    def right(threshold: float) -> float:
        model.scale.threshold.fill_(threshold)
        task = TASKS["entities"]
        return task.scores(profiles, task.ask(model, profiles))["f1"]

    fitted = model.fit_scores(profiles)
    chosen = fitted["link_threshold"]
    assert right(chosen) == pytest.approx(fitted["entity_f1_of_gold_mentions"])
    tried = {float(threshold): right(float(threshold)) for threshold in entity_decoding.THRESHOLDS}
    good = [t for t, f1 in tried.items() if f1 >= max(tried.values()) - entity_decoding.TOLERANCE]
    assert chosen in good
    assert abs(chosen) == min(abs(threshold) for threshold in good)
    assert len(set(tried.values())) > 1


def test_a_bare_surname_is_the_person_whose_full_name_ends_in_it(model: Coreference) -> None:
    text = "Agnes Whitlock spoke . Whitlock left for Whitlock ."
    mentions = (Mention(0, 14, "PER"), Mention(23, 31, "PER"), Mention(41, 49, "LOC"))
    (example,) = model.prepare([Document(text, mentions=mentions)])
    found = entity_decoding.with_entities(
        Document(text, mentions=mentions), example, np.full(3, -9.0), Linking()
    )
    assert [entity.mentions for entity in found.entities] == [(0, 1), (2,)]


def test_mentions_that_stand_in_any_order_give_the_same_entities(model: Coreference) -> None:
    whole = document()
    shuffled = whole.replace(mentions=tuple(whole.mentions[i] for i in (3, 0, 4, 2, 1)))
    (one,), (other,) = model.predict([whole]), model.predict([shuffled])

    def spans(found: Document) -> set[tuple[tuple[int, int], ...]]:
        return {
            tuple((found.mentions[i].start, found.mentions[i].end) for i in entity.mentions)
            for entity in found.entities
        }

    assert spans(one) == spans(other)


def test_documents_without_mentions_have_no_entity(model: Coreference) -> None:
    assert model.predict([Document("nothing here"), Document("")]) == [
        Document("nothing here"),
        Document(""),
    ]


def test_entities_of_sections_are_joined_by_name_and_type() -> None:
    names = ["Ada Brook", "Oslo", "Oslo", "Brook", "Oslo", "Bo Quill", "Quill", "Cy Quill"]
    types = ["PER", "LOC", "LOC", "PER", "ORG", "PER", "PER", "PER"]
    text = " ".join(names)
    starts = [len(" ".join(names[:number])) + (number > 0) for number in range(len(names))]
    spans = zip(starts, names, types, strict=True)
    read = Document(
        text,
        mentions=tuple(Mention(at, at + len(name), kind, 0.9) for at, name, kind in spans),
        entities=tuple(
            Entity((number,), kind, score=0.9 - number / 10) for number, kind in enumerate(types)
        ),
    )
    joined = entity_decoding.joined_by_name(read)
    assert [entity.mentions for entity in joined.entities] == [
        (0, 3),
        (1, 2),
        (4,),
        (5,),
        (6,),
        (7,),
    ]
    assert [entity.type for entity in joined.entities] == ["PER", "LOC", "ORG", "PER", "PER", "PER"]
    assert joined.entities[0].score == pytest.approx(0.6)
