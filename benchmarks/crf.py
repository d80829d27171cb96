"""The conditional random field against the package pytorch-crf, on the same numbers.

It is not among factloom's dependencies:

    pip install --target /tmp/peers --no-deps pytorch-crf
    PYTHONPATH=/tmp/peers python benchmarks/crf.py            # one JSON line

Log-likelihood forward and backward, and decoding; results are compared first.
"""

import importlib.util
import json
import sys

import torch
from rounds import compare, parse_arguments

from factloom.modules.crf import ConditionalRandomField

# sequences, words, tags: CoNLL with BIOES, a short batch, long sentences with seven types
SIZES = ((32, 50, 17), (8, 30, 9), (16, 150, 29))


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    found = measure(arguments.rounds)
    print(json.dumps({"part": "crf", "threads": arguments.threads, **found}))


def measure(rounds: int) -> dict[str, object]:
    if importlib.util.find_spec("torchcrf") is None:
        print(__doc__, file=sys.stderr)
        return {"missing": "pytorch-crf"}
    found = {"x".join(map(str, size)): measure_size(*size, rounds) for size in SIZES}
    return {"sequences x words x tags": found}


def measure_size(batch: int, length: int, tags: int, rounds: int) -> dict[str, object]:
    from torchcrf import CRF

    torch.manual_seed(0)
    emissions = torch.randn(batch, length, tags, requires_grad=True)
    paths = torch.randint(tags, (batch, length))
    lengths = torch.randint(length // 3, length + 1, (batch,))
    lengths[0] = length
    mask = torch.arange(length) < lengths[:, None]
    theirs, ours = CRF(tags, batch_first=True), ConditionalRandomField(tags)
    with torch.no_grad():
        ours.transitions.copy_(theirs.transitions)
        ours.start.copy_(theirs.start_transitions)
        ours.end.copy_(theirs.end_transitions)

    likelihood = ours.log_likelihood(emissions, paths, lengths)
    expected = theirs(emissions, paths, mask, reduction="none")
    torch.testing.assert_close(likelihood, expected, rtol=1e-4, atol=1e-3)
    decoded, best = ours.decode(emissions, lengths).tolist(), theirs.decode(emissions, mask)
    assert [path[: len(other)] for path, other in zip(decoded, best, strict=True)] == best

    def train_ours() -> None:
        ours.log_likelihood(emissions, paths, lengths).sum().backward()

    def train_theirs() -> None:
        theirs(emissions, paths, mask, reduction="sum").backward()

    return {
        "likelihood": compare(train_ours, {"pytorch_crf": train_theirs}, rounds),
        "decode": compare(
            lambda: ours.decode(emissions, lengths),
            {"pytorch_crf": lambda: theirs.decode(emissions, mask)},
            rounds,
        ),
    }


if __name__ == "__main__":
    main()
