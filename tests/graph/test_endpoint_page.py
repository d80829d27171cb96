"""What docs/endpoint.md shows is what is printed."""

import re
import shlex
from pathlib import Path

import pytest
from graph_documents import NAMES, ada, engine
from loopback_endpoint import serving
from typer.testing import CliRunner

from factloom.cli import app
from factloom.graph.endpoint import writing
from factloom.graph.endpoint.address import LOGIN, LOGIN_FILE, read_addresses
from factloom.graph.store import Store

TEXT = (Path(__file__).parents[2] / "docs" / "endpoint.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


def test_every_command_prints_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LOGIN, raising=False)
    with serving() as server:
        with Store.open(server.address) as store:
            store.ingest([ada(), engine()], relation_names=NAMES, model="test")
        for part in block("console").split("$ factloom ")[1:]:
            command, _, printed = part.partition("\n")
            arguments = shlex.split(command.replace("ADDRESS", server.address))
            assert CliRunner().invoke(app, arguments).output == printed


def test_documents_go_from_one_to_the_other(tmp_path: Path) -> None:
    with serving() as server:
        with Store.open(server.address) as store:
            store.ingest([ada(), engine()], relation_names=NAMES, model="test")
        places = {'"ADDRESS"': repr(server.address), '"DIR"': repr(str(tmp_path / "store"))}
        code = block("python")
        for name, place in places.items():
            code = code.replace(name, place)
        exec(code)
        with Store.open(tmp_path / "store") as here, Store.read(server.address) as there:
            assert here.statistics() == there.statistics()
            assert here.models() == there.models()


def test_the_addresses_of_the_table_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| `([^`]+)` \|", TEXT, re.MULTILINE)
    assert len(rows) == 3
    for given, query, update in rows:
        address = given.replace("...", "http://host")
        found = read_addresses(address)
        expected = address if query == "as given" else f"{address}{query.strip('`')}"
        assert str(found.query) == expected
        assert str(found.update).endswith(update.replace("...", ""))


def test_the_page_knows_the_names_of_the_code() -> None:
    for name in (LOGIN, LOGIN_FILE, writing.WAITING, f"{writing.PIECE:,} characters"):
        assert name in TEXT
