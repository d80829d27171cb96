"""Does each head infer its own pattern? Reasoning alone, on pairs that are told what is stated.

    python benchmarks/bridge_heads.py                    # a JSON line
    python benchmarks/bridge_heads.py --train 400 --epochs 20

Encoders say of (o, s) much of what they say of (s, o), so that any head can find a bridge and make
up for another one. Here reasoning gets features that keep the direction: which relations sentences
state of a pair, and nothing else. One reasoning layer and its classifier learn the relations that
follow through a bridge, on the documents of examples/make_bridges.py, once with all heads and once
without each.

A line holds the part of the derived relations that are found, by pattern: with all heads; when the
trained head of one pattern says nothing (`silenced`); and when the model was trained without it
(`without`). `precision` is the part of the derived relations found by all heads that hold.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from bridge_sentences import CHAINS
from make_bridges import bridge_documents

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.docre_sd import DocreSd, DocreSdSettings, pair_matrix
from factloom.modules.marked_batch import MarkedBatch
from factloom.reasoning_patterns import PATTERNS

DERIVED = {chain.pattern: chain.derived for chain in CHAINS}


def main(command_line: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(command_line)
    torch.set_num_threads(arguments.threads)
    encoder = Encoder.load(arguments.encoder)
    seen = bridge_documents(arguments.train, arguments.seed, "train")
    unseen = bridge_documents(arguments.test, arguments.seed + 1, "dev")

    def learned(*patterns: int) -> DocreSd:
        torch.manual_seed(arguments.seed)
        settings = DocreSdSettings(layers=1, dropout=0.0, patterns=patterns, width=arguments.width)
        model = DocreSd.from_documents(encoder, seen, settings)
        return learn(model, seen, DERIVED, arguments.epochs, arguments.rate)

    model = learned(*PATTERNS)
    batch = model.collate(model.prepare(unseen))
    result = {"seed": arguments.seed, "train": arguments.train, "epochs": arguments.epochs}
    result |= {"all": recall_by_pattern(model, batch, DERIVED), "silenced": {}, "without": {}}
    result["precision"] = precision(model, batch, DERIVED)
    for pattern in PATTERNS:
        with model.silenced(pattern):
            result["silenced"][pattern] = recall_by_pattern(model, batch, DERIVED)
        others = learned(*(other for other in PATTERNS if other != pattern))
        result["without"][pattern] = recall_by_pattern(others, batch, DERIVED)
    print(json.dumps(result))


def parse_arguments(command_line: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2", help="its states are not used")
    parser.add_argument("--width", type=int, default=64, help="size of the features")
    parser.add_argument("--train", type=int, default=240, help="documents to train on")
    parser.add_argument("--test", type=int, default=120, help="documents to measure on")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args(command_line)


def learn(
    model: DocreSd,
    documents: Sequence[Document],
    derived: Mapping[int, str],
    epochs: int,
    rate: float,
) -> DocreSd:
    """Train reasoning and classifier on what they are told, eight documents a step."""
    examples = model.prepare(documents)
    batches = [model.collate(examples[start : start + 8]) for start in range(0, len(examples), 8)]
    learning = [*model.reasoning.parameters(), *model.classifier.parameters()]
    optimizer = torch.optim.AdamW(learning, lr=rate)
    for batch in batches * epochs:
        optimizer.zero_grad()
        model.rule.loss(logits_told(model, batch, derived), batch.labels).mean().backward()
        optimizer.step()
    return model.eval()


def logits_told(model: DocreSd, batch: MarkedBatch, derived: Mapping[int, str]) -> Tensor:
    """(pairs, classes) of pairs whose features are the relations that sentences state of them.

    Of (o, s) they say nothing where (s, o) is stated, so that no head can make up for another.
    """
    followed = set(derived.values())
    stated = [number for number, name in enumerate(model.relations) if name not in followed]
    told = batch.labels[:, stated].float()  # (pairs, stated relations)
    features = F.pad(told, (0, model.classifier.in_features - len(stated)))
    return model.reason(features, torch.empty(0), pair_matrix(batch)).logits


def recall_by_pattern(
    model: DocreSd, batch: MarkedBatch, derived: Mapping[int, str]
) -> dict[int, float]:
    """The part of the derived relations that is found."""
    found, columns = _found(model, batch, derived)
    return {
        pattern: round(float(found[batch.labels[:, column], column].float().mean()), 4)
        for pattern, column in columns.items()
    }


def precision(model: DocreSd, batch: MarkedBatch, derived: Mapping[int, str]) -> float:
    """The part of the derived relations found that hold; 0 where none is found."""
    found, columns = _found(model, batch, derived)
    found, right = (every[:, list(columns.values())] for every in (found, batch.labels))
    return round(int((found & right).sum()) / max(1, int(found.sum())), 4)


def _found(
    model: DocreSd, batch: MarkedBatch, derived: Mapping[int, str]
) -> tuple[Tensor, dict[int, int]]:
    """Which relations hold, bool (pairs, relations), and the columns of the derived ones."""
    with torch.inference_mode():
        margins = model.rule.margins(logits_told(model, batch, derived))  # (pairs, relations)
    return margins > 0, {pattern: model.relations.index(name) for pattern, name in derived.items()}


if __name__ == "__main__":
    main()
