"""The page: everything in one file, and text that stays text."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from export_documents import BIRTH, MODEL, RELATION_NAMES, STUDIES, document

from factloom.document import Document, Relation
from factloom.graph import page
from factloom.graph.exports import write_graph

HOSTILE = '</script><img src=x onerror="alert(1)"><script>alert(2)</script><!-- &amp; \u2028'
FOLDER = files("factloom.graph.page")


@dataclass
class Elements(HTMLParser):
    """What a browser finds in the page."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    title: str = ""
    inside: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside == "title":
            self.title += data

    def with_id(self, identifier: str) -> tuple[str, dict[str, str | None]]:
        [found] = [element for element in self.tags if element[1].get("id") == identifier]
        return found


def written(folder: Path, *documents: Document) -> Elements:
    path = folder / "graph.html"
    write_graph(documents, path, relation_names=RELATION_NAMES, model=MODEL)
    elements = Elements()
    elements.feed(path.read_text("utf-8"))
    elements.close()
    return elements


def content_of(elements: Elements) -> dict[str, Any]:
    kinds = [attributes.get("type") for tag, attributes in elements.tags if tag == "script"]
    found: dict[str, Any] = json.loads(elements.scripts[kinds.index("application/json")])
    return found


def test_the_content_has_texts_merged_entities_and_relations(tmp_path: Path) -> None:
    content = content_of(written(tmp_path, BIRTH, STUDIES))
    assert [found["text"] for found in content["documents"]] == [BIRTH.text, STUDIES.text]
    assert content["documents"][0]["sentences"] == [
        {"start": each.start, "end": each.end} for each in BIRTH.sentences
    ]
    assert [entity["name"] for entity in content["entities"]].count("Mara Velden") == 1
    birth, studies = content["relations"]
    assert birth["head"] == studies["head"]
    assert (birth["document"], studies["document"]) == (0, 1)
    assert (birth["name"], birth["score"], birth["evidence"]) == ("place of birth", 0.75, [0])
    assert studies["score"] is None


def test_the_content_says_what_a_relation_follows_from(tmp_path: Path) -> None:
    [born] = BIRTH.relations
    premises = [[born.head, born.type, born.tail], [born.tail, "P1", born.head]]
    bridge = {"entity": born.tail, "pattern": 1, "weight": 0.5, "premises": premises}
    back = Relation(born.tail, born.head, "P1", score=0.5)
    follows = replace(back, type="P2", provenance={"bridges": [bridge]})
    content = content_of(written(tmp_path, BIRTH.replace(relations=(born, back, follows))))
    reasons = {relation["type"]: relation["reasons"] for relation in content["relations"]}
    assert reasons[born.type] == reasons["P1"] == []
    [reason] = reasons["P2"]
    assert reason.startswith("(Mara Velden, place of birth, ")


def test_a_mention_knows_its_entity(tmp_path: Path) -> None:
    content = content_of(written(tmp_path, BIRTH))
    [shown] = content["documents"]
    place = BIRTH.text.index("Torvik")
    [mention] = [mention for mention in shown["mentions"] if mention["start"] == place]
    assert (mention["end"], mention["type"]) == (place + 6, "LOC")
    assert [content["entities"][entity]["name"] for entity in mention["entities"]] == ["Torvik"]


def test_a_mention_outside_all_entities_is_shown_by_its_type(tmp_path: Path) -> None:
    content = content_of(written(tmp_path, BIRTH.replace(entities=(), relations=())))
    first, *_ = content["documents"][0]["mentions"]
    assert (first["type"], first["entities"]) == ("PER", [])


def test_hostile_text_adds_no_element_and_comes_back_as_it_was(tmp_path: Path) -> None:
    relations = (("Ada", HOSTILE, "x y", 0.5),)
    hostile = document(HOSTILE, f"Ada {HOSTILE} x y", {"Ada": HOSTILE, "x y": "X"}, relations)
    harmless = written(tmp_path, BIRTH)
    attacked = written(tmp_path, hostile)
    assert [tag for tag, _ in attacked.tags] == [tag for tag, _ in harmless.tags]
    assert attacked.title == HOSTILE
    content = content_of(attacked)
    assert content["documents"][0]["name"] == HOSTILE
    assert content["documents"][0]["text"] == hostile.text
    assert content["relations"][0]["name"] == HOSTILE


def test_the_policy_allows_the_page_s_own_scripts_and_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    elements = written(tmp_path, BIRTH)
    [policy] = [
        attributes["content"] or ""
        for tag, attributes in elements.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    kinds = [attributes.get("type") for tag, attributes in elements.tags if tag == "script"]
    run = [script for script, kind in zip(elements.scripts, kinds, strict=True) if kind is None]
    digests = [hashlib.sha256(script.encode()).digest() for script in run]
    assert {base64.b64encode(digest).decode() for digest in digests} == allowed


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    for _, attributes in written(tmp_path, BIRTH).tags:
        assert not {"src", "href", "srcset", "data", "action"} & set(attributes)
    for style in ("look.css", "page.css"):
        text = (FOLDER / style).read_text("utf-8")
        assert "url(" not in text
        assert "@import" not in text


def test_documents_that_do_not_fit_are_counted_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_DOCUMENTS", 2)
    more = [document(f"d{number}", "Torvik", {"Torvik": "LOC"}) for number in range(5)]
    content = content_of(written(tmp_path, *more))
    assert [found["name"] for found in content["documents"]] == ["d0", "d1"]
    assert content["omitted"] == 3


def test_the_same_documents_give_the_same_page(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, BIRTH, STUDIES)
    first, second = (tmp_path / name / "graph.html" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_the_scripts_ask_for_parts_and_colours_that_the_page_has(tmp_path: Path) -> None:
    elements = written(tmp_path, BIRTH)
    script = (FOLDER / "page.js").read_text("utf-8")
    asked = set(re.findall(r'part\("([^"]+)"\)', script))
    assert len(asked) > 10
    for identifier in asked:
        elements.with_id(identifier)
    [colours] = re.findall(r"COLOURS = \[(.+?)\]", (FOLDER / "drawing.js").read_text("utf-8"))
    style = (FOLDER / "look.css").read_text("utf-8")
    for name in re.findall(r'"(\w+)"', colours):
        assert style.count(f"--{name}:") == 2, f"{name} in light and dark"


def test_the_scripts_write_text_as_text_only() -> None:
    html = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(")
    for script in (each for each in FOLDER.iterdir() if each.name.endswith(".js")):
        assert not html.search(script.read_text("utf-8")), script.name
