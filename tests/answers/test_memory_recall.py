"""MemRecall: competition, rehearsal and decay, by hand and against a plain version of the paper."""

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from factloom.answers.memory_recall import competition, recall, winners


def test_rounds_by_hand() -> None:
    """Six blocks, windows of three, one and then two kept; block 1 matters beside block 4 alone."""
    seen: list[list[int]] = []

    def judge(windows: Sequence[list[int]]) -> list[list[float]]:
        seen.extend(windows)
        alone = {0: 0.3, 1: 0.1, 2: 0.4, 3: 0.2, 4: 0.9, 5: 0.0}
        return [
            [0.8 if block == 1 and 4 in window else alone[block] for block in window]
            for window in windows
        ]

    assert recall([1] * 6, 3, [1, 2], judge) == [1, 4]
    assert seen == [
        [0, 1, 2],  # competition without memory
        [3, 4, 5],
        [0, 2, 4],  # rehearsal of the best three; all but 4 decay
        [0, 1, 4],  # competition beside block 4: now block 1 shows
        [2, 3, 4],
        [4, 5],
        [1, 2, 4],  # rehearsal
    ]


def test_what_fits_into_one_window_is_judged_once() -> None:
    seen: list[list[int]] = []

    def judge(windows: Sequence[list[int]]) -> list[list[float]]:
        seen.extend(windows)
        return [[-float(block) for block in window] for window in windows]

    assert recall([2, 3, 2], 7, [2], judge) == [0, 1]
    assert seen == [[0, 1, 2]]
    assert recall([], 7, [3, 5], judge) == []


def test_windows_hold_the_memory_and_as_much_as_fits() -> None:
    assert list(competition([2, 2, 2, 2, 9, 1], [1], 5)) == [[0, 1], [1, 2], [1, 3], [1, 4], [1, 5]]
    assert list(competition([2, 2, 2], [], 4)) == [[0, 1], [2]]
    assert list(competition([1, 1], [0, 1], 4)) == [[0, 1]]


def test_winners_join_up_to_the_first_that_does_not_fit() -> None:
    assert winners({0: 0.9, 2: 0.8, 3: 0.7}, [1], [1, 1, 4, 1], 3) == [0, 1]
    assert winners({0: 0.9}, [], [9], 3) == [0]  # one is always read


sizes = st.lists(st.integers(1, 4), max_size=12)


@given(sizes, st.integers(4, 9), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_what_is_left_equals_a_plain_version(
    sizes: list[int], capacity: int, kept: list[int], data: st.DataObject
) -> None:
    base = data.draw(
        st.lists(st.integers(0, 9), min_size=len(sizes), max_size=len(sizes)), label="scores"
    )

    def score(block: int, window: Iterable[int]) -> float:
        return 10 * base[block] + sum(base[other] * (other % 3) for other in window)

    def judge(windows: Sequence[list[int]]) -> list[list[float]]:
        return [[score(block, window) for block in window] for window in windows]

    memory: set[int] = set()
    for keep in kept:
        coarse = {}
        waiting = [block for block in range(len(sizes)) if block not in memory]
        while waiting:
            group = [waiting.pop(0)]
            while waiting and sum(sizes[b] for b in memory | {*group, waiting[0]}) <= capacity:
                group.append(waiting.pop(0))
            for block in group:
                coarse[block] = score(block, memory | set(group))
        chosen = set(memory)
        for block in sorted(coarse, key=lambda block: (-coarse[block], block)):
            if chosen and sum(sizes[b] for b in chosen | {block}) > capacity:
                break
            chosen.add(block)
        fine = {block: score(block, chosen) for block in chosen}
        memory = set(sorted(chosen, key=lambda block: (-fine[block], block))[:keep])
    assert recall(sizes, capacity, kept, judge) == sorted(memory)
