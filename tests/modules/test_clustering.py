"""Average linkage against one that looks at all pairs of clusters again at every step."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.modules.clustering import Link, average_linkage


def naive(count: int, links: list[Link], threshold: float) -> list[list[int]]:
    score = {frozenset((one, other)): value for one, other, value in links}
    clusters = [[member] for member in range(count)]
    while True:
        best: tuple[float, int, int] | None = None
        for a, b in itertools.combinations(range(len(clusters)), 2):
            pairs = [frozenset(p) for p in itertools.product(clusters[a], clusters[b])]
            known = [score[pair] for pair in pairs if pair in score]
            if known and sum(known) / len(known) > threshold:
                mean = sum(known) / len(known)
                if best is None or mean > best[0]:
                    best = (mean, a, b)
        if best is None:
            return sorted(sorted(cluster) for cluster in clusters)
        _, a, b = best
        clusters[a] += clusters.pop(b)


@st.composite
def linked(draw: st.DrawFn) -> tuple[int, list[Link]]:
    """Some pairs with scores that no two means of them have in common."""
    count = draw(st.integers(1, 7))
    pairs = list(itertools.combinations(range(count), 2))
    kept = [pair for pair in pairs if draw(st.booleans())]
    numbers = draw(st.permutations(range(len(kept))))
    scores = [(number - len(kept) / 2 + 0.1) * 2.0 + 3.0**-number for number in numbers]
    return count, [(*pair, score) for pair, score in zip(kept, scores, strict=True)]


@given(case=linked(), threshold=st.sampled_from([-3.0, 0.0, 2.0]))
def test_clusters_are_those_of_the_plain_way(
    case: tuple[int, list[Link]], threshold: float
) -> None:
    count, links = case
    assert average_linkage(count, links, threshold) == naive(count, links, threshold)


def test_a_weak_average_keeps_clusters_apart_that_one_link_would_join() -> None:
    links = [(0, 1, 5.0), (2, 3, 5.0), (1, 2, 4.0), (0, 2, -6.0), (0, 3, -6.0), (1, 3, -6.0)]
    assert average_linkage(4, links, 0.0) == [[0, 1], [2, 3]]


def test_every_member_is_in_one_cluster_though_it_has_no_link() -> None:
    assert average_linkage(3, [(0, 2, 1.0)], 0.0) == [[0, 2], [1]]
    assert average_linkage(0, [], 0.0) == []


@pytest.mark.parametrize(("threshold", "clusters"), [(0.9, [[0, 1]]), (1.0, [[0], [1]])])
def test_a_link_must_be_above_the_threshold(threshold: float, clusters: list[list[int]]) -> None:
    assert average_linkage(2, [(0, 1, 1.0)], threshold) == clusters
