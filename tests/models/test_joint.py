"""Joint extraction: its mathematics against plain loops, and text in, a whole document out."""

import dataclasses
import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from model_checks import check_model
from torch import Tensor
from transformers import BertModel

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts import sections
from factloom.layouts.stretches import cut
from factloom.models.joint import Joint, JointSettings
from factloom.models.relation_decisions import in_stretches

TYPES, RELATIONS = ["LOC", "ORG", "PER"], ["P19", "P27", "P108"]


def make_model(path: Path, **settings: object) -> Joint:
    """An untrained model that finds many mentions, entities and relations."""
    chosen = JointSettings.model_validate({"block_size": 8, "hidden": 12, **settings})
    with torch.random.fork_rng():
        torch.manual_seed(6)
        model = Joint(Encoder.load(str(path), overlap=16), TYPES, RELATIONS, chosen)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    model.link_scale.threshold.fill_(1.5)  # else all mentions are one entity
    return model.double().eval()


@pytest.fixture(scope="module")
def short(profiles: list[Document]) -> list[Document]:
    return profiles[:3]


def test_joint_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, short: list[Document], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = JointSettings(
        block_size=8, hidden=16, dropout=0.0, evidence_weight=1.0, type_constraints="learned"
    )
    model = Joint.from_documents(encoder, short, settings, names={"P19": "born in"})
    model.provenance = {"seed": 3}
    check_model(model, short, tmp_path, steps=120)


# --- the mathematics ---------------------------------------------------------------------------


def encode(model: Joint, document: Document) -> tuple[list[Tensor], Tensor, list[list[int]]]:
    """States and attention of the Hugging Face class, and the tokens of each mention."""
    backbone = model.encoder.backbone
    reference = BertModel(backbone.config, add_pooling_layer=False).double().eval()
    reference.set_attn_implementation("eager")
    reference.load_state_dict(backbone.state_dict())
    tokens = model.encoder.tokenizer(document.text)
    output = reference(torch.tensor([tokens["input_ids"]]), output_attentions=True)
    mentions = [
        sorted({tokens.char_to_token(place) for place in range(m.start, m.end)} - {None})
        for m in document.mentions
    ]
    return list(output.last_hidden_state[0]), output.attentions[-1][0], mentions


def naive_logits(model: Joint, document: Document) -> dict[tuple[int, int], list[float]]:
    """Relations between given entities, by the formulas of the model's docstring."""
    states, attention, tokens = encode(model, document)
    entity_state, entity_attention = [], []
    for entity in document.entities:
        means = [sum(states[t] for t in tokens[m]) / len(tokens[m]) for m in entity.mentions]
        rows = [sum(attention[:, t] for t in tokens[m]) / len(tokens[m]) for m in entity.mentions]
        columns = zip(*(mean.tolist() for mean in means), strict=True)
        pooled = [math.log(sum(map(math.exp, column))) for column in columns]
        entity_state.append(torch.tensor(pooled, dtype=torch.float64))
        entity_attention.append(sum(rows) / len(rows))
    found = {}
    for head, tail in document.pairs():
        product = (entity_attention[head] * entity_attention[tail]).sum(0)
        weights = product / (product.sum() + 1e-5)
        context = sum(w * state for w, state in zip(weights, states, strict=True))
        z_head = (model.pairs.head(torch.cat([entity_state[head], context]))).tanh()
        z_tail = (model.pairs.tail(torch.cat([entity_state[tail], context]))).tanh()
        found[head, tail] = [
            float(bias)
            + sum(
                float(z_head[g : g + 8] @ weight.view(-1, 8, 8)[g // 8] @ z_tail[g : g + 8])
                for g in range(0, len(z_head), 8)
            )
            for weight, bias in zip(model.classifier.weight, model.classifier.bias, strict=True)
        ]
    return found


@torch.no_grad()
def test_relation_logits_are_those_of_plain_loops(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    torch.nn.init.zeros_(model.shape.weight)  # the reference reads the bare embeddings
    logits = model(model.collate(model.prepare(short))).logits
    expected = []
    for document in short:
        naive = naive_logits(model, document)
        expected += [naive[p] for p in sorted(naive, key=lambda p: (min(p), max(p), p))]
    assert logits.shape == (len(expected), len(RELATIONS) + 1)
    assert torch.allclose(logits, torch.tensor(expected, dtype=torch.float64), atol=1e-9)


@torch.no_grad()
def test_the_loss_is_the_weighted_sum_of_its_parts_over_the_words(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    def loss(**weights: float) -> float:
        model = make_model(tiny_encoder_path, **weights)
        batch = model.collate(model.prepare(short))
        return float(model(batch).loss) * batch.weight

    nothing = loss(mention_weight=0.0, coreference_weight=0.0)
    tags = loss(mention_weight=1.0, coreference_weight=0.0) - nothing
    links = loss(mention_weight=0.0, coreference_weight=1.0) - nothing
    evidence = loss(mention_weight=0.0, coreference_weight=0.0, evidence_weight=1.0) - nothing
    assert min(nothing, tags, links, evidence) > 0
    together = loss(mention_weight=2.0, coreference_weight=3.0, evidence_weight=0.5)
    assert together == pytest.approx(nothing + 2 * tags + 3 * links + 0.5 * evidence)


@torch.no_grad()
def test_shapes_of_words_reach_the_relations(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    batch = model.collate(model.prepare(short))
    with_shapes = model(batch).logits
    torch.nn.init.zeros_(model.shape.weight)
    assert not torch.allclose(with_shapes, model(batch).logits)


# --- prediction --------------------------------------------------------------------------------


def test_text_alone_becomes_a_whole_document(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    (found,) = model.predict([Document(short[0].text)])
    assert found.text == short[0].text
    assert len(found.sentences) > 1
    assert found.mentions
    assert found.entities
    assert found.relations
    owners = sorted(index for entity in found.entities for index in entity.mentions)
    assert owners == list(range(len(found.mentions)))  # every mention is in one entity
    for relation in found.relations:
        ends = (found.entities[relation.head].score, found.entities[relation.tail].score)
        assert 0 < relation.score <= min(ends)
        assert relation.evidence
        assert relation.provenance == {"model": "joint"}


def test_given_tokens_that_are_empty_are_no_mentions(tiny_encoder_path: Path) -> None:
    text = "Mara Velden"
    tokens = ((0, 0), (0, 0), (0, 4), (4, 4), (5, 5), (5, 11), (11, 11))
    given = Document(text, sentences=(Sentence(0, 11, tokens), Sentence(11, 11, ((11, 11),))))
    model = make_model(tiny_encoder_path)
    with torch.no_grad():
        model.tag.bias[0] -= 100  # no word is outside of all mentions
    (found,) = model.predict([given])
    assert found.mentions


def test_given_entities_are_kept_and_related(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    asked = [document.replace(relations=()) for document in short]
    found = model.relate(asked)
    assert [document.replace(relations=()) for document in found] == asked
    assert any(document.relations for document in found)
    naive = naive_logits_with_shapes(model, asked[0])
    expected = {
        (head, tail, RELATIONS[kind])
        for (head, tail), logits in naive.items()
        for kind in range(len(RELATIONS))
        if logits[1 + kind] > logits[0]
    }
    assert {(r.head, r.tail, r.type) for r in found[0].relations} == expected


def test_documents_without_entities_are_read_beside_others(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    anything = {relation: [(a, b) for a in TYPES for b in TYPES] for relation in RELATIONS}
    model = make_model(tiny_encoder_path, type_constraints=anything)
    bare = Document("nothing is here", id="bare", sentences=(Sentence(0, 15),))
    *together, alone = model.relate([*short, bare])
    assert alone == bare
    for one, other in zip(together, model.relate(short), strict=True):
        assert [(r.head, r.tail, r.type) for r in one.relations] == [
            (r.head, r.tail, r.type) for r in other.relations
        ]
    model.fit_scores([*short, bare])
    assert len(model.predict([Document(short[0].text), Document("")])) == 2


@torch.no_grad()
def naive_logits_with_shapes(
    model: Joint, document: Document
) -> dict[tuple[int, int], list[float]]:
    """The logits of the training pass, which another test holds against plain loops."""
    example = model.prepare([document])[0]
    logits = model(model.collate([example])).logits.tolist()
    pairs = [tuple(pair) for pair in example.known.entities.pair_index.tolist()]
    return dict(zip(pairs, logits, strict=True))


def test_relations_are_those_between_the_entities_that_were_found(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    found = model.predict(short)
    certain = [
        document.replace(
            entities=tuple(dataclasses.replace(e, score=None) for e in document.entities)
        )
        for document in found
    ]
    for document, related in zip(found, model.relate(certain), strict=True):
        assert [(r.head, r.tail, r.type, r.evidence) for r in document.relations] == [
            (r.head, r.tail, r.type, r.evidence) for r in related.relations
        ]
        for relation, alone in zip(document.relations, related.relations, strict=True):
            head, tail = document.entities[relation.head], document.entities[relation.tail]
            assert relation.score == pytest.approx(alone.score * head.score * tail.score)


def test_a_long_document_is_read_in_windows(tiny_encoder_path: Path, short: list[Document]) -> None:
    model = make_model(tiny_encoder_path)
    model.encoder.window = 64
    long = Document(" ".join(document.text for document in short))
    (found,) = model.predict([long])
    assert found.mentions
    assert max(mention.end for mention in found.mentions) > len(long.text) * 0.8


def test_relations_of_a_long_document_are_those_of_its_stretches(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    whole = make_model(tiny_encoder_path)
    cutting = make_model(tiny_encoder_path, stretch=60)
    brief = Document("Mara Velden was born in Torvik. She founded Quillmark Ltd.")
    found, beside = cutting.predict([Document(short[0].text), brief])
    uncut, _ = whole.predict([Document(short[0].text), brief])
    assert [m.start for m in found.mentions] == [m.start for m in uncut.mentions]
    assert [e.mentions for e in found.entities] == [e.mentions for e in uncut.entities]
    assert beside.relations == whole.predict([brief])[0].relations

    expected: dict[tuple[int, int, str], float] = {}
    for stretch in cut(uncut, whole.encoder.tokenize([uncut.text])[0].offsets, 60):
        (part,) = whole.relate([stretch.document])
        for r in part.relations:
            key = (stretch.entities[r.head], stretch.entities[r.tail], r.type)
            expected[key] = max(expected.get(key, 0.0), r.score)
    assert {(r.head, r.tail, r.type): r.score for r in found.relations} == pytest.approx(expected)
    assert 0 < len(expected) < len(uncut.relations)


def test_much_white_space_moves_what_is_found_and_loses_nothing(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tiny_encoder_path)
    text = "Mara Velden was born in Torvik. She founded Quillmark Ltd."
    (expected,) = model.predict([Document(text)])
    monkeypatch.setattr(sections, "SECTION", 70)  # which the text with the blanks is beyond
    (found,) = model.predict([Document(" " * 50 + text)])
    assert [(m.start - 50, m.type) for m in found.mentions] == [
        (m.start, m.type) for m in expected.mentions
    ]
    assert expected.relations
    assert {(r.head, r.tail, r.type) for r in found.relations} == {
        (r.head, r.tail, r.type) for r in expected.relations
    }


@pytest.mark.parametrize("text", ["", "   ", "Ada", "\u200b", "a . b"])
def test_hardly_any_text_is_no_problem(tiny_encoder_path: Path, text: str) -> None:
    model = make_model(tiny_encoder_path)
    (found,) = model.predict([Document(text)])
    assert found.text == text


def test_a_mention_whose_first_sign_the_tokenizer_drops_is_related_all_the_same(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    document = Document(
        "\u200bAda met \u200bBob",
        sentences=(Sentence(0, 13),),
        mentions=(Mention(0, 4, "PER"), Mention(9, 13, "PER")),
        entities=(Entity((0,), "PER"), Entity((1,), "PER")),
    )
    (found,) = model.relate([document])
    assert found.entities == document.entities


def test_entities_of_a_text_without_tokens_are_an_error_with_the_document(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    document = Document(
        "\u200b\u200b",
        id="odd",
        sentences=(Sentence(0, 2),),
        mentions=(Mention(0, 1, "PER"), Mention(1, 2, "PER")),
        entities=(Entity((0,), "PER"), Entity((1,), "PER")),
    )
    with pytest.raises(ModelError, match="odd"):
        model.relate([document])


def test_a_pair_of_a_long_document_has_no_more_relations_than_the_settings_allow(
    tiny_encoder_path: Path,
) -> None:
    text = " ".join(["Mara Velden was born in Torvik. She founded Quillmark Ltd."] * 8)
    (free,) = make_model(tiny_encoder_path, stretch=40, most_relations=3).predict([Document(text)])
    (one,) = make_model(tiny_encoder_path, stretch=40, most_relations=1).predict([Document(text)])
    of_pairs = Counter((relation.head, relation.tail) for relation in one.relations)
    assert of_pairs
    assert max(of_pairs.values()) == 1
    assert len(free.relations) > len(one.relations)


def test_of_several_relations_of_a_pair_in_a_long_document_the_surest_is_kept(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path, stretch=40, most_relations=1)
    names = "Mara Velden was born in Torvik. "
    document = Document(
        names * 8,
        mentions=tuple(
            Mention(start, start + length, kind)
            for first in range(0, 8 * len(names), len(names))
            for start, length, kind in ((first, 11, "PER"), (first + 24, 6, "LOC"))
        ),
        entities=(Entity(tuple(range(0, 16, 2)), "PER"), Entity(tuple(range(1, 16, 2)), "LOC")),
    )
    scores = iter([("alpha", 0.2), ("beta", 0.9)])

    def relate(stretches: list[Document]) -> list[Document]:
        """One relation of the two things in the first stretch, and another in the second."""
        return [
            stretch.replace(
                relations=tuple(Relation(0, 1, *said) for said in (next(scores, None),) if said)
            )
            for stretch in stretches
        ]

    found = in_stretches(model, document, relate)
    assert {(each.type, each.score) for each in found.relations} == {("beta", 0.9)}


def test_an_entity_in_a_sentence_behind_the_last_token_may_be_evidence(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path, most_relations=3)
    document = Document(
        "Ada met Bob. \u200b",
        sentences=(Sentence(0, 12), Sentence(13, 14)),
        mentions=(Mention(0, 3, "PER"), Mention(13, 14, "PER")),
        entities=(Entity((0,), "PER"), Entity((1,), "PER")),
    )
    (found,) = model.relate([document])
    assert found.relations
    assert all(set(relation.evidence) <= {0, 1} for relation in found.relations)


def test_fitting_the_scores_again_changes_nothing(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    first = model.fit_scores(short)
    assert model.fit_scores(short) == pytest.approx(first)


def test_scores_are_fitted_to_documents_with_a_mention_over_two_sentences(
    tiny_encoder_path: Path, short: list[Document]
) -> None:
    text = "Mara Velden was born in Torvik. Quillmark Ltd is hers."
    document = Document(
        text,
        sentences=(Sentence(0, 31), Sentence(32, len(text))),
        mentions=(Mention(0, 11, "PER"), Mention(24, 45, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
    )
    assert "mention_temperature" in make_model(tiny_encoder_path).fit_scores([*short, document])
