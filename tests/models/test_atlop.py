"""ATLOP's mathematics: logits, losses and gradients against plain loops, alone and in batches."""

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from atlop_by_loops import atlop_by_loops
from model_checks import check_model

from factloom.document import Document, Entity, Mention
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models.atlop import Atlop, AtlopSettings

RELATIONS = ["P19", "P27", "P69", "P159"]
VARIANTS = [
    pytest.param({}, id="as in the paper"),
    pytest.param({"threshold": "global"}, id="global threshold"),
    pytest.param({"context": False}, id="no context"),
    pytest.param({"pooling": "mean"}, id="mean pooling"),
    pytest.param({"width": 16, "block_size": 4}, id="narrow pairs"),
    pytest.param({"threshold": "global", "context": False, "pooling": "mean"}, id="all ablations"),
]


def make_model(path: Path, window: int = 512, **settings: object) -> Atlop:
    """An untrained model in double precision, with weights that are far from nothing."""
    chosen = AtlopSettings.model_validate({"block_size": 8, **settings})
    with torch.random.fork_rng():
        torch.manual_seed(4)
        encoder = Encoder.load(str(path), window=window, overlap=16)
        model = Atlop(encoder, RELATIONS, chosen)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    return model.double().eval()


def first_sentences(document: Document, count: int) -> Document:
    """The beginning of a document: short enough for one window of the tiny encoder."""
    end = document.sentences[count - 1].end
    kept = [index for index, mention in enumerate(document.mentions) if mention.end <= end]
    entities = [
        (index, [kept.index(mention) for mention in entity.mentions if mention in kept])
        for index, entity in enumerate(document.entities)
    ]
    left = [index for index, mentions in entities if mentions]
    return document.replace(
        text=document.text[:end],
        sentences=document.sentences[:count],
        mentions=tuple(document.mentions[index] for index in kept),
        entities=tuple(
            dataclasses.replace(document.entities[index], mentions=tuple(mentions))
            for index, mentions in entities
            if mentions
        ),
        relations=tuple(
            dataclasses.replace(r, head=left.index(r.head), tail=left.index(r.tail))
            for r in document.relations
            if r.head in left and r.tail in left and all(s < count for s in r.evidence)
        ),
    )


@pytest.fixture(scope="module")
def short(profiles: list[Document]) -> list[Document]:
    """Three documents of different lengths; some entities have several mentions."""
    found = [first_sentences(profiles[index], count) for index, count in ((0, 3), (1, 2), (2, 1))]
    assert any(len(entity.mentions) > 1 for document in found for entity in document.entities)
    assert any(relation.evidence for document in found for relation in document.relations)
    return found


@pytest.mark.parametrize("threshold", ["adaptive", "global"])
def test_atlop_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, short: list[Document], tmp_path: Path, threshold: str
) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = AtlopSettings.model_validate(
        {"block_size": 8, "evidence_weight": 1.0, "type_constraints": "learned"}
        | {"threshold": threshold}
    )
    names = {"P19": "born in"}
    model = Atlop.from_documents(encoder, short, settings, names=names)
    model.provenance = {"seed": 3, "data": {"a.json": "0123"}}
    check_model(model, short, tmp_path)
    loaded = Atlop.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.relation_names == names
    assert loaded.relations == model.relations


@pytest.mark.parametrize("settings", VARIANTS)
def test_logits_equal_plain_loops_over_mentions_and_pairs(
    tiny_encoder_path: Path, short: list[Document], settings: dict[str, object]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    examples = model.prepare(short)
    assert all(example.tokens <= model.encoder.capacity for example in examples)
    with torch.no_grad():
        logits = model(model.collate(examples)).logits.tolist()
    row = 0
    for document, example in zip(short, examples, strict=True):
        expected = atlop_by_loops(model, document).logits
        for head, tail in example.pair_index.tolist():
            assert logits[row] == pytest.approx(expected[head, tail], rel=1e-7, abs=1e-9)
            row += 1
    assert row == len(logits)


@pytest.mark.parametrize("evidence_weight", [0.0, 2.5])
def test_loss_equals_plain_sums_over_classes_and_evidence_tokens(
    tiny_encoder_path: Path, short: list[Document], evidence_weight: float
) -> None:
    model = make_model(tiny_encoder_path, evidence_weight=evidence_weight)
    with torch.no_grad():
        found = float(model(model.collate(model.prepare(short))).loss)
    total, pairs = 0.0, 0
    for document in short:
        naive = atlop_by_loops(model, document)
        for pair, (threshold, *logits) in naive.logits.items():
            gold = [r for r in document.relations if (r.head, r.tail) == pair]
            held = {RELATIONS.index(r.type) for r in gold if r.type in RELATIONS}
            above = [math.exp(logits[index]) for index in held]
            below = [math.exp(logit) for index, logit in enumerate(logits) if index not in held]
            bound = math.exp(threshold)
            total -= sum(math.log(number / (sum(above) + bound)) for number in above)
            total -= math.log(bound / (sum(below) + bound))
            known = [r for r in gold if r.type in RELATIONS]
            evidence = {sentence for r in known for sentence in r.evidence}
            inside = [token for token, s in enumerate(naive.sentence) if s in evidence]
            for token in inside:  # KL(uniform || q)
                share = 1 / len(inside)
                q = naive.attention[pair][token]
                total += evidence_weight * share * math.log(share / q)
            pairs += 1
    assert found == pytest.approx(total / pairs, rel=1e-6)


def test_what_a_text_denies_weighs_as_the_setting_says(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    denying = [document.replace(relations=(), denied=document.relations) for document in short]
    expected, pairs = 0.0, 0
    with torch.no_grad():
        plain, weighed = (
            make_model(tiny_encoder_path, denied_weight=weight) for weight in (0.0, 2.5)
        )
        losses = [float(m(m.collate(m.prepare(denying))).loss) for m in (plain, weighed)]
        for document in denying:
            logits = atlop_by_loops(plain, document).logits
            for false in document.denied:
                if false.type in RELATIONS:  # of others the model knows nothing
                    threshold, *others = logits[false.head, false.tail]
                    margin = others[RELATIONS.index(false.type)] - threshold
                    expected += 2.5 * math.log(1 + math.exp(margin))
            pairs += len(logits)
    assert expected > 0
    assert losses[1] - losses[0] == pytest.approx(expected / pairs, rel=1e-6)


def test_training_draws_attention_to_the_evidence(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path, evidence_weight=3.0).float()
    batch = model.collate(model.prepare(short))
    plain = make_model(tiny_encoder_path).float()

    def evidence_loss() -> float:
        plain.load_state_dict(model.state_dict())
        with torch.no_grad():
            return float(model(batch).loss) - float(plain(batch).loss)

    before = evidence_loss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    assert 0 < evidence_loss() < before / 2


def test_evidence_has_no_part_in_the_loss_without_its_weight(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    bare = [
        document.replace(
            relations=tuple(dataclasses.replace(r, evidence=()) for r in document.relations)
        )
        for document in short
    ]
    with torch.no_grad():
        losses = [model(model.collate(model.prepare(part))).loss for part in (short, bare)]
    assert torch.equal(*losses)


@pytest.mark.parametrize("elements", [1, 6_000, 60_000])
def test_pair_blocks_change_neither_logits_nor_gradients(
    tiny_encoder_path: Path, profiles: list[Document], elements: int
) -> None:
    whole = make_model(tiny_encoder_path)
    cut = make_model(tiny_encoder_path, pair_elements=elements)
    batch = whole.collate(whole.prepare(profiles[:2]))
    outputs = [model(batch) for model in (whole, cut)]
    torch.testing.assert_close(outputs[1].logits, outputs[0].logits, rtol=1e-10, atol=1e-12)
    for output in outputs:
        output.loss.backward()
    for (name, weights), other in zip(cut.named_parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(weights.grad, other.grad, rtol=1e-8, atol=1e-12, msg=name)


def test_gradients_of_the_loss_are_right_by_finite_differences(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path, evidence_weight=1.0, pair_elements=300)
    batch = model.collate(model.prepare(short[1:]))
    names = [name for name, _ in model.named_parameters() if "encoder.layer.0" not in name]
    weights = [model.get_parameter(name).detach().clone().requires_grad_() for name in names]

    def loss(*values: torch.Tensor) -> torch.Tensor:
        chosen = dict(zip(names, values, strict=True))
        return torch.func.functional_call(model, chosen, (batch,)).loss

    assert torch.autograd.gradcheck(loss, tuple(weights), fast_mode=True, atol=1e-6)


def test_a_batch_equals_its_documents_one_by_one(
    tiny_encoder_path: Path, profiles: list[Document]
) -> None:
    """Documents of several windows, of one, and without any entity, side by side."""
    model = make_model(tiny_encoder_path, window=128)
    documents = [profiles[0], Document("Nobody."), first_sentences(profiles[1], 1), profiles[2]]
    examples = model.prepare(documents)
    assert max(example.tokens for example in examples) > model.encoder.capacity
    with torch.no_grad():
        together = model(model.collate(examples)).logits
        alone = [model(model.collate([example])).logits for example in examples if example.terms]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_documents_with_few_entities_have_few_pairs(tiny_encoder_path: Path, count: int) -> None:
    text = "Mara Velden Torvik"
    spans = ((0, 4), (5, 11), (12, 18))[:count]
    document = Document(
        text=text,
        mentions=tuple(Mention(start, end, "x") for start, end in spans),
        entities=tuple(Entity((index,), "x") for index in range(count)),
    )
    model = make_model(tiny_encoder_path)
    (example,) = model.prepare([document])
    assert example.terms == count * (count - 1)
    (found,) = model.predict([document])
    assert {(r.head, r.tail) for r in found.relations} <= set(document.pairs())
    assert found.replace(relations=()) == document


def test_relations_and_type_constraints_are_those_of_the_training_documents(
    tiny_encoder_path: Path, profiles: list[Document]
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = AtlopSettings(block_size=8, type_constraints="learned")
    model = Atlop.from_documents(encoder, profiles, settings)
    types = {relation.type for document in profiles for relation in document.relations}
    assert list(model.relations) == sorted(types)
    assert isinstance(model.settings.type_constraints, dict)
    assert set(model.settings.type_constraints) == types
    assert ("PER", "LOC") in model.settings.type_constraints["P19"]


def test_documents_without_relations_cannot_be_learned_from(
    tiny_encoder_path: Path, profiles: list[Document]
) -> None:
    bare = [document.replace(relations=()) for document in profiles]
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    with pytest.raises(ModelError) as caught:
        Atlop.from_documents(encoder, bare, AtlopSettings(block_size=8))
    assert caught.value.code == "no-relations-to-learn"
