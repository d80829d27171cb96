"""docs/answers.md says what is so: its settings are the real ones, its code runs."""

from pathlib import Path

import pytest
from reader_examples import ASKED

from documented_settings import default_settings, documented_settings
from factloom import formats
from factloom.answers.cogltx import CogLtxSettings
from factloom.answers.cogqa import CogQaSettings
from factloom.answers.fact_hops import FACTS, SENTENCES
from factloom.answers.graph_questions import LEAST_COUNTED
from factloom.answers.inverse_cloze import InverseClozeSettings
from factloom.answers.rag import RagSettings
from factloom.answers.realm import RealmSettings
from factloom.answers.realm_pretraining import RealmPretrainingSettings
from factloom.encoders.encoder import Encoder
from factloom.layouts.sections import SECTION
from factloom.models.reader import Reader, ReaderSettings

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")


def test_every_table_of_settings_has_every_setting_with_its_default() -> None:
    of_realm = (RealmSettings, RealmPretrainingSettings, InverseClozeSettings)
    all_kinds = ((ReaderSettings,), (CogLtxSettings,), (CogQaSettings,), of_realm, (RagSettings,))
    tables = [part.split("\n\n")[0] for part in TEXT.split("\n| setting")[1:]]
    for table, kinds in zip(tables, all_kinds, strict=True):
        assert documented_settings(table) == default_settings(*kinds)


def test_the_numbers_are_the_real_ones() -> None:
    assert f"{SECTION:,} characters" in TEXT
    assert f"the {FACTS} surest facts" in TEXT
    assert f"beside the passages found, {SENTENCES} at most" in TEXT
    assert f"counted needs a score of {LEAST_COUNTED}," in TEXT


def test_the_code_runs(
    tiny_encoder_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    formats.write(ASKED[:3], Path("dev.json"), "squad")
    Reader(Encoder.load(str(tiny_encoder_path))).save_pretrained(Path("runs/reader-squad/best"))
    others, in_python, *_ = (block.split("```")[0] for block in TEXT.split("```python\n")[1:])
    exec(compile(others, "docs/answers.md", "exec"), {})
    written = list(formats.read("dev-unanswerable.jsonl"))
    before = sum(len(document.questions) for document in ASKED[:3])
    assert sum(len(document.questions) for document in written) > before
    exec(compile(in_python, "docs/answers.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 4
