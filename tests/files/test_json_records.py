"""What the beginning of a JSON file tells, also where it ends in the middle of a record."""

import json
from pathlib import Path

import pytest

from factloom.errors import Flaw, InputError
from factloom.files import source as limits
from factloom.files.json_records import array_records, first_records, line_records
from factloom.files.source import Source
from factloom.formats import registry
from format_samples import SAMPLES

RECORD = {"id": 1, "text": 'a, "[b\\', "entities": [["X", 1, {"deep": [2, None]}], ["Y", 3, 4]]}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        (' [ {"a": 1},\n{"b": [2]}]', [{"a": 1}, {"b": [2]}]),
        ('[{"a": 1}, {"b": 2', [{"a": 1}]),  # whole records are enough
        ('[{"a": 1, "b": {"c": [1, 2', [{"a": 1, "b": {"c": [1]}}]),
        ('{"a": "cut', [{}]),
        ("", []),
        ("prose", []),
        ("[]", []),
        ("{]", [{}]),
        ('{"a": NaN, "b": 1', []),
        ('{"a": ' + "[" * 100_000, []),
    ],
)
def test_first_records(head: str, expected: list[object]) -> None:
    assert first_records(head) == expected


def test_cut_record_holds_what_came_before_the_cut() -> None:
    line = json.dumps(RECORD)
    keys = []
    for length in range(1, len(line)):
        [record] = first_records(line[:length])
        assert record.items() <= RECORD.items() or "entities" in record
        keys.append(len(record))
    assert keys == sorted(keys)  # the longer the beginning, the more is known
    assert set(keys) == {0, 1, 2, 3}


@pytest.mark.parametrize("sign", ['"', '"\\\\', "[", "{", '{"a":[', "1,", '"a",'])
def test_time_does_not_explode(sign: str) -> None:
    first_records("{" + sign * (2**16 // len(sign)))


JSON_FORMATS = [name for name, sample in SAMPLES.items() if sample.lstrip()[0] in "[{"]


@pytest.mark.parametrize("format", JSON_FORMATS)
def test_format_is_told_from_a_cut_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    path = tmp_path / "file"
    path.write_text(SAMPLES[format], encoding="utf-8")
    first_end = SAMPLES[format].find("}\n") if SAMPLES[format][0] == "{" else 2**10
    monkeypatch.setattr(limits, "_HEAD", first_end)
    assert registry.detect(Source(path)) == format


def test_an_error_names_the_character_of_the_file(tmp_path: Path) -> None:
    for content in ('[{"a": 1},\n {"b": }]', '[{"a": 1}, {"b": 2', "[1, 2, tru"):
        (tmp_path / "a.json").write_text(content, encoding="utf-8")
        with pytest.raises(json.JSONDecodeError) as expected:
            json.loads(content)
        with pytest.raises(InputError, match=f"at character {expected.value.pos + 1} of the file"):
            list(array_records(Source(tmp_path / "a.json")))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[" * 50_000, "it is nested too deeply"),
        ("9" * 5_000, "a number has more than 4,300 digits"),
    ],
)
def test_what_python_cannot_hold_is_told_in_words(tmp_path: Path, value: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(f'{{"a": {value}', encoding="utf-8")
    flaws: list[Flaw] = []
    assert list(line_records(Source(path), flaws.append)) == []
    assert [reason in flaw.what for flaw in flaws] == [True]
    path.write_text(f'[{{"a": {value}', encoding="utf-8")
    with pytest.raises(InputError, match=f"{reason}, at character 2 of the file"):
        list(array_records(Source(path)))
