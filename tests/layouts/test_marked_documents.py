"""Marked documents: which token, sentence, pair and label everything gets, alone and in a batch."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts.marked_documents import (
    MarkedExample,
    learn_type_constraints,
    make_batch,
    make_examples,
    type_mask,
)
from factloom.modules.marked_batch import MarkedBatch

RELATIONS = ["born", "likes"]
ADA, BOB, ROME = 0, 1, 2


@pytest.fixture(scope="module")
def encoder(tiny_encoder_path: Path) -> Encoder:
    return Encoder.load(str(tiny_encoder_path), overlap=16).eval()


def meeting(**changes: object) -> Document:
    """Ada, Bob and Rome; the last two are mentioned twice, and Rome's mentions stand reversed."""
    document = Document(
        text="Ada met Bob in Rome . Bob liked Rome .",
        id="meeting",
        sentences=(Sentence(0, 21), Sentence(22, 38)),
        mentions=(
            Mention(32, 36, "LOC"),
            Mention(0, 3, "PER"),
            Mention(8, 11, "PER"),
            Mention(15, 19, "LOC"),
            Mention(22, 25, "PER"),
            Mention(4, 7, "ACT"),  # belongs to no entity
        ),
        entities=(Entity((1,), "PER"), Entity((2, 4), "PER"), Entity((0, 3), "LOC")),
        relations=(
            Relation(ADA, ROME, "born", evidence=(0,)),
            Relation(BOB, ROME, "likes", evidence=(1,)),
            Relation(BOB, ROME, "born", evidence=(0,)),
            Relation(BOB, ADA, "born"),
            Relation(ADA, BOB, "hates", evidence=(0,)),  # a type that the model does not know
        ),
    )
    return document.replace(**changes)


def make_example(encoder: Encoder, document: Document) -> MarkedExample:
    (found,) = make_examples([document], encoder, RELATIONS, "*")
    return found


def pieces(encoder: Encoder, example: MarkedExample) -> list[str]:
    return list(encoder.tokenizer.convert_ids_to_tokens(example.token_ids))


def word_at(encoder: Encoder, example: MarkedExample, token: int) -> str:
    """The letters from a token to the next marker."""
    rest = pieces(encoder, example)[token:]
    return "".join(rest[: rest.index("*")]).replace("##", "")


def test_every_mention_of_an_entity_has_the_token_of_its_opening_marker(encoder: Encoder) -> None:
    found = make_example(encoder, meeting())
    words = [word_at(encoder, found, token + 1) for token in found.mention_token]
    assert words == ["ada", "bob", "bob", "rome", "rome"]  # by entity, in the entity's order
    assert found.mention_entity.tolist() == [ADA, BOB, BOB, ROME, ROME]
    assert found.mention_token[3] > found.mention_token[4]
    assert {pieces(encoder, found)[token] for token in found.mention_token} == {"*"}
    assert pieces(encoder, found).count("*") == 10


def test_every_token_knows_its_sentence_and_markers_belong_to_their_mention(
    encoder: Encoder,
) -> None:
    found = make_example(encoder, meeting())
    first_stop = pieces(encoder, found).index(".")
    expected = [0] * (first_stop + 1) + [1] * (found.tokens - first_stop - 1)
    assert found.sentence.tolist() == expected


def test_tokens_outside_of_all_sentences_are_told(encoder: Encoder) -> None:
    found = make_example(encoder, meeting(sentences=(Sentence(4, 14), Sentence(22, 37))))
    words = pieces(encoder, found)
    second_bob = found.mention_token[2]
    assert set(found.sentence[: words.index("m")].tolist()) == {-1}
    assert found.sentence[words.index("m")] == 0
    assert found.sentence[second_bob - 1] == -1  # the first full stop
    assert found.sentence[second_bob] == 1
    assert found.sentence[-1] == -1


def test_a_document_without_sentences_has_none(encoder: Encoder) -> None:
    bare = [dataclasses.replace(relation, evidence=()) for relation in meeting().relations]
    found = make_example(encoder, meeting(sentences=(), relations=tuple(bare)))
    assert set(found.sentence.tolist()) == {-1}
    assert found.evidence == ()


def test_pairs_are_all_ordered_ones_with_both_directions_side_by_side(encoder: Encoder) -> None:
    found = make_example(encoder, meeting())
    assert found.pair_index.tolist() == [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]
    assert (found.terms, found.entities) == (6, 3)


def test_labels_and_evidence_belong_to_their_pair(encoder: Encoder) -> None:
    found = make_example(encoder, meeting())
    labels = {tuple(label) for label in found.label_index.tolist()}
    assert labels == {(2, 0), (4, 1), (4, 0), (1, 0)}
    assert dict(found.evidence) == {2: {0}, 4: {0, 1}}  # of one pair's relations together


def test_only_the_candidates_are_pairs_where_a_document_names_them(encoder: Encoder) -> None:
    found = make_example(encoder, meeting(candidates=((BOB, ROME), (ADA, BOB))))
    assert found.pair_index.tolist() == [[0, 1], [1, 2]]
    assert {tuple(label) for label in found.label_index.tolist()} == {(1, 1), (1, 0)}
    assert dict(found.evidence) == {1: {0, 1}}


def test_a_document_without_candidates_has_no_pair(encoder: Encoder) -> None:
    found = make_example(encoder, meeting(candidates=()))
    assert found.pair_index.shape == (0, 2)
    assert found.label_index.shape == (0, 2)


def test_a_document_without_text_has_nothing(encoder: Encoder) -> None:
    found = make_example(encoder, Document(""))
    assert (found.tokens, found.terms, found.entities) == (0, 0, 0)
    assert found.mention_token.dtype == found.sentence.dtype == np.int64


def test_a_marker_that_the_tokenizer_drops_is_an_error_with_the_document(encoder: Encoder) -> None:
    with pytest.raises(ModelError, match="document 'meeting'") as caught:
        make_examples([meeting()], encoder, RELATIONS, "\u0001")
    assert caught.value.code == "marker-lost"


# --- batches ---------------------------------------------------------------------------------


def documents() -> list[Document]:
    return [
        meeting(candidates=((BOB, ROME), (ROME, BOB), (ADA, BOB))),
        Document("nothing here", id="empty"),
        meeting(text="Ada met Bob in Rome . Bob liked Rome . They left"),
    ]


@pytest.fixture(scope="module")
def examples(encoder: Encoder) -> list[MarkedExample]:
    return make_examples(documents(), encoder, RELATIONS, "*")


@pytest.fixture(scope="module")
def batch(encoder: Encoder, examples: list[MarkedExample]) -> MarkedBatch:
    return make_batch(examples, encoder, len(RELATIONS)).to("cpu")


def test_batch_counts_entities_and_pairs_through(
    batch: MarkedBatch, examples: list[MarkedExample]
) -> None:
    assert batch.entity_counts == (3, 0, 3)
    assert batch.entities == 6
    assert batch.entity_document.tolist() == [0, 0, 0, 2, 2, 2]
    assert batch.weight == 3 + 0 + 6
    heads, tails = [], []
    for example, offset in zip(examples, (0, 3, 3), strict=True):
        heads += [int(head) + offset for head, _ in example.pair_index]
        tails += [int(tail) + offset for _, tail in example.pair_index]
    assert batch.pair_head.tolist() == heads
    assert batch.pair_tail.tolist() == tails


def test_batch_has_each_unordered_pair_once(batch: MarkedBatch) -> None:
    unordered = list(zip(batch.first.tolist(), batch.second.tolist(), strict=True))
    assert unordered == [(0, 1), (1, 2), (3, 4), (3, 5), (4, 5)]
    assert batch.unordered_counts == (2, 0, 3)
    ends = torch.stack([batch.pair_head, batch.pair_tail], 1).tolist()
    for index, pair in zip(batch.pair_unordered.tolist(), ends, strict=True):
        assert set(unordered[index]) == set(pair)


def test_batch_finds_every_mention_s_marker_among_the_windows(
    batch: MarkedBatch, encoder: Encoder, examples: list[MarkedExample]
) -> None:
    marker = encoder.tokenizer.convert_tokens_to_ids("*")
    assert batch.windows.token_ids[batch.mention_document, batch.mention_slot].unique() == marker
    assert batch.mention_document.tolist() == [0] * 5 + [2] * 5
    assert batch.mention_entity.tolist() == [0, 1, 1, 2, 2, 3, 4, 4, 5, 5]
    assert batch.windows.rows == sum(len(example.mention_token) for example in examples)


def test_batch_labels_the_pairs_that_have_a_relation(
    batch: MarkedBatch, examples: list[MarkedExample]
) -> None:
    expected = torch.zeros(9, 2, dtype=torch.bool)
    for example, offset in zip(examples, (0, 3, 3), strict=True):
        for pair, relation in example.label_index.tolist():
            expected[offset + pair, relation] = True
    assert torch.equal(batch.labels, expected)
    assert batch.labels.sum() == 2 + 4


def test_batch_spreads_evidence_evenly_over_the_tokens_of_its_sentences(
    batch: MarkedBatch, encoder: Encoder, examples: list[MarkedExample]
) -> None:
    assert batch.evidence_pair.tolist() == [1, 3 + 2, 3 + 4]
    assert batch.evidence_target.shape == (3, batch.windows.length)
    before = len(encoder.special.before)
    wanted = [(0, {0, 1}), (2, {0}), (2, {0, 1})]
    for target, (document, sentences) in zip(batch.evidence_target, wanted, strict=True):
        inside = [
            before + token
            for token, sentence in enumerate(examples[document].sentence.tolist())
            if sentence in sentences
        ]
        assert target.nonzero().flatten().tolist() == inside
        assert target[inside].tolist() == pytest.approx([1 / len(inside)] * len(inside))
        assert float(target.sum()) == pytest.approx(1.0)


def test_evidence_in_a_sentence_without_tokens_is_no_target(encoder: Encoder) -> None:
    sentences = (Sentence(0, 38), Sentence(38, 38))
    relations = (Relation(ADA, ROME, "born", evidence=(1,)),)
    example = make_example(encoder, meeting(sentences=sentences, relations=relations))
    found = make_batch([example], encoder, len(RELATIONS)).to("cpu")
    assert found.evidence_target.shape == (0, found.windows.length)
    assert found.labels.sum() == 1


def test_batch_knows_the_sentence_of_every_slot(
    batch: MarkedBatch, encoder: Encoder, examples: list[MarkedExample]
) -> None:
    before = len(encoder.special.before)
    for row, example in zip(batch.slot_sentence, examples, strict=True):
        inner = slice(before, before + example.tokens)
        assert row[inner].tolist() == example.sentence.tolist()
        assert set(row[:before].tolist()) == set(row[inner.stop :].tolist()) == {-1}


def test_a_batch_without_any_pair_has_weight_zero(encoder: Encoder) -> None:
    found = make_batch([make_example(encoder, Document("nothing"))], encoder, len(RELATIONS))
    found = found.to("cpu")
    assert found.weight == 0
    assert found.labels.shape == (0, 2)
    assert found.unordered_counts == (0,)


def test_moving_a_batch_moves_every_tensor(batch: MarkedBatch) -> None:
    moved = batch.to("meta")
    tensors = [
        getattr(part, field.name)
        for part in (moved, moved.windows)
        for field in dataclasses.fields(part)
        if isinstance(getattr(part, field.name), torch.Tensor)
    ]
    assert len(tensors) > 10
    assert {tensor.device.type for tensor in tensors} == {"meta"}


# --- type constraints ------------------------------------------------------------------------


def test_type_constraints_are_the_types_that_each_relation_was_seen_with() -> None:
    assert learn_type_constraints([meeting(), Document("")]) == {
        "born": [("PER", "LOC"), ("PER", "PER")],
        "hates": [("PER", "PER")],
        "likes": [("PER", "LOC")],
    }


def test_type_mask_allows_what_the_table_has_for_the_types_of_each_pair(encoder: Encoder) -> None:
    document = meeting()
    pairs = make_example(encoder, document).pair_index
    table = {"born": [("PER", "LOC"), ("ORG", "LOC")], "likes": [("PER", "PER"), ("LOC", "PER")]}
    found = type_mask(document, pairs, ["born", "hates", "likes"], table)
    for (head, tail), row in zip(pairs.tolist(), found.tolist(), strict=True):
        types = (document.entities[head].type, document.entities[tail].type)
        assert row == [types in table["born"], False, types in table["likes"]]


def test_what_is_unknown_is_told_cell_by_cell(encoder: Encoder) -> None:
    """By the rule of `Document`, in plain loops."""
    partly = [
        meeting(),
        meeting(annotated=("likes",)),
        meeting(annotated=(), unknown=((BOB, ROME),)),
        meeting(unknown=((ADA, BOB), (BOB, ADA)), denied=(Relation(ADA, BOB, "likes"),)),
    ]
    relations = RELATIONS
    examples = make_examples(partly, encoder, relations, "*")
    batch = make_batch(examples, encoder, len(relations)).to("cpu")
    expected = []
    for document, example in zip(partly, examples, strict=True):
        stated = {(r.head, r.tail, r.type) for r in (*document.relations, *document.denied)}
        for head, tail in example.pair_index.tolist():
            row = []
            for kind in relations:
                types = document.annotated
                doubt = (head, tail) in document.unknown or (
                    types is not None and kind not in types
                )
                row.append(doubt and (head, tail, kind) not in stated)
            expected.append(row)
    assert batch.unknown.tolist() == expected
    assert not (batch.unknown & batch.labels).any()
