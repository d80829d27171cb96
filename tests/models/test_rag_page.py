"""docs/answers.md says what is so of RAG: its code runs."""

from pathlib import Path

import pytest
from open_examples import documents
from tiny_generators import folder

from factloom import formats
from factloom.answers.rag import Rag, RagSettings
from factloom.encoders.encoder import Encoder

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
RAG = TEXT.split("\n## RAG\n")[1].split("\n## ")[0]


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
