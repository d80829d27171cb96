"""The service as a process: it starts safely, ends gently, and loses nothing when it is killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_service import ADA, MARA
from typer.testing import CliRunner

from factloom.cli import app
from factloom.errors import FactloomError
from factloom.graph.store import Store
from factloom.serving import server
from factloom.serving.client import Client, ServiceError
from factloom.serving.settings import ServiceSettings

SCRIPT = Path(__file__).parent / "served.py"


@contextmanager
def served(store: Path, seconds: float = 0.0) -> Iterator[tuple[Client, "subprocess.Popen[str]"]]:
    """A service in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPT.parent), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(store), str(seconds)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        lines = (json.loads(line) for line in process.stderr)
        address = next(line["url"] for line in lines if line["event"] == "listening")
        yield Client(address, patience=0), process
    finally:
        process.kill()
        process.communicate()


def test_what_was_taken_in_survives_a_kill(tmp_path: Path) -> None:
    with served(tmp_path / "store") as (client, process):
        for number in range(5):
            client.add((f"{number}", f"{ADA} {number}"))
        client.reject(("Ada Lovelace", "place of birth", "London"), by="Ada")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with Store.open(tmp_path / "store") as store:
        assert sorted(store.document_ids()) == ["0", "1", "2", "3", "4"]
        assert [said.who for said in store.corrections()] == ["Ada"]
        assert store.neighbours("London") == []


def test_an_end_waits_for_what_was_accepted(tmp_path: Path) -> None:
    with served(tmp_path / "store", seconds=1.0) as (client, process):
        told: list[str] = []
        call = threading.Thread(
            target=lambda: told.append(client.add(("mara", MARA)).documents[0].status)
        )
        call.start()
        assert process.stderr is not None
        client.health()
        threading.Event().wait(0.3)  # the text is being read
        process.send_signal(signal.SIGTERM)
        call.join()
        assert told == ["added"]
        assert process.wait() == 0
        events = [json.loads(line)["event"] for line in process.stderr]
        assert events[-1] == "ended"
    with Store.read(tmp_path / "store") as store:
        assert list(store.document_ids()) == ["mara"]


def test_the_client_hears_what_is_wrong(tmp_path: Path) -> None:
    with served(tmp_path / "store") as (client, _):
        page = tmp_path / "a b.txt"
        page.write_text(ADA)
        assert [each.status for each in client.add_files([page]).documents] == ["added"]
        (found,) = client.extract(MARA).documents
        assert found.as_document().text == MARA
        assert client.things("vel").total == 1
        assert client.path("Ada Lovelace", "London").facts[0].relation == "P19"
        assert client.query("ASK { ?a wdt:P19 ?b }")["boolean"] is True
        (name,) = client.document_ids().ids
        assert client.document(name)["text"] == ADA
        made = client.rename("London", "London Town", by="Ada")
        assert client.undo(made.number).undone
        assert client.corrections().total == 0
        client.delete(name)
        with pytest.raises(ServiceError) as told:
            client.delete(name)
        assert (told.value.code, told.value.status) == ("unknown-document", 404)
        assert told.value.flaw.place.document == name


def test_where_no_service_is_the_client_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(FactloomError, match="service-unreachable"):
        Client(f"http://127.0.0.1:{port}").health()


# --- what is checked before it runs --------------------------------------------------------------


def refused(code: str, *options: str) -> None:
    with pytest.raises(FactloomError) as error:
        CliRunner().invoke(app, ["serve", *options], catch_exceptions=False)
    assert error.value.code == code


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "graph.example.org"])
def test_others_are_let_in_with_a_token_only(host: str) -> None:
    refused("token-needed", "--host", host)


def test_a_short_token_is_none(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    refused("token-short", "--token-file", str(tmp_path / "token"))
    refused("file-unreadable", "--token-file", str(tmp_path / "nothing"))
    (tmp_path / "token").write_text(f"{'x' * 32}\n")
    assert server.read_token(tmp_path / "token") == "x" * 32


def test_an_address_in_use_is_told_before_a_model_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused("address-in-use", "--port", str(taken.getsockname()[1]))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "", "10.0.0.1", "localhost.evil.example")),
    ],
)
def test_what_this_machine_alone_can_reach(host: str, loopback: bool) -> None:
    assert server.is_loopback(host) == loopback


@pytest.mark.parametrize("content", ["seconds = 0", "sceonds = 1", "seconds =", "hosts = 3"])
def test_a_setting_that_cannot_be_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "serve.toml").write_text(content)
    refused("service-setting", "--settings", str(tmp_path / "serve.toml"))


def test_settings_are_read(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text('seconds = 5\nhosts = ["graph.example.org"]')
    found = ServiceSettings.read(tmp_path / "serve.toml")
    assert (found.seconds, found.hosts) == (5.0, ("graph.example.org",))
    assert found.page == ServiceSettings().page
