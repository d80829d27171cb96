"""docs/answers.md says what is so of REALM: its settings are the real ones, its code runs."""

from pathlib import Path
from typing import Any

import pytest
from open_examples import documents
from pydantic_core import PydanticUndefined

from factloom import formats
from factloom.answers.inverse_cloze import InverseClozeSettings
from factloom.answers.open_answers import CANDIDATES
from factloom.answers.realm import Realm, RealmSettings
from factloom.answers.realm_pretraining import RealmPretrainingSettings
from factloom.encoders.encoder import Encoder

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
REALM = TEXT.split("\n## REALM\n")[1].split("\n## ")[0]


def shown(default: Any) -> str:
    return "required" if default is PydanticUndefined else str(default).lower()


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    section = REALM.split("### Settings of REALM")[1].split("```")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    found = {name.strip(" `"): default.strip(" `") for _, name, default, *_ in rows}
    kinds = (RealmSettings, RealmPretrainingSettings, InverseClozeSettings)  # the last one counts
    real = {name: shown(each.default) for kind in kinds for name, each in kind.model_fields.items()}
    assert found == real
    assert f"of `realm` {RealmSettings.model_fields['passages'].default}" in section


def test_the_numbers_are_the_real_ones() -> None:
    assert f"the {CANDIDATES} that its index finds" in REALM


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
