"""DocRE-SD: features from plain loops, hidden pairs, batches, and what it tells about bridges."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from atlop_by_loops import atlop_by_loops
from model_checks import check_model
from pydantic import ValidationError

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.consistency import Consistency
from factloom.models.docre_sd import DocreSd, DocreSdSettings, pair_matrix
from factloom.modules.pair_reasoning import PairMatrix
from factloom.reasoning_patterns import premises

RELATIONS = ["P19", "P27", "P69", "P159"]


def make_model(path: Path, **settings: object) -> DocreSd:
    """An untrained model in double precision, with weights that are far from nothing."""
    chosen = DocreSdSettings.model_validate({"block_size": 8, **settings})
    with torch.random.fork_rng():
        torch.manual_seed(4)
        model = DocreSd(Encoder.load(str(path), overlap=16), RELATIONS, chosen)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    return model.double().eval()


@pytest.fixture(scope="module")
def documents(profiles: list[Document]) -> list[Document]:
    """Two whole documents, and one that is asked for some of its pairs only."""
    asked = profiles[2].replace(candidates=profiles[2].pairs()[::3])
    return [profiles[0], profiles[1], asked]


@pytest.mark.parametrize("unit", ["feed_forward", "highway"])
def test_docre_sd_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path, unit: str
) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = DocreSdSettings.model_validate(
        {"evidence_weight": 1.0, "type_constraints": "learned", "unit": unit, "dropout": 0.0}
    )
    model = DocreSd.from_documents(encoder, profiles[:3], settings, names={"P19": "born in"})
    # The mask vector stands for pairs that only self-distillation hides.
    check_model(model, profiles[:3], tmp_path, without_gradient={"mask_vector"}, steps=150)
    assert DocreSd.from_pretrained(tmp_path / "model").relation_names == {"P19": "born in"}


def test_pair_features_equal_plain_loops(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    """The same loops as for ATLOP, whose logits are the features in front of tanh."""
    model = make_model(tiny_encoder_path)
    width = model.encoder.width
    plain = Atlop(model.encoder, [str(n) for n in range(width - 1)], AtlopSettings(block_size=8))
    plain.pairs, plain.classifier = model.pairs, model.bilinear
    scores = model.score(model.collate(model.prepare(documents)))
    row = 0
    for document in documents:
        naive = atlop_by_loops(plain.double(), document)
        for pair in sorted(document.pairs(), key=lambda p: (min(p), max(p), p)):
            expected = torch.tensor(naive.logits[pair], dtype=torch.float64).tanh()
            torch.testing.assert_close(scores.features[0][row], expected, rtol=1e-6, atol=1e-8)
            row += 1
    assert row == len(scores.logits)


def test_logits_are_those_of_the_last_layer(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path, layers=3)
    scores = model.score(model.collate(model.prepare(documents)))
    assert len(scores.features) == 4
    features = scores.features[0]
    for layer in model.reasoning:
        features = layer(features, scores.matrix)
    expected = features @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(scores.logits, expected)


def test_pairs_stand_at_their_place_in_the_matrix_of_their_document(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    examples = model.prepare(documents)
    matrix = pair_matrix(model.collate(examples))
    assert matrix.documents == 3
    assert matrix.entities == max(len(document.entities) for document in documents)
    row = 0
    for number, example in enumerate(examples):
        for head, tail in example.pair_index:
            place = (matrix.document[row], matrix.head[row], matrix.tail[row])
            assert tuple(map(int, place)) == (number, head, tail)
            row += 1


def test_what_is_hidden_cannot_be_seen(tiny_encoder_path: Path, documents: list[Document]) -> None:
    model = make_model(tiny_encoder_path)
    scores = model.score(model.collate(model.prepare(documents)))
    hidden = torch.zeros(len(scores.logits), dtype=torch.bool)
    hidden[::3] = True
    other = scores.features[0].clone()
    other[::3] += 1.0
    changed = dataclasses.replace(scores, features=(other, *scores.features[1:]))
    one, same = (model.reason_with_hidden(found, hidden).logits for found in (scores, changed))
    assert torch.equal(one, same)
    everything = model.reason_with_hidden(scores, torch.zeros_like(hidden))
    torch.testing.assert_close(everything.logits, scores.logits)
    assert not torch.allclose(one[~hidden], scores.logits[~hidden])


def test_a_pattern_is_named_once() -> None:
    with pytest.raises(ValidationError, match="name it once"):
        DocreSdSettings(patterns=(1, 2, 1))


# --- explanations ----------------------------------------------------------------------------


PAIRS = [(head, tail) for head in range(5) for tail in range(5) if head != tail]
ASKED = (0, 1)


def attending_to_loud_pairs(path: Path, patterns: Sequence[int], **settings: object) -> DocreSd:
    """The heads of the patterns look at premises as far as their first features are loud."""
    model = make_model(path, layers=1, **settings)
    attention = model.reasoning[0].attention
    for weights in attention.parameters():
        torch.nn.init.zeros_(weights)
    with torch.no_grad():
        for pattern in patterns:
            head = model.settings.patterns.index(pattern)
            first = head * model.encoder.width // 4
            attention.query.bias[first] = 30.0
            attention.key.weight[first, 0] = 1.0
            attention.key_premises.near[head, 0, 0] = 1.0
            attention.key_premises.far[head, 0, 0] = 1.0
    return model


def bridges_of(
    model: DocreSd,
    loudness: Mapping[tuple[int, int], float],
    held: Collection[tuple[tuple[int, int], int]],
) -> list[dict[str, Any]]:
    """Those of the asked pair, where `held` are pairs and their relations."""
    head, tail = torch.tensor(PAIRS).T
    matrix = PairMatrix(torch.zeros_like(head), head, tail, 1, 5)
    features = torch.zeros(len(PAIRS), model.encoder.width, dtype=torch.float64)
    for pair, loud in loudness.items():
        features[PAIRS.index(pair), 0] = loud
    holds = torch.zeros(len(PAIRS), len(RELATIONS), dtype=torch.bool)
    holds[PAIRS.index(ASKED), 1] = True
    for pair, kind in held:
        holds[PAIRS.index(pair), kind] = True
    found = model.provenance_of(model.reason(features, torch.zeros(0), matrix), holds)
    assert all(len(entry["bridges"]) <= model.settings.explain for entry in found)
    bridges: list[dict[str, Any]] = found[holds.nonzero().tolist().index([PAIRS.index(ASKED), 1])][
        "bridges"
    ]
    return bridges


@pytest.mark.parametrize("pattern", [1, 2, 3, 4])
def test_provenance_names_the_bridge_that_was_attended_to(
    tiny_encoder_path: Path, pattern: int
) -> None:
    model = attending_to_loud_pairs(tiny_encoder_path, [pattern], explain=2)
    stated = list(zip(premises(pattern, *ASKED, 3), (0, 3), strict=True))
    best, _ = bridges_of(model, {pair: 1.0 for pair, _ in stated}, stated)
    assert (best["entity"], best["pattern"]) == (3, pattern)
    # one head looks nowhere else, the three others everywhere: at the pair and at three bridges
    assert best["weight"] == pytest.approx((1 + 3 / 4) / 4, abs=1e-3)
    assert best["premises"] == [[start, RELATIONS[kind], end] for (start, end), kind in stated]


@pytest.mark.parametrize("loudest", [2, 3])
def test_of_bridges_that_explain_the_most_attended_comes_first_and_others_behind(
    tiny_encoder_path: Path, loudest: int
) -> None:
    model = attending_to_loud_pairs(tiny_encoder_path, [1], explain=3)
    loud = {2: 0.1, 3: 0.1, 4: 0.4, loudest: 0.2}  # entity 4 has no relations to either
    found = bridges_of(
        model,
        {pair: loud[bridge] for bridge in loud for pair in premises(1, *ASKED, bridge)},
        [(pair, 0) for bridge in (2, 3) for pair in premises(1, *ASKED, bridge)],
    )
    assert [bridge["entity"] for bridge in found] == [loudest, 5 - loudest, 4]
    assert found[2]["weight"] > found[0]["weight"] > found[1]["weight"]
    assert [len(bridge["premises"]) for bridge in found] == [2, 2, 0]


@pytest.mark.parametrize("attended", [1, 2])
def test_of_patterns_that_explain_the_most_attended_is_named(
    tiny_encoder_path: Path, attended: int
) -> None:
    model = attending_to_loud_pairs(tiny_encoder_path, [attended], explain=1)
    stated = {*premises(1, *ASKED, 3), *premises(2, *ASKED, 3)}
    (found,) = bridges_of(model, dict.fromkeys(stated, 1.0), [(pair, 0) for pair in stated])
    assert (found["entity"], found["pattern"]) == (3, attended)


def test_bridges_do_not_know_their_batch(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    together = model.predict(documents)
    alone = [model.predict([document])[0] for document in documents]
    for one, other in zip(together, alone, strict=True):
        assert one.relations
        expected = {(r.head, r.tail, r.type): r.provenance["bridges"] for r in other.relations}
        assert {(r.head, r.tail, r.type): r.provenance["bridges"] for r in one.relations} == (
            expected
        )


ONE_VALUE = Consistency(singles=tuple(RELATIONS))  # nearly all of what is found contradicts it


@pytest.mark.parametrize(
    "settings",
    [{}, {"stretch": 60}, {"consistency": ONE_VALUE}, {"consistency": ONE_VALUE, "stretch": 90}],
    ids=["whole", "piece by piece", "without contradictions", "both"],
)
def test_bridges_are_entities_of_the_document_other_than_the_ends(
    tiny_encoder_path: Path, documents: list[Document], settings: dict[str, Any]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    named = 0
    for document in model.predict(documents):
        for relation in document.relations:
            assert relation.provenance["model"] == "docre_sd"
            for bridge in relation.provenance["bridges"]:
                named += 1
                assert bridge["entity"] not in (relation.head, relation.tail)
                assert 0 <= bridge["entity"] < len(document.entities)
                assert 0 < bridge["weight"] <= 1
                ends = premises(bridge["pattern"], relation.head, relation.tail, bridge["entity"])
                said = {(r.head, r.type, r.tail) for r in document.relations}
                for start, kind, end in bridge["premises"]:
                    assert (start, end) in ends
                    assert (start, kind, end) in said
    assert named


def test_nothing_is_explained_where_nothing_is_asked_or_reasoned(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    for settings in ({"explain": 0}, {"layers": 0}):
        model = make_model(tiny_encoder_path, **settings)
        relations = [r for document in model.predict(documents) for r in document.relations]
        assert relations
        assert all(relation.provenance["bridges"] == [] for relation in relations)
