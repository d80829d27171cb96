"""What a memory is worth, and what it costs: perplexity and speed of a Transformer-XL.

    python benchmarks/transformer_xl.py runs/pretrain-transformer-xl/best      # one JSON line

Perplexity: the text is read from its beginning in segments, each with the memory of so many tokens
in front; every token is asked for once, of all memories the same tokens. `ratio` of a context: the
seconds that sliding windows take for a token (the whole context is read again for each, as a
network without memory has to) over those of segments with a memory of that length. Seconds are
those that the process has computed.
"""

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from factloom.encoders.transformer_xl import TransformerXLModel
from factloom.files.data_path import data_path
from factloom.formats.text_parts import text_parts
from factloom.objectives.recurrent import load_recurrent

TEXT = "$FACTLOOM_DATA/plain_text/wikitext2.test.txt.gz"


@torch.no_grad()
def perplexity(network: TransformerXLModel, ids: Tensor, segment: int, memory: int) -> float:
    """`ids` (tokens,) of which each is said from those in front of it."""
    before, total = network.nothing(1), 0.0
    for inputs, wanted in segments(ids, segment):
        states, kept, _ = network.read(inputs[None], before)
        before = before.followed_by(kept, memory)
        logits = states[0] @ network.words.weight.T
        total += float(functional.cross_entropy(logits, wanted, reduction="sum"))
    return math.exp(total / (len(ids) - 1))


def segments(ids: Tensor, segment: int) -> Iterator[tuple[Tensor, Tensor]]:
    """What is read, and what is asked for."""
    for start in range(0, len(ids) - 1, segment):
        stop = min(start + segment, len(ids) - 1)
        yield ids[start:stop], ids[start + 1 : stop + 1]


@torch.no_grad()
def with_memory(network: TransformerXLModel, ids: Tensor, segment: int, context: int) -> float:
    """Seconds a token, with a full memory."""
    _, kept, _ = network.read(ids[None, :context], network.nothing(1))
    before = network.nothing(1).followed_by(kept, context)
    piece = ids[None, context : context + segment]
    return median_seconds(lambda: network.read(piece, before)) / segment


@torch.no_grad()
def by_windows(network: TransformerXLModel, ids: Tensor, context: int) -> float:
    """Seconds a token: a window for each, of which the last state alone is of use."""
    window, nothing = ids[None, :context], network.nothing(1)
    return median_seconds(lambda: network.read(window, nothing))


def median_seconds(run: Callable[[], Any], times: int = 5) -> float:
    run()
    found = []
    for _ in range(times):
        started = time.process_time()
        run()
        found.append(time.process_time() - started)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="what factloom pretrain has made")
    parser.add_argument("--text", default=TEXT)
    parser.add_argument("--tokens", type=int, default=2**31, help="at most so many of the text")
    parser.add_argument("--memories", default="0,128,512")
    parser.add_argument("--contexts", default="256,512,1024,2048")
    parser.add_argument("--segment", type=int, default=128)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = load_recurrent(arguments.model)
    texts = [part.document.text for part in text_parts([data_path(arguments.text)], print)]
    tokens = [torch.from_numpy(found.ids) for found in model.encoder.tokenize(texts)]
    ids = torch.cat(tokens)[: arguments.tokens]
    network, segment = model.network.eval(), arguments.segment
    result: dict[str, Any] = {"tokens": len(ids), "segment": segment, "perplexity": {}, "speed": {}}
    for memory in arguments.memories.split(","):
        result["perplexity"][memory] = round(perplexity(network, ids, segment, int(memory)), 1)
    for context in arguments.contexts.split(","):
        windows = by_windows(network, ids, int(context))
        remembered = with_memory(network, ids, segment, int(context))
        result["speed"][context] = {
            "tokens_per_second": round(1 / remembered),
            "by_windows": round(1 / windows, 1),
            "ratio": round(windows / remembered),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
