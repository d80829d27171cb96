"""From scores of pairs to clusters: average linkage."""

import heapq
from collections import defaultdict
from collections.abc import Iterable

Link = tuple[int, int, float]


def average_linkage(count: int, links: Iterable[Link], threshold: float) -> list[list[int]]:
    """Clusters of the members 0 to `count` - 1, each sorted, in the order of their first member.

    `links` are (member, member, score), each pair once at most. The two clusters with the highest
    mean score of the links between them are joined, again and again, while that mean is above
    `threshold`. Pairs without a link do not count; clusters without any link are not joined.
    """
    totals: defaultdict[int, dict[int, tuple[float, int]]] = defaultdict(dict)
    heap: list[tuple[float, int, int]] = []
    for one, other, score in links:
        totals[one][other] = totals[other][one] = (score, 1)
        if score > threshold:
            heap.append((-score, min(one, other), max(one, other)))
    heapq.heapify(heap)
    members: dict[int, list[int]] = {member: [member] for member in range(count)}
    while heap:
        negative, one, other = heapq.heappop(heap)
        total = totals[one].get(other)
        if total is None or -negative != total[0] / total[1]:
            continue  # one of them has been joined to another since
        members[one] += members.pop(other)
        del totals[one][other]
        for third, (score, number) in totals.pop(other).items():
            if third == one:
                continue
            del totals[third][other]
            known, links_known = totals[one].get(third, (0.0, 0))
            joined = (known + score, links_known + number)
            totals[one][third] = totals[third][one] = joined
            if joined[0] / joined[1] > threshold:
                heapq.heappush(heap, (-joined[0] / joined[1], min(one, third), max(one, third)))
    return sorted(sorted(found) for found in members.values())
