"""Pairs of entities by graphs, of all kinds of models that look at pairs as ATLOP does.

The parts and what they are given stand in light/pair_parts.py, from which they are exported.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from factloom.light.eight_bits import Runs
from factloom.light.windows import slices
from factloom.models.relation_decisions import Margins
from factloom.modules.class_groups import ClassGroup
from factloom.modules.devices import Numbers
from factloom.modules.marked_batch import MarkedBatch

_PAIRS = 256  # asked at once: their outer products stay in the processor's cache
_KEPT = 4096  # pairs whose vectors are in memory at once, before they are asked in groups


@dataclass(frozen=True, slots=True)
class PairGraphs:
    """The graphs pairs, relations and evidence."""

    graphs: Mapping[str, Runs]

    def said(
        self, parts: Numbers, attention: Numbers, states: Numbers, pairs: MarkedBatch[Numbers]
    ) -> Margins:
        """What entities say of pairs, and their attention; states (documents, length, width)."""
        known = {"parts": parts, "attention": attention, "states": states}
        return Margins(self._margins(known, pairs), partial(self._rows, attention))

    def _margins(self, known: dict[str, Numbers], pairs: MarkedBatch[Numbers]) -> Numbers:
        """(pairs, relations), minus infinity for what is not asked"""
        relations = pairs.labels.shape[1]
        asked = pairs.asked
        if asked is None:
            all_pairs = np.arange(len(pairs.pair_head))
            asked = (ClassGroup(all_pairs, np.arange(relations)),)
        found = np.full((len(pairs.pair_head), relations), -np.inf, np.float32)
        for first, heads, tails in self._ends(known, pairs):
            for group in asked:
                rows = group.between(first, first + len(heads))
                for part in slices(0, len(rows), _PAIRS):
                    own = rows[part] - first
                    given = {"head": heads[own], "tail": tails[own], "relations": group.relations}
                    (margins,) = self.graphs["relations"].run(given)
                    found[rows[part][:, None], group.relations] = margins
        return found

    def _ends(
        self, known: dict[str, Numbers], pairs: MarkedBatch[Numbers]
    ) -> Iterator[tuple[int, Numbers, Numbers]]:
        """z of heads and tails, (pairs, width) twice, of some pairs at a time; the first of them"""
        parts: list[list[Numbers]] = []
        first = kept = 0
        for given in _of_documents(known, pairs):
            parts.append(self.graphs["pairs"].run(given))
            kept += len(given["pair_head"])
            if kept >= _KEPT:
                heads, tails = _joined(parts)
                yield first, heads, tails
                first, kept, parts = first + kept, 0, []
        if parts:
            heads, tails = _joined(parts)
            yield first, heads, tails

    def _rows(self, attention: Numbers, heads: Numbers, tails: Numbers) -> Numbers:
        given = {"attention": attention, "first": heads, "second": tails}
        (rows,) = self.graphs["evidence"].run(given)
        return rows


def _of_documents(
    known: dict[str, Numbers], pairs: MarkedBatch[Numbers]
) -> Iterator[dict[str, Numbers]]:
    """What the graph of pairs is given: a few pairs of a document at a time, in their order."""
    of_entities = {name: known[name] for name in ("parts", "attention")}
    ends = np.cumsum([0, *pairs.unordered_counts])
    for states, (first, end) in zip(known["states"], pairwise(ends), strict=True):
        for some in slices(first, end, _PAIRS // 2):
            # both directions of a pair stand side by side
            own = slice(*np.searchsorted(pairs.pair_unordered, (some.start, some.stop)))
            yield {
                **of_entities,
                "document_states": states,
                "first": pairs.first[some],
                "second": pairs.second[some],
                "pair_unordered": pairs.pair_unordered[own] - some.start,
                "pair_head": pairs.pair_head[own],
                "pair_tail": pairs.pair_tail[own],
            }


def _joined(parts: list[list[Numbers]]) -> list[Numbers]:
    return [np.concatenate(found) for found in zip(*parts, strict=True)]
