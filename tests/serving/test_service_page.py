"""The live page as it is sent: its addresses, their headers, and what stands in its files."""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from fake_service import running
from starlette.testclient import TestClient
from test_service_routes import problem_of

from factloom.serving.guards import Access
from factloom.serving.page import ADDRESSES, CONTENT_POLICY, page_file
from page_scripts import LIVE, result_of

FILES = {address: page_file(address)[1].decode() for address in sorted(ADDRESSES)}
SCRIPTS = {address: text for address, text in FILES.items() if address.endswith(".js")}
TAGS: list[tuple[str, dict[str, str | None]]] = []
PARSER = HTMLParser()
PARSER.handle_starttag = lambda tag, attributes: TAGS.append((tag, dict(attributes)))  # type: ignore[method-assign]
PARSER.feed(FILES["/"])


@pytest.fixture(scope="module")
def client() -> TestClient:
    with running(access=Access(token="opal")) as found:
        return found


@pytest.mark.parametrize("address", sorted(ADDRESSES))
def test_the_page_needs_no_token_and_may_load_its_own_files_alone(
    client: TestClient, address: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    kind = (
        "html"
        if address == "/"
        else {"js": "javascript", "svg": "svg+xml"}.get(address.rpartition(".")[2], "css")
    )
    assert answer.headers["content-type"].endswith(f"/{kind}; charset=utf-8")
    assert answer.headers["content-security-policy"] == CONTENT_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_the_policy_allows_nothing_inline_and_no_other_host() -> None:
    rules = dict(rule.split(" ", 1) for rule in CONTENT_POLICY.split("; "))
    assert rules["default-src"] == rules["form-action"] == rules["frame-ancestors"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}


@pytest.mark.parametrize(
    "path", ["/page/", "/page/page.html", "/page/__init__.py", "/page/..%2fapp.py"]
)
def test_other_files_are_not_sent(client: TestClient, path: str) -> None:
    headers = {"authorization": "Bearer opal"}
    assert problem_of(client.get(path, headers=headers), 404) == "no-such-address"


def test_the_page_asks_for_all_of_its_files_and_no_others() -> None:
    named = {value for _, given in TAGS for key, value in given.items() if key in ("src", "href")}
    assert {f"/{name}" for name in named} | {"/"} == ADDRESSES
    folder = files("factloom.serving.page")
    own = {each.name for each in folder.iterdir() if each.name.endswith((".js", ".css", ".svg"))}
    assert own <= {address.rpartition("/")[2] for address in ADDRESSES}


def test_no_file_names_another_host() -> None:
    for address, text in FILES.items():
        hosts = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)) - {"http://www.w3.org"}
        assert not hosts, address
        assert "@import" not in text
        assert "url(" not in text


def test_nothing_stands_inline_and_text_is_written_as_text() -> None:
    for tag, given in TAGS:
        assert "style" not in given
        assert not [name for name in given if name.startswith("on")]
        assert tag != "script" or "src" in given
    html = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|"
        r"setAttribute\(\"style\"|localStorage|sessionStorage|document\.cookie"
    )
    for address, text in SCRIPTS.items():
        assert not html.search(text), address


def test_the_scripts_ask_for_parts_that_the_page_has() -> None:
    known = {given["id"] for _, given in TAGS if "id" in given}
    asked = {
        name for text in SCRIPTS.values() for name in re.findall(r'[^\w]part\("([^"]+)"\)', text)
    }
    assert len(asked) > 20
    assert asked <= known


def test_all_words_are_said_in_both_languages_with_the_same_values() -> None:
    words = result_of("WORDS", "words.js", folder=LIVE)
    for key, told in words.items():
        assert set(told) == {"en", "zh"}, key
        english, chinese = (set(re.findall(r"\{(\w+)\}", told[each])) for each in ("en", "zh"))
        assert english == chinese, key


def test_the_page_says_words_that_there_are() -> None:
    words = result_of("WORDS", "words.js", folder=LIVE)
    marked = {
        value
        for _, given in TAGS
        for name, value in given.items()
        if name in ("data-say", "data-label", "data-hint")
    }
    pattern = r'\bsay\("([\w-]+)"|worded\("\w+", "([\w-]+)"'
    said = {
        key for text in SCRIPTS.values() for found in re.findall(pattern, text) for key in found
    }
    assert marked | said - {""} <= words.keys()
    others = "".join(text for address, text in FILES.items() if address != "/page/words.js")
    composed = {key for key in words if key.startswith("said-")}  # by what was said
    composed |= {"accepted", "rejected", "corrected", "head", "tail"}
    assert {key for key in words if f'"{key}"' not in others} <= composed


@pytest.mark.parametrize(
    ("languages", "wanted"),
    [
        (["zh-CN", "en"], "zh"),
        (["en-GB", "zh"], "en"),
        (["fr", "zh-TW"], "zh"),
        (["fr"], "en"),
        ([], "en"),
    ],
)
def test_the_language_is_the_first_that_is_known(languages: list[str], wanted: str) -> None:
    assert result_of(f"wantedLanguage({languages})", "words.js", folder=LIVE) == wanted
