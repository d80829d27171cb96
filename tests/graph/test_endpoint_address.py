"""Where an endpoint is, and who calls, from what a user gives; secrets are never shown."""

from pathlib import Path

import pytest

from factloom.errors import InputError
from factloom.graph.endpoint.address import (
    LOGIN,
    LOGIN_FILE,
    is_address,
    read_addresses,
    read_login,
)


@pytest.mark.parametrize(
    ("given", "query", "update"),
    [
        ("http://h:7878", "http://h:7878/query", "http://h:7878/update"),
        ("http://h:7878/", "http://h:7878/query", "http://h:7878/update"),
        ("http://h/ds/query", "http://h/ds/query", "http://h/ds/update"),
        ("https://h/sparql", "https://h/sparql", "https://h/sparql"),
        ("http://h/ds", "http://h/ds", "http://h/ds"),
        (
            "http://h/repositories/a",
            "http://h/repositories/a",
            "http://h/repositories/a/statements",
        ),
        ("https://h/ask https://g:1/change", "https://h/ask", "https://g:1/change"),
        ("http://[::1]:7878/query", "http://[::1]:7878/query", "http://[::1]:7878/update"),
    ],
)
def test_updates_go_where_the_name_of_the_address_says(given: str, query: str, update: str) -> None:
    found = read_addresses(given)
    assert (str(found.query), str(found.update)) == (query, update)


def test_what_stands_behind_the_question_mark_is_sent_and_not_shown() -> None:
    found = read_addresses("https://h/ds/query?key=secret")
    assert found.query.target == "/ds/query?key=secret"
    assert found.update.target == "/ds/update?key=secret"
    assert "secret" not in f"{found.query} {found.query.place}"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("https://", "endpoint-address"),
        ("https://h:port/query", "endpoint-address"),
        ("https://h/日本", "endpoint-address"),
        ("https://h/#part", "endpoint-address"),
        ("https://a https://b https://c", "endpoint-addresses"),
        ("https://h/query DIR", "endpoint-address"),
        ("https://user:secret@h/query", "endpoint-login-in-address"),
        ("https://user:secret@h:port/query", "endpoint-login-in-address"),
    ],
)
def test_what_is_no_address_is_an_error_without_secrets(given: str, code: str) -> None:
    with pytest.raises(InputError) as found:
        read_addresses(given)
    assert found.value.code == code
    assert "secret" not in str(found.value)


def test_a_directory_is_no_address() -> None:
    assert is_address("HTTPS://example.org/query")
    for directory in ("graph", "http", "./https:/x", Path("https://example.org/query")):
        assert not is_address(directory)


def test_who_calls_is_a_user_or_a_token(tmp_path: Path) -> None:
    assert read_login({}) is None
    assert read_login({LOGIN: "ada:pass:word"}) == "Basic YWRhOnBhc3M6d29yZA=="
    assert read_login({LOGIN: "abc.def\n"}) == "Bearer abc.def"
    file = tmp_path / "login"
    file.write_text("token-1\n")
    assert read_login({LOGIN_FILE: str(file)}) == "Bearer token-1"
    assert read_login({LOGIN_FILE: str(file), LOGIN: "other"}) == "Bearer other"


def test_a_token_that_is_none_is_not_shown(tmp_path: Path) -> None:
    for login in ("", "secret secret", "secret\r\nHost"):
        with pytest.raises(InputError) as found:
            read_login({LOGIN: login})
        assert found.value.code == "endpoint-login"
        assert "secret" not in str(found.value)
    with pytest.raises(InputError) as found:
        read_login({LOGIN_FILE: str(tmp_path / "missing")})
    assert found.value.code == "file-unreadable"
