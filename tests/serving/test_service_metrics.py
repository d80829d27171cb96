"""Metrics in Prometheus's text format, and logs as JSON lines."""

import json
import logging

import pytest

from factloom.serving.logs import JsonLines, log, log_failure
from factloom.serving.metrics import Metrics


def test_counters_have_their_labels() -> None:
    metrics = Metrics()
    metrics.count("requests", 2, route='/a"b\n', status="200")
    metrics.count("requests", 1, route='/a"b\n', status="200")
    assert 'factloom_requests_total{route="/a\\"b\\n",status="200"} 3' in metrics.text()


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    metrics = Metrics()
    for value in (1, 2, 3, 1000):
        metrics.observe("batch_documents", value)
    lines = [line for line in metrics.text().splitlines() if "batch_documents" in line]
    found = dict(line.removeprefix("factloom_").rsplit(" ", 1) for line in lines if line[0] != "#")
    naive = {str(bound): sum(v <= bound for v in (1, 2, 3, 1000)) for bound in (1, 2, 4, 256)}
    for bound, number in naive.items():
        assert found[f'batch_documents_bucket{{le="{bound}"}}'] == str(number)
    assert found['batch_documents_bucket{le="+Inf"}'] == "4"
    assert (found["batch_documents_sum"], found["batch_documents_count"]) == ("1006", "4")


def test_a_gauge_is_asked_when_somebody_looks() -> None:
    metrics, waiting = Metrics(), [1]
    metrics.gauge("waiting", "What waits.", lambda: waiting[0])
    waiting[0] = 7
    assert metrics.text().endswith("# TYPE factloom_waiting gauge\nfactloom_waiting 7\n")


def test_every_name_is_described_once() -> None:
    lines = Metrics().text().splitlines()
    described = [line.split()[2] for line in lines if line.startswith("# HELP")]
    assert len(described) == len(set(described)) > 5


def test_a_line_of_the_log_is_an_object(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "factloom.serving"):
        log("request", route="/v1/extract", status=200)
        try:
            raise ValueError("line\nend")
        except ValueError:
            log_failure("request-failed")
    request, failure = (json.loads(JsonLines().format(record)) for record in caplog.records)
    assert (request["event"], request["level"], request["status"]) == ("request", "info", 200)
    assert request["time"].endswith("+00:00")
    assert "ValueError: line" in failure["trace"]
