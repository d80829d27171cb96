"""FewRel and TekGen: sentences of which some facts are known, and nothing else."""

import json
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError
from format_samples import SAMPLES, TEKGEN_RECORDS


def read(tmp_path: Path, format: str, content: str | None = None) -> list[Document]:
    text = SAMPLES[format] if content is None else content
    (tmp_path / "file").write_text(text, encoding="utf-8")
    return list(formats.read(tmp_path / "file", format))


def stated(document: Document) -> set[tuple[str, str, str]]:
    return {(document.name(r.head), r.type, document.name(r.tail)) for r in document.relations}


def test_a_sentence_of_fewrel_has_one_fact_and_nothing_else_is_known(tmp_path: Path) -> None:
    first, second = read(tmp_path, "fewrel")
    assert first.text == "Tom Quill is the son of Ada ; Ada left ."
    assert stated(first) == {("Tom Quill", "P25", "Ada")}
    assert (first.id, first.annotated, first.relations[0].evidence) == ("P25:1", (), (0,))
    assert [len(entity.mentions) for entity in first.entities] == [1, 2]
    assert [entity.id for entity in first.entities] == ["Q1", "Q2"]
    assert (second.id, second.entities[0].id) == ("P9:1", None)
    assert {mention.kind for mention in second.mentions} == {"pronoun", "nominal"}


@pytest.mark.parametrize("positions", [[7], [-1], [0, 9]])
def test_words_that_fewrel_does_not_have_are_a_flaw(tmp_path: Path, positions: list[int]) -> None:
    record = {"tokens": ["Ada", "left"], "h": ["a", "", [positions]], "t": ["b", "", [[1]]]}
    (tmp_path / "file").write_text(json.dumps({"P1": [record]}), encoding="utf-8")
    (flaw,) = formats.check(tmp_path / "file", "fewrel")
    assert (flaw.code, flaw.place.part) == ("span-outside-sentence", "record 0, h")


@pytest.mark.parametrize("content", ["{", '{"P1": 3}', '{"P1": []', '{"P1": [],}', '{"P1": []} 1'])
def test_what_is_no_object_of_lists_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, "fewrel", content)
    assert raised.value.code == "not-json"


def test_labels_of_tekgen_are_marked_wherever_they_stand(tmp_path: Path) -> None:
    first, second, empty = read(tmp_path, "tekgen")
    assert "Ada Brøk" in first.text  # decoded anew
    names = [first.mention_text(mention) for mention in first.entities[0].mentions]
    assert names == ["Torvik: The End", "Torvik : The End"]
    assert {(r.type, first.name(r.tail)) for r in first.relations} == {
        ("P57", "Ada Brøk"),
        ("P577", "1998"),  # of 01 January: what Wikidata knows the year of alone
    }
    assert {entity.type for entity in first.entities} == {"?", "TIME"}
    assert stated(second) == {("Halden", "P577", "May 2, 1998")}
    assert (empty.mentions, empty.annotated) == ((), ())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rel_label": "voice type"}, "relation-left-out"),
        ({"sub_label": "Nobody"}, "argument-not-in-text"),
        ({"obj_label": "03 May 1998"}, "argument-not-in-text"),
    ],
)
def test_facts_that_find_no_place_are_left_out_with_a_warning(
    tmp_path: Path, change: dict[str, str], code: str
) -> None:
    content = json.dumps(TEKGEN_RECORDS[1] | change)
    (document,) = read(tmp_path, "tekgen", content)
    assert (document.mentions, document.relations) == ((), ())
    (flaw,) = formats.check(tmp_path / "file", "tekgen")
    assert flaw.code == code
