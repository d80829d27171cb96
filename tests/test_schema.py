"""Which relations are kept: by name or id, by score, by the types of head and tail."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import InputError, Place
from factloom.schema import Schema, make_schema, read_schema_file

NAMES = {"P112": "founded by", "P19": "place of birth", "P17": "country", "own": "own"}


def document(*relations: Relation) -> Document:
    return Document(
        text="Ada Quillmark",
        mentions=(Mention(0, 3, "PER"), Mention(4, 13, "ORG")),
        entities=(Entity((0,), "PER"), Entity((1,), "ORG")),
        relations=relations,
    )


def kept(schema: Schema, *relations: Relation) -> list[Relation]:
    return list(schema.restrict(document(*relations)).relations)


@pytest.mark.parametrize(
    "spelling", ["P112", "p112", "founded by", "founded_by", "Founded-By", " founded  by "]
)
def test_a_relation_is_known_by_its_id_and_its_words_in_any_spelling(spelling: str) -> None:
    assert make_schema(NAMES, relations=[spelling]).relations == {"P112"}


def test_the_id_counts_before_the_words() -> None:
    names = {"country": "land", "P17": "country"}
    assert make_schema(names, relations=["country"]).relations == {"country"}


def test_relations_of_one_name_are_wanted_together() -> None:
    schema = make_schema({"a": "part of", "b": "Part of"}, thresholds={"part_of": 0.5})
    assert schema.thresholds == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("fuonded by", "founded by (P112)"),
        ("place_of_death", "place of birth (P19)"),
        ("P1121", "founded by (P112)"),
        ("xqzw", "spelled much like it: none"),
        ("", "spelled much like it: none"),
    ],
)
def test_an_unknown_relation_is_an_error_that_names_those_like_it(given: str, near: str) -> None:
    with pytest.raises(InputError, match="unknown-relation") as caught:
        make_schema(NAMES, relations=[given])
    assert near in str(caught.value)


def test_names_that_begin_with_the_given_words_are_suggested_first_but_never_taken() -> None:
    names = {
        "P276": "location",
        "P131": "located in the administrative territorial entity",
        "P112": "founded by",
    }
    with pytest.raises(InputError, match="unknown-relation") as caught:
        make_schema(names, relations=["founded_by", "located_in"])
    near = "located in the administrative territorial entity (P131), location (P276)"
    assert f"'located_in'; spelled much like it: {near}." in str(caught.value)


@pytest.mark.parametrize("setting", ["thresholds", "type_constraints"])
def test_a_relation_that_is_given_twice_is_an_error(setting: str) -> None:
    value: Any = 0.5 if setting == "thresholds" else [("ORG", "PER")]
    with pytest.raises(InputError, match="relation-twice") as caught:
        make_schema(NAMES, **{setting: {"P112": value, "founded by": value}})  # type: ignore[misc]
    assert "'P112' and 'founded by' are the same relation" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"relations": []}, "relations"),
        ({"type_constraints": {"founded by": []}}, "type_constraints.founded by"),
    ],
)
def test_an_empty_list_is_an_error_for_it_would_keep_nothing(
    settings: dict[str, Any], part: str
) -> None:
    with pytest.raises(InputError, match="nothing-kept") as caught:
        make_schema(NAMES, **settings)
    assert caught.value.flaw.place.part == part


@pytest.mark.parametrize(
    ("given", "near"),
    [("ORGANISATION", "ORG"), ("org", "ORG"), ("PRE", "PER"), ("village", "none")],
)
def test_a_type_that_the_model_never_finds_is_an_error_that_names_those_like_it(
    given: str, near: str
) -> None:
    with pytest.raises(InputError, match="unknown-entity-type") as caught:
        make_schema(NAMES, ("ORG", "PER"), type_constraints={"founded by": [("PER", given)]})
    assert f"{given!r}; spelled much like it: {near}. The types are: ORG, PER." in str(caught.value)
    assert caught.value.flaw.place.part == "type_constraints.founded by"


def test_types_are_not_checked_where_those_of_the_model_are_not_known() -> None:
    schema = make_schema(NAMES, type_constraints={"P17": [("village", "land")]})
    assert schema.type_constraints == {"P17": {("village", "land")}}


def test_without_settings_everything_is_kept() -> None:
    relations = [Relation(0, 1, "P17", score=0.0), Relation(1, 0, "P112", score=1.0)]
    assert kept(make_schema(NAMES), *relations) == relations


def test_only_wanted_relations_are_kept() -> None:
    founded = Relation(1, 0, "P112", score=0.9)
    schema = make_schema(NAMES, relations=["founded by", "place of birth"])
    assert kept(schema, founded, Relation(0, 1, "P17", score=0.9)) == [founded]


def test_a_relation_with_a_threshold_of_its_own_does_not_go_by_the_minimum() -> None:
    schema = make_schema(NAMES, minimum_score=0.5, thresholds={"founded_by": 0.3, "P17": 0.8})
    low = Relation(1, 0, "P112", score=0.3)
    high = Relation(0, 1, "P19", score=0.5)
    others = [Relation(0, 1, "P17", score=0.79), Relation(1, 0, "P19", score=0.49)]
    assert kept(schema, low, high, *others) == [low, high]


def test_a_relation_without_a_score_is_kept_whatever_the_threshold() -> None:
    gold = Relation(1, 0, "P112")
    assert kept(make_schema(NAMES, minimum_score=1.0), gold) == [gold]


def test_a_relation_is_kept_only_between_types_that_are_allowed() -> None:
    schema = make_schema(NAMES, type_constraints={"founded by": [("ORG", "PER"), ("LOC", "PER")]})
    right, free = Relation(1, 0, "P112"), Relation(0, 1, "P17")
    assert kept(schema, right, Relation(0, 1, "P112"), free) == [right, free]


@given(st.lists(st.tuples(st.sampled_from(sorted(NAMES)), st.floats(0, 1)), max_size=4), st.data())
def test_restricting_twice_changes_nothing(
    found: list[tuple[str, float]], data: st.DataObject
) -> None:
    relations = {kind: Relation(0, 1, kind, score=score) for kind, score in found}.values()
    schema = make_schema(
        NAMES,
        minimum_score=data.draw(st.floats(0, 1)),
        thresholds=data.draw(st.dictionaries(st.sampled_from(sorted(NAMES)), st.floats(0, 1))),
    )
    once = schema.restrict(document(*relations))
    assert schema.restrict(once) == once
    assert all(schema.least_score(r.type) <= (r.score or 0.0) for r in once.relations)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"minimum_score": 1.5}, "minimum_score"),
        ({"thresholds": {"P17": -1}}, "thresholds.P17"),
        ({"relations": "founded by"}, "relations"),
        ({"type_constraints": {"P17": [["ORG"]]}}, "type_constraints.P17.0"),
        ({"relation": ["P17"]}, "relation"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it(settings: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError, match="schema-setting") as caught:
        make_schema(NAMES, **settings)
    assert (caught.value.flaw.place.part or "").startswith(part)


TOML = """
minimum_score = 0.4
relations = ["P112"]
[thresholds]
"founded by" = 0.7
[type_constraints]
P112 = [["ORG", "PER"]]
"""


def test_a_toml_and_a_json_file_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(TOML)
    settings = read_schema_file(tmp_path / "schema.toml")
    (tmp_path / "schema.json").write_text(json.dumps(settings))
    assert read_schema_file(tmp_path / "schema.json") == settings
    assert make_schema(NAMES, **settings) == Schema(
        relations=frozenset({"P112"}),
        minimum_score=0.4,
        thresholds={"P112": 0.7},
        type_constraints={"P112": frozenset({("ORG", "PER")})},
    )


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.toml", b"P17 =", "schema-file"),
        ("a.json", b"{", "schema-file"),
        ("a.toml", b"\xff", "schema-file"),
        ("a.toml", b"P17 = 0.5", "schema-setting"),
        ("a.json", b"[1]", "schema-setting"),
    ],
)
def test_a_file_that_is_no_schema_is_an_error_with_its_name(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=code) as caught:
        read_schema_file(tmp_path / name)
    assert caught.value.flaw.place.file == str(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[thresholds]\nfoundet = 0.5", "unknown-relation"),
        ('relations = ["foundet"]', "unknown-relation"),
        ('[thresholds]\nP112 = 0.5\n"founded by" = 0.6', "relation-twice"),
        ('[type_constraints]\nP112 = [["ORG", "DOG"]]', "unknown-entity-type"),
        ("relations = []", "nothing-kept"),
    ],
)
def test_what_is_wrong_with_a_setting_of_a_file_is_told_with_the_name_of_the_file(
    tmp_path: Path, content: str, code: str
) -> None:
    path = tmp_path / "thresholds.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=code) as caught:
        make_schema(NAMES, ("ORG", "PER"), **read_schema_file(path))
    assert caught.value.flaw.place.file == str(path)


def test_what_replaces_a_setting_of_a_file_is_not_blamed_on_it(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(TOML)
    settings = read_schema_file(tmp_path / "schema.toml")
    settings["relations"] = ["foundet"]
    with pytest.raises(InputError, match="unknown-relation") as caught:
        make_schema(NAMES, **settings)
    assert caught.value.flaw.place == Place(part="relations")


@pytest.mark.parametrize("name", ["schema.TOML", "schema.JSON"])
def test_a_file_may_have_a_byte_order_mark_and_a_suffix_in_capitals(
    tmp_path: Path, name: str
) -> None:
    content = '{"minimum_score": 0.5}' if name.endswith("JSON") else "minimum_score = 0.5"
    (tmp_path / name).write_text(content, encoding="utf-8-sig")
    assert read_schema_file(tmp_path / name) == {"minimum_score": 0.5}


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file-missing"):
        read_schema_file(tmp_path / "none.toml")
    with pytest.raises(InputError, match="file-unreadable"):
        read_schema_file(tmp_path)
