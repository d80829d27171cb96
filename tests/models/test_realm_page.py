"""docs/answers.md says what is so of REALM: its numbers are the real ones, its code runs."""

from pathlib import Path

import pytest
from open_examples import documents

from factloom import formats
from factloom.answers.open_answers import CANDIDATES
from factloom.answers.realm import Realm, RealmSettings
from factloom.encoders.encoder import Encoder

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
REALM = TEXT.split("\n## REALM\n")[1].split("\n## ")[0]


def test_the_numbers_are_the_real_ones() -> None:
    assert f"the {CANDIDATES} that its index finds" in REALM
    assert f"of `realm` {RealmSettings.model_fields['passages'].default}" in REALM


def test_the_code_runs(
    tiny_encoder_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    formats.write(documents()[:2], Path("dev.json"), "jsonl")
    encoder, settings = Encoder.load(str(tiny_encoder_path)), RealmSettings(corpus=["dev.json"])
    model = Realm.from_documents(encoder, documents(), settings)
    model.save_pretrained(Path("runs/realm-squad/best"))
    (code,) = (block.split("```")[0] for block in REALM.split("```python\n")[1:])
    exec(compile(code, "docs/answers.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert "'document'" in printed[1]
