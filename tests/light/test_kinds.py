"""The kinds that are exported: each says what runs it, without torch, and what is exported."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.light.export import export
from factloom.light.joint_parts import EXPORT
from factloom.light.kinds import KINDS, exported_kind, light_kind
from factloom.models import storage
from factloom.models.tagger import Tagger

_WITHOUT_REFERENCES = SimpleNamespace(references=None)


@pytest.mark.parametrize("kind", KINDS)
def test_what_runs_a_kind_asks_for_the_graphs_that_are_exported(kind: str) -> None:
    runs = sys.modules[light_kind(kind).__module__]
    assert tuple(exported_kind(kind).parts_of(_WITHOUT_REFERENCES)) == runs.PARTS
    assert light_kind(kind).task == storage.model_class(kind).task


@pytest.mark.parametrize(
    "special",
    [{"records_attention": False}, {"between": "knowledge"}, {"long_documents": "recurrence"}],
)
def test_encoders_that_do_more_than_read_windows_are_refused(
    special: dict[str, Any], tiny_encoder_path: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    model = Tagger(Encoder.load(str(tiny_encoder_path)), ["LOC"])
    model.save_pretrained(tmp_path / "stored")
    plain = {"records_attention": True, "between": None, "long_documents": "windows"}
    loaded = SimpleNamespace(encoder=SimpleNamespace(**{**plain, **special}))
    monkeypatch.setattr("factloom.light.export.storage.load", lambda _: loaded)
    with pytest.raises(ModelError, match="encoder-not-exported"):
        export(tmp_path / "stored", tmp_path / "light")
    assert not (tmp_path / "light").exists()


def test_every_output_of_a_part_has_its_sizes() -> None:
    named = {
        name for part in EXPORT.parts_of(_WITHOUT_REFERENCES).values() for name in part.outputs
    }
    assert {"scores", "margins", "rows"} <= named & EXPORT.sizes.keys()


def test_no_kind_needs_torch_to_run() -> None:
    code = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = sys.modules["onnx"] = None
from factloom.light.kinds import KINDS, light_kind
print(*(light_kind(kind).task for kind in KINDS))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["end-to-end", "answers", "mentions", "relations"]
