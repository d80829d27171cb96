"""A real Ray of two nodes on this machine: what it finds, also when a worker or a node is lost."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crew_components import LosingOnce, Noting, Unloadable, Waiting

pytest.importorskip("ray", reason="Ray is not installed: pip install 'factloom[ray]'")

import ray
from ray.cluster_utils import Cluster

from factloom.errors import InputError, ModelError
from factloom.extraction import Targets, blocks, extract, extract_on_ray
from factloom.pipeline import Pipeline

SIZE = 2
_LITTLE = 80 << 20  # bytes


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Any, Any]]:
    """The cluster, and its second node; each node is one worker."""
    own = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, own)))  # of the components
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # else others on the machine come first
        head = {"num_cpus": 1, "object_store_memory": _LITTLE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        second = cluster.add_node(num_cpus=1, object_store_memory=_LITTLE)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster, second
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blocks, "BATCHES", 1)
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text("Ada Oslo")
    return folder


def expected(texts: Path) -> bytes:
    output = texts.parent / "whole.jsonl"
    extract(Pipeline(Noting()), [str(texts)], Targets([output]), batch_size=SIZE)
    return output.read_bytes()


def found(texts: Path, component: Any) -> bytes:
    directory = texts.parent / "found"
    report = extract_on_ray(Pipeline(component), [str(texts)], directory, batch_size=SIZE)
    assert (report.documents, report.problems) == (8, [])
    return b"".join(path.read_bytes() for path in sorted(directory.glob("part-*.jsonl")))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:head"])
def test_a_cluster_that_is_not_there_is_told_before_the_work(texts: Path, address: str) -> None:
    directory = texts.parent / "found"
    with pytest.raises(InputError, match=f"there is no Ray cluster at '{address}'"):
        extract_on_ray(
            Pipeline(Noting()), [str(texts)], directory, batch_size=SIZE, address=address
        )
    assert not directory.exists()


@pytest.mark.usefixtures("nodes")
def test_a_worker_that_is_killed_costs_its_block_alone(texts: Path) -> None:
    (texts / "4.txt").write_text("Ada lost")
    assert found(texts, LosingOnce(texts.parent)) == expected(texts)
    assert (texts.parent / "lost").exists()


@pytest.mark.usefixtures("nodes")
def test_an_error_of_a_worker_is_that_of_the_command(texts: Path) -> None:
    with pytest.raises(ModelError, match="model-not-found"):
        found(texts, Unloadable())


def test_a_node_that_is_killed_costs_its_blocks_alone(nodes: tuple[Any, Any], texts: Path) -> None:
    """The last test of the cluster, which has one node then."""
    for number in range(0, 8, SIZE):
        (texts / f"{number}.txt").write_text("Ada waits")
    cluster, second = nodes
    folder = texts.parent

    def kill() -> None:
        while len(list(folder.glob("reading *"))) < 2:  # one on each node
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)
        while alive() > 1:
            time.sleep(0.05)
        (folder / "go on").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    assert found(texts, Waiting(folder)) == expected(texts)
    killer.join()
    assert alive() == 1


def alive() -> int:
    """How many nodes Ray believes to be there."""
    return [node["Alive"] for node in ray.nodes()].count(True)
