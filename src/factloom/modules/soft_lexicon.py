"""Sums of weighted rows: the features of text/word_sets.py as tensors."""

from torch import Tensor, nn

from factloom.modules.vector_table import VectorTable


class WeightedSums(nn.Module):
    """v(S) = sum over w in S of weight(w) e(w), for every set of every character.

    The sets of a character are laid side by side.
    """

    def __init__(self, table: VectorTable, sets: int) -> None:
        super().__init__()
        self.table = table
        self.sets = sets

    @property
    def width(self) -> int:
        return self.sets * self.table.width

    def forward(self, rows: Tensor, weights: Tensor, segment: Tensor, characters: int) -> Tensor:
        """rows, weights and segment (entries,), segment = character * sets + set
        -> (characters, sets * width)
        """
        weighted: Tensor = self.table(rows) * weights[:, None]  # (entries, width)
        sums = weighted.new_zeros(characters * self.sets, self.table.width)
        return sums.index_add(0, segment, weighted).view(characters, self.width)
