"""How RAG writes: by token, or sequence by sequence, thoroughly or fast; formulas: rag.py."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from factloom.answers.generators import Generator, Ids, Writing
from factloom.modules.beam_search import Sequenced, beam_search
from factloom.modules.passage_marginals import next_marginal

Way = Literal["sequence", "token"]
Decoding = Literal["thorough", "fast"]
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """An answer in the generator's words."""

    text: str
    tokens: Tokens
    logarithm: float  # log p(y|x)
    ended: bool  # false where it was cut at the longest length


class FromAll:
    """Beams of a single group, each read with all passages: rows are beams x passages."""

    def __init__(self, writing: Writing, passages: Tensor) -> None:
        self.writing, self.passages = writing, passages  # (passages,) log p(z|x)

    def begin(self) -> Tensor:
        return next_marginal(self.writing.first[None], self.passages)  # (1, tokens)

    def advance(self, parents: Tensor, tokens: Tensor) -> Tensor:
        count = len(self.passages)
        rows = parents[:, None] * count + torch.arange(count, device=parents.device)
        each = self.writing.advance(rows.flatten(), tokens.repeat_interleave(count))
        return next_marginal(each.view(len(parents), count, -1), self.passages)


class FromEach:
    """A group for each passage."""

    def __init__(self, writing: Writing) -> None:
        self.writing = writing

    def begin(self) -> Tensor:
        return self.writing.first

    def advance(self, parents: Tensor, tokens: Tensor) -> Tensor:
        return self.writing.advance(parents, tokens)


def decode(
    generator: Generator,
    prompts: Sequence[Ids],
    passages: Tensor,
    *,
    way: Way,
    decoding: Decoding,
    beams: int,
    longest: int,
) -> list[Written]:
    """The best answers of different words, the likeliest first.

    prompts: the question with each passage; passages (passages,): log p(z|x).
    """
    writing = generator.begin(prompts)
    if way == "token":
        (found,) = beam_search(FromAll(writing, passages), beams, longest, generator.ends)
    else:
        groups = beam_search(FromEach(writing), beams, longest, generator.ends)
        found = sequence_marginals(generator, prompts, passages, groups, decoding)
    told = (
        Written(generator.text(one.tokens), one.tokens, one.logarithm, one.ended) for one in found
    )
    distinct: dict[str, Written] = {}
    for one in told:
        if one.text:
            distinct.setdefault(one.text.casefold(), one)
    return list(distinct.values())


def sequence_marginals(
    generator: Generator,
    prompts: Sequence[Ids],
    passages: Tensor,
    groups: Sequence[Sequence[Sequenced]],
    decoding: Decoding,
) -> list[Sequenced]:
    """log p(y|x) of every y that a group has found, the likeliest first."""
    ended = {one.tokens: one.ended for group in groups for one in group}
    known = {
        (passage, one.tokens): one.logarithm
        for passage, group in enumerate(groups)
        for one in group
    }
    if decoding == "thorough":
        pairs = [(z, y) for y in ended for z in range(len(prompts)) if (z, y) not in known]
        known |= dict(zip(pairs, _likely(generator, prompts, pairs), strict=True))
    shares = passages.double().tolist()
    found = []
    for tokens, whole in ended.items():
        parts = [share + known[z, tokens] for z, share in enumerate(shares) if (z, tokens) in known]
        logarithm = float(torch.tensor(parts, dtype=torch.double).logsumexp(0))
        found.append(Sequenced(tokens, logarithm, whole))
    return sorted(found, key=lambda one: (not one.ended, -one.logarithm))


def _likely(
    generator: Generator, prompts: Sequence[Ids], pairs: Sequence[tuple[int, Tokens]]
) -> Iterator[float]:
    """log p(y | x, z) of passages z and sequences y, as many at a time as there are passages."""
    for start in range(0, len(pairs), len(prompts)):
        part = pairs[start : start + len(prompts)]
        tokens = generator([prompts[z] for z, _ in part], [y for _, y in part])
        yield from tokens.double().sum(1).tolist()
