"""Facts go to Label Studio and doccano, and what people do there comes back as corrections."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graph_documents import NAMES, ada, engine

from factloom.errors import InputError
from factloom.graph.annotating import take_back, write_tasks
from factloom.graph.store import Store

BIRTH = ("Ada Lovelace", "place of birth", "London")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "store")
    opened.ingest([ada(), engine()], relation_names=NAMES, model="test")
    return opened


Relations = list[dict[str, Any]]


def annotate(store: Store, path: Path, format: str, change: Callable[[str, Relations], Relations]):
    """Export, let `change` do to each document's relations what people do, and say the file."""
    write_tasks(store, path, format)
    if format == "doccano":
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for number, record in enumerate(records):
            record["id"] = number + 7  # doccano counts by itself
            record["relations"] = change(record["document"], record["relations"])
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path
    tasks = json.loads(path.read_text())
    for task in tasks:
        [prediction] = task.pop("predictions")
        regions = [each for each in prediction["result"] if each["type"] == "labels"]
        drawn = [each for each in prediction["result"] if each["type"] == "relation"]
        kept = [{**each, "type": each["labels"][0]} for each in drawn]
        changed = change(task["data"]["document"], kept)
        back = [{**each, "labels": [each["type"]], "type": "relation"} for each in changed]
        task["annotations"] = [{"result": [*regions, *back]}]
    path.write_text(json.dumps(tasks))
    return path


def said(store: Store) -> list[tuple[str, str]]:
    return [(each.action, each.words) for each in store.corrections()]


def is_birth(relation: dict[str, Any]) -> bool:
    return relation["type"] == "place of birth"


both = pytest.mark.parametrize("format", ["label-studio", "doccano"])


@both
def test_scores_and_evidence_go_out(store: Store, tmp_path: Path, format: str) -> None:
    path = tmp_path / "tasks.json"
    assert write_tasks(store, path, format) == 2
    text = path.read_text()
    assert text.count('"score": 0.75') + text.count('"score":0.75') == 4
    assert "London stands here." in text.replace(ada().text, "").replace(engine().text, "")


@both
def test_a_fact_that_was_deleted_there_is_rejected(
    store: Store, tmp_path: Path, format: str
) -> None:
    path = annotate(
        store,
        tmp_path / "tasks.json",
        format,
        lambda key, found: [each for each in found if key != "ada.txt" or not is_birth(each)],
    )
    taken = take_back(store.edit("Eve"), path)
    assert said(store) == [("reject", "Ada Lovelace, place of birth, London")]
    assert taken.documents == 2
    assert store.fact(*BIRTH).decision == "rejected"
    assert not take_back(store.edit("Eve"), path).corrections  # nothing is said twice


@both
@pytest.mark.parametrize("label", ["P20", "place of death"])  # it is new in the store
def test_another_label_corrects_the_relation(
    store: Store, tmp_path: Path, format: str, label: str
) -> None:
    path = annotate(
        store,
        tmp_path / "tasks.json",
        format,
        lambda _, found: [{**each, "type": label} if is_birth(each) else each for each in found],
    )
    assert take_back(store.edit(), path).left == 0
    assert sorted(said(store)) == [
        ("correct", f"{name}, place of birth, London → {name}, place of death, London")
        for name in ("Ada Lovelace", "Charles Babbage")
    ]


@both
def test_another_end_corrects_the_fact(store: Store, tmp_path: Path, format: str) -> None:
    def turn(_: str, found: Relations) -> Relations:
        other = next((each for each in found if each["type"] == "date of birth"), None)
        return [
            {**each, "to_id": other["to_id"]} if is_birth(each) and other else each
            for each in found
        ]

    take_back(store.edit(), annotate(store, tmp_path / "tasks.json", format, turn))
    words = "Ada Lovelace, place of birth, London → Ada Lovelace, place of birth, 10 December 1815"
    assert said(store) == [("correct", words)]


@both
def test_what_was_left_is_accepted_if_that_is_wanted(
    store: Store, tmp_path: Path, format: str
) -> None:
    path = annotate(store, tmp_path / "tasks.json", format, lambda _, found: found)
    assert not take_back(store.edit(), path).corrections
    assert len(take_back(store.edit(), path, accept=True).corrections) == 4
    assert not take_back(store.edit(), path, accept=True).corrections


@both
def test_a_rejected_fact_that_was_drawn_again_is_accepted(
    store: Store, tmp_path: Path, format: str
) -> None:
    path = annotate(store, tmp_path / "tasks.json", format, lambda _, found: found)
    store.edit().reject(store.fact(*BIRTH))
    take_back(store.edit(), path)
    assert store.fact(*BIRTH).decision == "accepted"


@both
def test_a_fact_in_the_place_of_none_is_counted(store: Store, tmp_path: Path, format: str) -> None:
    def add(_: str, found: Relations) -> Relations:
        return [*found, {**found[0], "type": "P737"}, {**found[0], "type": "no such relation"}]

    taken = take_back(store.edit(), annotate(store, tmp_path / "tasks.json", format, add))
    assert (taken.left, taken.corrections) == (4, ())


def test_predictions_that_nobody_looked_at_say_nothing(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    write_tasks(store, path, "label-studio")
    taken = take_back(store.edit(), path, accept=True)
    assert (taken.documents, taken.corrections) == (0, ())


def test_a_file_of_another_store_is_refused(store: Store, tmp_path: Path) -> None:
    path = annotate(store, tmp_path / "tasks.json", "doccano", lambda _, found: found)
    with Store.open(tmp_path / "other") as other, pytest.raises(InputError) as raised:
        take_back(other.edit(), path)
    assert raised.value.code == "annotated-elsewhere"


def test_other_formats_are_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="label-studio, doccano"):
        write_tasks(store, tmp_path / "tasks.json", "brat")
