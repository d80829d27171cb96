"""Segments of documents, what is remembered of them, and the loss of the next token."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from factloom.encoders.new_encoder import new_encoder
from factloom.errors import InputError, ModelError
from factloom.objectives.corpus import Corpus
from factloom.objectives.recurrent import (
    RecurrentPretraining,
    Segment,
    held_out,
    in_parts,
    load_recurrent,
    segments_of,
)


def corpus_of(*lengths: int) -> Corpus:
    """Documents of so many tokens, on no disk."""
    count = sum(lengths)
    return Corpus(
        Path("texts"),
        np.random.default_rng(1).integers(5, 40, count).astype(np.uint16),
        np.ones(count, np.uint8),
        np.cumsum([0, *lengths]),
        "",
    )


@pytest.fixture
def model(tiny_encoder_path: Path) -> RecurrentPretraining:
    sizes = {"layers": 2, "width": 16, "heads": 2, "window": 8, "overlap": 0}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = new_encoder(str(tiny_encoder_path), **sizes, memory=8, evaluation_memory=64)
        for weights in encoder.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.3)
    return RecurrentPretraining(encoder).eval()


def test_every_token_and_every_end_is_a_target_once() -> None:
    corpus = corpus_of(20, 1, 7, 8, 16)
    documents = segments_of([corpus], 8)
    assert [len(document) for document in documents] == [3, 1, 1, 2, 3]
    for number, document in enumerate(documents):
        first, last = corpus.documents[number : number + 2].tolist()
        pieces = [segment.ids(100, 101).tolist() for segment in document]
        targets = [token for piece in pieces for token in piece[1:]]
        assert targets == [*corpus.ids[first:last].tolist(), 101]
        inputs = [token for piece in pieces for token in piece[:-1]]
        assert inputs == [100, *corpus.ids[first:last].tolist()]
        assert [len(piece) - 1 for piece in pieces[:-1]] == [8] * (len(pieces) - 1)
        assert [segment.begins for segment in document] == [True] + [False] * (len(pieces) - 1)
        assert all(s.tokens == len(p) - 1 for s, p in zip(document, pieces, strict=True))
    flat = [segment.number for document in documents for segment in document]
    assert flat == list(range(10))


def test_parts_of_long_documents_begin_without_memory() -> None:
    parts = list(in_parts(segments_of([corpus_of(40, 5)], 4), 3))
    assert [len(part) for part in parts] == [3, 3, 3, 2, 2]
    assert all(part[0].begins for part in parts)
    assert not any(segment.begins for part in parts for segment in part[1:])


@pytest.mark.parametrize("part", [0.01, 0.3, 0.9])
def test_the_last_part_is_held_out(part: float) -> None:
    documents = segments_of([corpus_of(40, 5, 30)], 4)
    training, measured = held_out(documents, part)
    numbers = [s.number for document in [*training, *measured] for s in document]
    assert numbers == list(range(sum(map(len, documents))))
    assert sum(map(len, measured)) == max(round(part * len(numbers)), 1)
    assert all(document[0].begins for document in measured)


def test_one_segment_is_too_little_to_hold_out_from() -> None:
    with pytest.raises(InputError):
        held_out(segments_of([corpus_of(3)], 8), 0.1)


@torch.no_grad()
def losses_in_steps(model: RecurrentPretraining, rows: list[list[Segment]]) -> list[list[float]]:
    """The losses of each row, whose segments are given one a step."""
    found: list[list[float]] = [[] for _ in rows]
    for step in range(max(map(len, rows))):
        there = [row for row in range(len(rows)) if step < len(rows[row])]
        batch = model.collate([rows[row][step] for row in there])
        losses = iter(model(batch).losses.tolist())
        for row in there:
            found[row] += [next(losses) for _ in range(rows[row][step].tokens)]
        model.memories.forget()
    return found


@torch.no_grad()
def test_with_enough_memory_the_loss_is_that_of_whole_documents(
    model: RecurrentPretraining,
) -> None:
    corpus = corpus_of(20, 33, 3)
    documents = segments_of([corpus], 8)
    documents = sorted(documents, key=len, reverse=True)
    found = losses_in_steps(model, documents)
    special = model.encoder.special
    for document, losses in zip(documents, found, strict=True):
        first, last = document[0].start, document[-1].end - 1
        inside = corpus.ids[first:last].astype(np.int64)
        ids = torch.tensor([special.before[0], *inside, special.after[0]])
        states, _, _ = model.network.read(ids[None, :-1], model.network.nothing(1))
        logits = states[0] @ model.network.words.weight.T
        expected = functional.cross_entropy(logits, ids[1:], reduction="none")
        assert losses == pytest.approx(expected.tolist(), abs=1e-4)


def test_training_and_evaluation_remember_apart(model: RecurrentPretraining) -> None:
    (document,) = segments_of([corpus_of(40)], 8)
    model.train()
    for segment in document[:2]:
        model(model.collate([segment]))
    assert {len(one[0]) for one in model.in_training.kept.values()} == {8}
    assert not model.in_evaluation.kept
    model.eval()
    losses_in_steps(model, [document[:3]])
    assert set(model.in_training.kept) == {0, 1}
    assert len(model.in_evaluation.kept[2][0]) == 24
    model.in_training.forget()
    model.in_training.forget()
    assert not model.in_training.kept


def test_a_step_that_is_run_again_remembers_the_same(model: RecurrentPretraining) -> None:
    (document,) = segments_of([corpus_of(40)], 8)
    for segment in document[:3]:
        one, again = (model(model.collate([segment])).loss for _ in range(2))
        assert torch.equal(one, again)
        model.memories.forget()


def test_it_learns_a_text(model: RecurrentPretraining) -> None:
    (document,) = segments_of([corpus_of(30)], 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model.train()
    losses = []
    for _ in range(60):
        for segment in document:
            output = model(model.collate([segment]))
            optimizer.zero_grad()
            output.loss.backward()
            optimizer.step()
            model.memories.forget()
            losses.append(float(output.loss.detach()))
    assert sum(losses[-4:]) < sum(losses[:4]) / 3, losses


def test_saved_and_loaded(model: RecurrentPretraining, tmp_path: Path) -> None:
    documents = segments_of([corpus_of(20)], 8)
    expected = losses_in_steps(model, documents)
    model.provenance = {"recipe": {}}
    model.save_pretrained(tmp_path / "saved")
    again = load_recurrent(tmp_path / "saved")
    assert losses_in_steps(again, documents) == expected
    assert again.network.config.evaluation_memory == 64
    (tmp_path / "saved" / "objective.json").write_text("{}")
    with pytest.raises(ModelError) as caught:
        load_recurrent(tmp_path / "saved")
    assert caught.value.code == "model-damaged"


def test_a_memory_goes_with_no_other_kind_of_network(tiny_encoder_path: Path) -> None:
    sizes = {"layers": 1, "width": 8, "heads": 2, "memory": 8}
    for change in ({"shared_layers": True}, {"relative_positions": 8}, {"embedding_width": 4}):
        with pytest.raises(ModelError) as caught:
            new_encoder(str(tiny_encoder_path), **sizes, **change)
        assert caught.value.code == "memory-alone"
