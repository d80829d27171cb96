"""What the terminal shows: every entity, every relation with its evidence, safely and stably."""

import io

import pytest
from rich.console import Console

from factloom.cli import tables
from factloom.document import Document, Entity, Mention, Relation, Sentence

TEXT = "Ada  Brook founded\nQuillmark. Brook sold it to Mara in [Ashmere]."
NAMES = {"P112": "founded by"}


@pytest.fixture
def document() -> Document:
    spans = {"Ada  Brook": "PER", "Quillmark": "ORG", "Mara": "PER", "[Ashmere]": "LOC"}
    mentions = [Mention(TEXT.index(n), TEXT.index(n) + len(n), kind) for n, kind in spans.items()]
    brook = TEXT.index("Brook sold")
    return Document(
        text=TEXT,
        id="a.txt",
        sentences=(Sentence(0, 29), Sentence(30, len(TEXT))),
        mentions=(*mentions, Mention(brook, brook + 5, "PER")),
        entities=(
            Entity((1,), "ORG"),
            Entity((4, 0), "PER"),
            Entity((2,), "PER"),
            Entity((3,), "LOC"),
        ),
        relations=(
            Relation(0, 1, "P112", score=0.876, evidence=(0, 1)),
            Relation(1, 0, "own", score=0.5),
            Relation(1, 2, "own", score=0.75),
        ),
    )


def shown(document: Document, width: int | None = None) -> str:
    file = io.StringIO()
    console = tables.make_console(file) if width is None else Console(file=file, width=width)
    tables.show([document], NAMES, console)
    return file.getvalue()


def test_piped_output_is_plain_unbroken_and_complete(document: Document) -> None:
    assert [line.rstrip() for line in shown(document).splitlines()] == [
        "== a.txt",
        "entity     type  mentions  other names",
        "Ada Brook  PER          2  Brook",
        "Quillmark  ORG          1",
        "Mara       PER          1",
        "[Ashmere]  LOC          1",
        "",
        "head       relation    tail       score",
        "Ada Brook  own         Mara       0.75",
        "Ada Brook  own         Quillmark  0.50",
        "Quillmark  founded by  Ada Brook  0.88",
        "    [1] Ada Brook founded Quillmark.",
        "    [2] Brook sold it to Mara in [Ashmere].",
        "",
    ]


def test_what_a_relation_follows_from_stands_below_its_evidence(document: Document) -> None:
    sold = Relation(2, 1, "bought from", score=0.25)
    premises = [[1, "own", 0], [2, "bought from", 1]]
    bridge = {"entity": 1, "pattern": 3, "weight": 0.4, "premises": premises}
    owns = Relation(2, 0, "own", score=0.3, evidence=(1,), provenance={"bridges": [bridge]})
    lines = shown(document.replace(relations=(*document.relations, owns, sold))).splitlines()
    row = next(n for n, line in enumerate(lines) if line.startswith("Mara") and "0.30" in line)
    assert lines[row + 1].startswith("    [2] Brook sold it to Mara")
    assert lines[row + 2].rstrip() == (
        "    (Ada Brook, own, Quillmark) and (Mara, bought from, Ada Brook) "
        "support (Mara, own, Quillmark)"
    )


def test_piped_output_does_not_depend_on_the_window(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = shown(document)
    monkeypatch.setenv("COLUMNS", "20")
    assert shown(document) == wide


def test_head_and_tail_are_marked_in_the_evidence(document: Document) -> None:
    first, second = tables.evidence(document, document.relations[0])
    marked = [
        [(line.plain[span.start : span.end], span.style) for span in line.spans]
        for line in (first, second)
    ]
    assert marked == [
        [("[1] ", tables.QUIET), ("Quillmark", tables.HEAD), ("Ada Brook", tables.TAIL)],
        [("[2] ", tables.QUIET), ("Brook", tables.TAIL)],
    ]


def test_a_narrow_console_breaks_columns_and_loses_nothing(document: Document) -> None:
    long = {"own": "is in the possession of the following organisation"}
    file = io.StringIO()
    tables.show([document], long, Console(file=file, width=50))
    lines = file.getvalue().splitlines()
    assert max(len(line) for line in lines) <= 50
    words = file.getvalue().split()
    assert words.count("organisation") == words.count("following") == 2


def test_characters_that_steer_a_terminal_are_not_printed() -> None:
    text = "Eve\x1b[31m\x07\x9b met Bob"
    document = Document(
        text=text,
        id="eve\x1b[2J.txt",
        sentences=(Sentence(0, len(text)),),
        mentions=(Mention(0, 10, "PER"), Mention(len(text) - 3, len(text), "PER")),
        entities=(Entity((0,), "PER"), Entity((1,), "PER")),
        relations=(Relation(0, 1, "met", score=0.9, evidence=(0,)),),
    )
    assert not any(ord(sign) < 32 for sign in shown(document) if sign != "\n")
    assert "\x9b" not in shown(document)


def test_mentions_that_are_not_joined_are_counted_by_spelling() -> None:
    document = Document("Ada saw Ada.", mentions=(Mention(0, 3, "PER"), Mention(8, 11, "PER")))
    assert "Ada   PER          2" in shown(document)
    assert "relation" not in shown(document)


def test_nothing_found_is_said() -> None:
    assert "no names found" in shown(Document("Nothing here."))
    alone = Document("Ada.", mentions=(Mention(0, 3, "PER"),), entities=(Entity((0,), "PER"),))
    assert "no relations found" in shown(alone)
