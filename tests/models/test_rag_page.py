"""docs/answers.md says what is so of RAG: its settings are the real ones, its code runs."""

from pathlib import Path

import pytest
from open_examples import documents
from tiny_generators import folder

from factloom import formats
from factloom.answers.rag import Rag, RagSettings
from factloom.encoders.encoder import Encoder

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
RAG = TEXT.split("\n## RAG\n")[1].split("\n## ")[0]


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    section = RAG.split("| setting |")[1].split("```")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    found = {name.strip(" `"): default.strip(" `") for _, name, default, *_ in rows}
    real = {
        name: "required" if field.is_required() else str(field.default).lower()
        for name, field in RagSettings.model_fields.items()
    }
    assert found == real


def test_the_code_runs(
    tiny_encoder_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    formats.write(documents(), Path("dev.jsonl"))
    generator = folder("bart", tiny_encoder_path, tmp_path / "bart")
    settings = RagSettings(corpus=["dev.jsonl"], generator=generator, longest_answer=3)
    encoder = Encoder.load(str(tiny_encoder_path))
    Rag.from_documents(encoder, documents(), settings).save_pretrained("runs/rag-squad/best")
    (code,) = (block.split("```")[0] for block in RAG.split("```python\n")[1:])
    values: dict[str, object] = {}
    exec(compile(code, "docs/answers.md", "exec"), values)
    assert len(values["reading"].passages) == 1  # type: ignore[attr-defined]
