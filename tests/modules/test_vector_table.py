"""A table whose unseen rows are fixed: look-ups, gradients, and vectors from a file."""

import numpy as np
import pytest
import torch

from factloom.modules.vector_table import VectorTable
from factloom.text.vocabulary import Vocabulary
from factloom.text.word_vectors import WordVectors

VOCABULARY = Vocabulary(("甲", "乙", "丙", "丁", "戊"), learned=2, fixed=2)
VECTORS = WordVectors(
    ("丁", "乙", "己", "丙"), np.array([[0, 2, 0], [3, 4, 0], [1, 1, 1], [0, 0, -5]], np.float32)
)


def test_known_words_begin_with_the_direction_of_their_vector() -> None:
    table = VectorTable.of(VOCABULARY, VECTORS, 3)
    rows = torch.from_numpy(VOCABULARY.rows(["乙", "丙", "丁"]))
    expected = torch.tensor([[0.6, 0.8, 0], [0, 0, -1], [0, 1, 0]])
    torch.testing.assert_close(table(rows), expected)


def test_vectors_begin_with_the_length_that_is_asked_for() -> None:
    torch.manual_seed(1)
    table = VectorTable.of(Vocabulary(("乙", "丙", *"abcdefgh"), 9, 1), VECTORS, 3, length=4.0)
    torch.testing.assert_close(table(torch.tensor([1])), 4 * torch.tensor([[0.6, 0.8, 0]]))
    lengths = table(torch.arange(2, 10)).norm(dim=1)
    assert 2 < lengths.mean() < 6


def test_words_without_a_vector_begin_at_random() -> None:
    torch.manual_seed(1)
    table = VectorTable.of(VOCABULARY, VECTORS, 3)
    unknown, first = table(torch.tensor([0, 1]))
    assert unknown.abs().min() > 0
    assert first.abs().min() > 0
    assert not torch.equal(unknown, first)


def test_rows_of_any_shape_are_looked_up_in_both_parts() -> None:
    table = VectorTable.of(VOCABULARY, VECTORS, 3)
    rows = torch.tensor([[4, 0, 1], [3, 2, 3]])
    found = table(rows)
    whole = torch.cat([table.learned.weight, table.fixed.float()])
    for place in range(2):
        for number in range(3):
            assert torch.equal(found[place, number], whole[rows[place, number]])


def test_only_learned_rows_are_trained() -> None:
    table = VectorTable.of(VOCABULARY, VECTORS, 3)
    assert [name for name, _ in table.named_parameters()] == ["learned.weight"]
    table(torch.tensor([4, 1, 1, 3])).sum().backward()
    assert table.learned.weight.grad is not None
    assert table.learned.weight.grad.tolist() == [[0] * 3, [2] * 3, [0] * 3]


@pytest.mark.parametrize("fixed", [0, 2])
def test_a_table_comes_back_from_its_weights(fixed: int) -> None:
    vocabulary = Vocabulary(VOCABULARY.words, 2, fixed)
    table, other = VectorTable.of(vocabulary, VECTORS, 3), VectorTable(2, fixed, 3)
    other.load_state_dict(table.state_dict())
    rows = torch.arange(3 + fixed)
    assert torch.equal(other(rows), table(rows))
    assert table(torch.zeros(2, 0, dtype=torch.long)).shape == (2, 0, 3)
