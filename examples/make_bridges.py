"""Write documents in which some relations hold only through a bridge entity, all of it invented.

    python examples/make_bridges.py                         # runs/bridges/train.jsonl, dev.jsonl
    python examples/make_bridges.py --train 500 --seed 7 --output /tmp/bridges

"Mara Velden works in Torvik. [...] Torvik lies in Velmaria." So Mara Velden is taxed by Velmaria,
which no sentence says. A document tells of two of the four patterns (`bridge_sentences.CHAINS`),
in sentences that name two entities each and come in any order. Of each pattern it has three
heads, three bridges and three tails: a sentence joins each head to one of the bridges, another
one joins each bridge to a tail, and one in five is a decoy from which nothing follows. So neither
the types of two entities nor what is said of each alone tells whether they are related: one has
to find the bridge.

The gold holds the premises that are stated, with their sentence, and the relations derived from
them, with both sentences and `attributes` {"pattern": 1, "bridge": index of the entity}.
"""

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle, islice, product
from pathlib import Path

import profile_names as names
from bridge_sentences import CHAINS, Chain, Premise
from make_profiles import Teller, Thing
from profile_sentences import Template

from factloom import formats
from factloom.document import Document, Relation

SHARES = {"train": (0.0, 0.6), "dev": (0.6, 1.0)}  # of each list of names
BRIDGES = 3  # of each pattern in a document; as many heads and tails
DECOY_RATE = 0.2
NAMES: Mapping[str, Sequence[str]] = {
    "given": [name for both in zip(names.WOMEN, names.MEN, strict=True) for name in both],
    "surname": names.SURNAMES,
    "company": names.COMPANIES,
    "school": names.SCHOOLS,
    "town": names.TOWNS,
    "country": tuple(names.COUNTRIES),
    "product": names.SHIPS,
}
WORDS: Mapping[str, Sequence[str]] = {
    "job": names.JOBS,
    "subject": names.SUBJECTS,
    "goods": names.GOODS,
    "number": [str(number) for number in range(3, 40)],
}


@dataclass(frozen=True, eq=False)
class Statement:
    """A sentence about a bridge and a head or tail; a decoy where it does not hold."""

    templates: Sequence[Template]
    parts: Mapping[str, Thing]
    holds: bool


@dataclass(frozen=True)
class Plan:
    """What a document tells of one pattern."""

    chain: Chain
    of_heads: Sequence[Statement]
    of_tails: Sequence[Statement]


class Namer:
    """Names things of one document; no name is given twice."""

    def __init__(self, chance: random.Random, split: str) -> None:
        self.chance = chance
        first, last = SHARES[split]
        self.pools = {}
        for kind, every in NAMES.items():
            part = every[round(first * len(every)) : round(last * len(every))]
            self.pools[kind] = chance.sample(part, k=len(part))

    def thing(self, kind: str) -> Thing:
        if kind == "person":
            given, surname = self.pools["given"].pop(), self.pools["surname"].pop()
            return Thing(kind, f"{given} {surname}", short=surname)
        name = self.pools[kind].pop()
        if kind == "company":
            ending = self.chance.choice(names.COMPANY_ENDINGS)
            return Thing(kind, f"{name} {ending}", short=name)
        return Thing(kind, name)


def bridge_documents(count: int, seed: int, split: str) -> list[Document]:
    """`count` documents, every two patterns in turn; "train" and "dev" share no name."""
    chance = random.Random(f"bridges {split} {seed}")
    chosen = islice(cycle(combinations(CHAINS, 2)), count)
    return [
        _document(chance, split, chains).replace(id=f"{split} {seed} {number}")
        for number, chains in enumerate(chosen)
    ]


def _document(chance: random.Random, split: str, chains: Sequence[Chain]) -> Document:
    namer = Namer(chance, split)
    plans = [_plan(chance, namer, chain) for chain in chains]
    statements = [told for plan in plans for told in (*plan.of_heads, *plan.of_tails)]
    chance.shuffle(statements)
    teller = Teller(chance)
    for told in statements:
        words = {part: chance.choice(listed) for part, listed in WORDS.items()}
        teller.tell(told.templates, {**words, **told.parts})
    sentence_of = {told: sentence for sentence, told in enumerate(statements)}
    entity_of = {thing: entity for entity, thing in enumerate(teller.mentions_of)}
    derived = [r for plan in plans for r in _derived(plan, sentence_of, entity_of)]
    document = teller.document("")
    return document.replace(relations=(*document.relations, *derived))


def _plan(chance: random.Random, namer: Namer, chain: Chain) -> Plan:
    """A bridge may serve several heads, and leads to one tail."""
    head_kind, bridge_kind, tail_kind = chain.kinds
    bridges = [namer.thing(bridge_kind) for _ in range(BRIDGES)]

    def statement(premise: Premise, **parts: Thing) -> Statement:
        holds = chance.random() >= DECOY_RATE
        return Statement(premise.told if holds else premise.decoys, parts, holds)

    return Plan(
        chain,
        of_heads=[
            statement(chain.first, head=namer.thing(head_kind), bridge=bridge)
            for bridge in chance.choices(bridges, k=BRIDGES)
        ],
        of_tails=[
            statement(chain.second, tail=namer.thing(tail_kind), bridge=bridge)
            for bridge in bridges
        ],
    )


def _derived(
    plan: Plan, sentence_of: Mapping[Statement, int], entity_of: Mapping[Thing, int]
) -> Iterator[Relation]:
    """The relations that follow where both premises hold of one bridge."""
    for first, second in product(plan.of_heads, plan.of_tails):
        bridge = first.parts["bridge"]
        if first.holds and second.holds and second.parts["bridge"] is bridge:
            yield Relation(
                head=entity_of[first.parts["head"]],
                tail=entity_of[second.parts["tail"]],
                type=plan.chain.derived,
                evidence=tuple(sorted((sentence_of[first], sentence_of[second]))),
                attributes={"pattern": plan.chain.pattern, "bridge": entity_of[bridge]},
            )


def main(command_line: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write documents that need a bridge.")
    parser.add_argument("--train", type=int, default=400, help="documents to train on")
    parser.add_argument("--dev", type=int, default=100, help="documents to measure on")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output", type=Path, default=Path("runs/bridges"))
    arguments = parser.parse_args(command_line)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for split, count in (("train", arguments.train), ("dev", arguments.dev)):
        path = arguments.output / f"{split}.jsonl"
        written = formats.write(bridge_documents(count, arguments.seed, split), path)
        print(f"{path}: {written} documents")


if __name__ == "__main__":
    main()
