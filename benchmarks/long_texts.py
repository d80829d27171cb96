"""What CogLTX reads of one long text to answer one question, by the length of the text.

    python benchmarks/long_texts.py 1000 10000                                 # one JSON line each

The text is the beginning of Shakespeare's plays in $FACTLOOM_DATA, of so many words; the model is
one that has learned nothing, which costs what a trained one costs. Seconds are those of the
processor, of one thread, so that other work on the machine counts little. `windows` are those that
the judge reads, `largest` the tokens of the largest batch, padding included; `megabytes` is by how
much the process has grown at most.
"""

import argparse
import gzip
import json
import re
import resource
import time
from pathlib import Path
from typing import Any

import torch

from factloom.answers.cogltx import CogLtx
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.files.data_path import data_path

FILE = "$FACTLOOM_DATA/plain_text/tinyshakespeare.txt.gz"
QUESTION = "Who knows that Caius Marcius is chief enemy to the people?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", type=int, nargs="+", help="Words of the text.")
    torch.set_num_threads(1)
    model = CogLtx(Encoder.load("all-MiniLM-L6-v2")).eval()
    text = gzip.decompress(Path(data_path(FILE)).read_bytes()).decode()
    ends = [word.end() for word in re.finditer(r"\S+", text)]
    for count in parser.parse_args().words:
        print(json.dumps(measured(model, text[: ends[count - 1]], count)), flush=True)


def measured(model: CogLtx, text: str, count: int) -> dict[str, Any]:
    """One question asked of the text."""
    batches: list[torch.Size] = []

    def watch(_: Any, __: Any, given: dict[str, torch.Tensor], ___: Any) -> None:
        batches.append(given["input_ids"].shape)

    hook = model.judge.encoder.backbone.register_forward_hook(watch, with_kwargs=True)
    before, start = _megabytes(), time.process_time()
    model.ask(QUESTION, [Document(text)])
    hook.remove()
    return {
        "part": "long texts",
        "words": count,
        "windows": sum(shape[0] for shape in batches),
        "largest": max(shape.numel() for shape in batches),
        "seconds": round(time.process_time() - start, 2),
        "megabytes": round(_megabytes() - before),
    }


def _megabytes() -> float:
    """The most memory that the process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
