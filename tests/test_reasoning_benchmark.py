"""benchmarks/reasoning.py in small: both forms agree, and a JSON line tells how they compare."""

import importlib
import json
from itertools import accumulate, cycle
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("reasoning")


def test_a_line_compares_time_and_memory(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def measured(form: str, name: str, count: int, arguments: object) -> float:
        asked.append((form, name, count, vars(arguments)["threads"]))
        return {"factored": 2.0, "naive": 9.0}[form]

    monkeypatch.setattr(benchmark, "measured_peak", measured)  # processes take their time
    passing = accumulate(cycle([0, 1, 0, 3]))  # at the start and end of the one form and the other
    monkeypatch.setattr(benchmark, "time", SimpleNamespace(perf_counter=lambda: next(passing)))
    threads = str(torch.get_num_threads())
    benchmark.main(["--entities", "3,4", "--width", "8", "--rounds", "1", "--threads", threads])
    line = json.loads(capsys.readouterr().out)
    assert list(line["entities"]) == ["3", "4"]
    for count, found in line["entities"].items():
        assert found["largest_difference"] < 1e-5
        for name in ("forward", "forward_backward"):
            assert found[name]["times_less_memory"] == 4.5
            assert found[name]["seconds"] == {"factored": 1, "naive": 3}
            assert found[name]["times_faster"] == 3
            assert ("naive", name, int(count), int(threads)) in asked


def test_the_naive_form_is_the_factored_one(benchmark: ModuleType) -> None:
    module, features, matrix = benchmark.make_inputs(5, 16)
    found = [
        benchmark.FORMS[form](module.double(), features.double(), matrix)
        for form in ("factored", "naive")
    ]
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-14)
