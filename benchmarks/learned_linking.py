"""KnowBERT's linker on DWIE beside name and prior, with a frozen encoder that reads texts once.

    python benchmarks/learned_linking.py [--rates 1e-3 3e-4] [--epochs 4]     # a JSON line each

The training documents in their order: the odd ones make the base, the even ones are learned from,
but for a fifth of these (seed 42), on which rate and epoch are chosen by F1. Then the base is made
of all training documents, and the test part is linked, once, by name and prior and by the chosen
linker. As nothing below the knowledge attention is learned, the states of every text are computed
once, without dropout, in bf16; so are the vectors of entities. All else is as in
configs/linker-dwie.toml.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from linking import base_of, measured
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.graph.knowledge_base import KnowledgeBase
from factloom.knowledge.linking import Linker
from factloom.knowledge.offers import SIGNS
from factloom.models.knowbert import Knowbert, KnowbertBatch, KnowbertExample, KnowbertSettings
from factloom.modules.knowledge_attention import KnowledgeAttention, linking_loss
from factloom.training.corpus import hold_out

ENCODER = "all-MiniLM-L6-v2"
SEED, TOGETHER, WARMUP = 42, 4, 0.1

Judge = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Texts:
    """Some documents, read."""

    numbers: tuple[int, ...]  # of the documents
    examples: tuple[KnowbertExample, ...]
    batch: KnowbertBatch
    states: Tensor  # (windows, window length, width)


@torch.no_grad()
def read_once(model: Knowbert, documents: Sequence[Document], base: KnowledgeBase) -> list[Texts]:
    found = []
    with model.source.replaced(base), torch.autocast("cpu", torch.bfloat16):
        examples = model.prepare(documents)
        order = sorted(range(len(examples)), key=lambda number: examples[number].tokens)
        for start in range(0, len(order), TOGETHER):
            numbers = tuple(order[start : start + TOGETHER])
            chosen = tuple(examples[number] for number in numbers)
            batch = model.collate(chosen)
            states = model.encoder.window_states(batch.mentions.windows).bfloat16()
            found.append(Texts(numbers, chosen, batch, states))
    return found


class ReadLinker:
    """A linker of documents that have been read."""

    task = "linking"

    def __init__(self, model: Knowbert, texts: Sequence[Texts]) -> None:
        self.model = model
        self.texts = texts

    @torch.inference_mode()
    def predict(self, documents: Iterable[Document]) -> list[Document]:
        linked = [document.without_links() for document in documents]
        self.model.eval()
        for text in self.texts:
            scores = self.model.knowledge.link(text.states.float(), text.batch.known)
            null = scores.new_full((len(scores), 1), self.model.knowledge.threshold)
            shares = torch.cat([null, scores], 1).softmax(1)[:, 1:]
            mentions = text.batch.mentions
            parts = mentions.of_mentions(shares).split(list(mentions.counts))
            for number, example, part in zip(text.numbers, text.examples, parts, strict=True):
                linked[number] = self.model.linked(linked[number], example, part)
        return linked


def epochs(
    model: Knowbert, texts: Sequence[Texts], rate: float, count: int
) -> Iterator[tuple[int, float]]:
    """Learn, and say after every epoch what the mean loss of a mention was."""
    optimizer = torch.optim.AdamW(model.knowledge.parameters(), lr=rate, weight_decay=0.0)
    total = count * len(texts)
    steps = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / (WARMUP * total), (total - step) / total / (1 - WARMUP)),
    )
    chance = Random(SEED)
    for epoch in range(1, count + 1):
        model.train()
        losses = mentions = 0.0
        for text in chance.sample(texts, len(texts)):
            found = text.batch.mentions
            scores = model.knowledge.link(text.states.float(), text.batch.known)
            of_uses = linking_loss(scores, found.gold[found.mention], model.knowledge.threshold)
            loss = found.of_mentions(of_uses).sum()
            optimizer.zero_grad()
            (loss / found.weight).backward()
            clip_grad_norm_(model.knowledge.parameters(), 1.0)
            optimizer.step()
            steps.step()
            losses, mentions = losses + float(loss.detach()), mentions + found.weight
        yield epoch, losses / mentions


def best_layer(
    model: Knowbert, texts: Sequence[Texts], rates: Iterable[float], count: int, judge: Judge
) -> KnowledgeAttention:
    """The best layer by F1 on what `judge` measures; each rate begins with the same weights."""
    start, best, kept = deepcopy(model.knowledge), -1.0, model.knowledge
    for rate in rates:
        torch.manual_seed(SEED)
        model.knowledge = deepcopy(start)
        begun = time.process_time()
        for epoch, loss in epochs(model, texts, rate, count):
            told = judge()
            seconds = round(time.process_time() - begun, 1)
            about = {"rate": rate, "epoch": epoch, "loss": round(loss, 4), "seconds": seconds}
            print(json.dumps({**about, **told}), flush=True)
            if told["f1"] > best:
                best, kept = told["f1"], deepcopy(model.knowledge)
    return kept


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rates", type=float, nargs="+", default=[1e-3, 3e-4])
    arguments.add_argument("--epochs", type=int, default=4)
    given = arguments.parse_args()
    folder = Path(data_path("$FACTLOOM_DATA/dwie"))
    train, test = (list(read(folder / f"{part}.json")) for part in ("train", "test"))
    learned, held_out = hold_out(train[1::2], 0.2, SEED)
    half, whole = base_of(train[0::2]), base_of(train)
    ids = {entity.id or "" for document in learned for entity in document.entities}

    torch.manual_seed(SEED)
    model = Knowbert(Encoder.load(ENCODER), KnowbertSettings(knowledge="-", describer=ENCODER))
    texts = read_once(model.eval(), learned, half)
    judged = ReadLinker(model, read_once(model, held_out, half))
    print(json.dumps(measured("held out, name and prior", Linker(half), half, held_out, ids)))

    def judge() -> dict[str, Any]:
        return measured("held out", judged, half, held_out, ids)

    model.knowledge = best_layer(model, texts, given.rates, given.epochs, judge)
    signs = zip(SIGNS, model.knowledge.sign_weight.tolist(), strict=True)
    print(json.dumps({name: round(weight, 3) for name, weight in signs}), flush=True)
    asked = ReadLinker(model, read_once(model, test, whole))
    for name, linker in (("name and prior", Linker(whole)), ("KnowBERT's linker", asked)):
        print(json.dumps(measured(f"DWIE, {name}", linker, whole, test, ids)), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
