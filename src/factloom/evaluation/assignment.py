"""The best one-to-one assignment: who goes with whom so that the weights add up to the most.

Reference: Kuhn 1955, "The Hungarian Method for the Assignment Problem", in the form of Jonker and
Volgenant 1987: rows are placed one by one along a shortest augmenting path, O(rows^2 columns).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def best_assignment(weights: ArrayLike) -> list[tuple[int, int]]:
    """(row, column) pairs, each row and column at most once, with the largest sum of weights.

    As many pairs as the shorter side is long, whatever their weights.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.size == 0:
        return []
    if matrix.shape[0] > matrix.shape[1]:
        return sorted((row, column) for column, row in best_assignment(matrix.T))
    rows_of = _place_rows(-matrix)
    return sorted((int(row), column) for column, row in enumerate(rows_of) if row >= 0)


def _place_rows(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """The row of each column, -1 for none; every row has a column, at the least total cost."""
    rows, columns = costs.shape
    # One more column, the last, holds the row that is being placed.
    row_of = np.full(columns + 1, -1)
    row_potential, column_potential = np.zeros(rows), np.zeros(columns + 1)
    for new_row in range(rows):
        row_of[columns] = new_row
        column = columns
        distance = np.full(columns, np.inf)
        came_from = np.full(columns, columns)
        visited = np.zeros(columns + 1, dtype=bool)
        while row_of[column] >= 0:
            visited[column] = True
            row = row_of[column]
            reduced = costs[row] - row_potential[row] - column_potential[:-1]
            shorter = ~visited[:-1] & (reduced < distance)
            distance[shorter] = reduced[shorter]
            came_from[shorter] = column
            following = int(np.argmin(np.where(visited[:-1], np.inf, distance)))
            step = distance[following]
            # The potentials keep every reduced cost at 0 or more, and 0 along the path.
            row_potential[row_of[visited]] += step
            column_potential[visited] -= step
            distance[~visited[:-1]] -= step
            column = following
        while column != columns:  # along the path every row moves one column on
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    return row_of[:columns]
