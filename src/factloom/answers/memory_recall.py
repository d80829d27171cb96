"""MemRecall: from many blocks of a text to the few that matter for a question.

Ding, Zhou, Yang, Tang: CogLTX: Applying BERT to Long Texts, NeurIPS 2020, section 3.2. In every
round, with the blocks M that are kept in memory (none at first), a judge gives scores to blocks
that it reads together in one window:

    competition   all other blocks are read in windows, as many as fit beside M, in the order of the
                  text; then those with the best scores join M until a window is full
    rehearsal     these are read together, and judged again
    decay         only the best `keep` of them stay in M, the others are forgotten

A text of n blocks costs about n / (blocks of a window - blocks in memory) windows a round: linear.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

Judge = Callable[[Sequence[list[int]]], Iterable[Sequence[float]]]  # windows -> scores of blocks


def recall(sizes: Sequence[int], capacity: int, kept: Sequence[int], judge: Judge) -> list[int]:
    """The numbers of the blocks that are left, in order.

    `sizes` are the tokens of each block, `capacity` those of a window, `kept` how many blocks stay
    after each round. `judge` is given windows of blocks and tells, for each, a score a block.

    >>> recall([1] * 6, 3, [1, 2], lambda windows: windows)  # later blocks are better ones
    [4, 5]
    """
    memory: list[int] = []
    for keep in kept if sizes else ():
        windows = list(competition(sizes, memory, capacity))
        judged = list(judge(windows))
        if len(windows) == 1 and sum(sizes[block] for block in windows[0]) <= capacity:
            # all were read together: the competition was the rehearsal
            together, scores = windows[0], judged[0]
        else:
            together = winners(_scores(windows, judged, memory), memory, sizes, capacity)
            (scores,) = judge([together])
        memory = sorted(_best(together, scores)[:keep])
    return memory


def competition(sizes: Sequence[int], memory: Sequence[int], capacity: int) -> Iterator[list[int]]:
    """Windows of the memory and as many other blocks in a row as fit, at least one, in order."""
    held = frozenset(memory)
    full = sum(sizes[block] for block in memory)
    group: list[int] = []
    size = full
    for block in (block for block in range(len(sizes)) if block not in held):
        if group and size + sizes[block] > capacity:
            yield sorted([*memory, *group])
            group, size = [], full
        group.append(block)
        size += sizes[block]
    if group or memory:
        yield sorted([*memory, *group])


def winners(
    scores: dict[int, float], memory: Sequence[int], sizes: Sequence[int], capacity: int
) -> list[int]:
    """The memory, and the blocks with the best scores up to the first that does not fit."""
    chosen = list(memory)
    size = sum(sizes[block] for block in memory)
    for block in _best(list(scores), list(scores.values())):
        if size + sizes[block] > capacity and chosen:
            break
        chosen.append(block)
        size += sizes[block]
    return sorted(chosen)


def _scores(
    windows: Sequence[Sequence[int]], judged: Sequence[Sequence[float]], memory: Sequence[int]
) -> dict[int, float]:
    """Of each block that is not in memory, which only one window holds."""
    held = frozenset(memory)
    return {
        block: score
        for window, scores in zip(windows, judged, strict=True)
        for block, score in zip(window, scores, strict=True)
        if block not in held
    }


def _best(blocks: Sequence[int], scores: Sequence[float]) -> list[int]:
    """The blocks, the best first; of equals, that which comes first in the text."""
    order = sorted(range(len(blocks)), key=lambda place: (-scores[place], blocks[place]))
    return [blocks[place] for place in order]
