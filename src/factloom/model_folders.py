"""Where models lie, and what their config.json says: all that is known of one without loading it.

{"factloom": "0.1.0",            the version that wrote it
 "model": "tagger",              the kind, a file of factloom.models
 "types": [...], "relations": [...], "relation_names": {...},  as the model has them
 "settings": {...},              what a user has chosen; checked by the model's own class
 "provenance": {...},            the recipe, fingerprints of the data, languages
 "encoder": {"window": ...},     how long documents are read; null without an encoder
 "base": "all-MiniLM-L6-v2"}     of a compressed model: the encoder that it changes

Nothing here imports torch.
"""

import json
import math
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from factloom.encoders.long_documents import LongDocuments
from factloom.errors import ModelError, Place

CONFIG = "config.json"
SHIPPED = Path(__file__).parent / "shipped"

_TOLD = 4  # flaws of a configuration


class _Part(BaseModel):
    """Open to more than is checked here: models keep what they need."""

    model_config = ConfigDict(strict=True, extra="allow")


class _EncoderOptions(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    window: int
    overlap: int
    long_documents: LongDocuments
    knowledge: dict[str, Any] | None = None  # knowledge/reading_settings.py


class _RecipeEncoder(_Part):
    name: str | None = None


class _RecipeData(_Part):
    join_words: int = 0


class _Recipe(_Part):
    encoder: _RecipeEncoder = _RecipeEncoder()
    data: _RecipeData = _RecipeData()


class _Provenance(_Part):
    recipe: _Recipe = _Recipe()
    languages: list[str] = []


class _StoredConfig(_Part):
    """Not what has to be there, which building the model shows, but what it has to be."""

    types: list[str] = []
    relations: list[str] = []
    relation_names: dict[str, str] = {}
    settings: dict[str, Any] = {}
    provenance: _Provenance = _Provenance()
    encoder: _EncoderOptions | None = None
    base: str = ""


def load_config(name: str | Path) -> tuple[Path, dict[str, Any]]:
    """The model's directory (fetched if it is a hub name) and its configuration."""
    path = _local(str(name))
    if not (path / CONFIG).exists():
        raise ModelError("model-not-found", Place(file=str(name)), file=CONFIG)
    return path, read_config(path)


def _local(name: str) -> Path:
    if (SHIPPED / name / CONFIG).is_file() and not (Path(name) / CONFIG).exists():
        return SHIPPED / name  # whatever else is called so here
    if Path(name).is_dir() or name.count("/") != 1 or name.startswith((".", "/")):
        return Path(name)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        raise ModelError("model-not-found", Place(file=name), file=CONFIG) from error


def model_directory(name: str) -> Path | None:
    """Where a trained model of ours lies; None for anything else, such as a plain encoder."""
    for path in (Path(name), SHIPPED / name):
        try:
            config = read_json(path / CONFIG)
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(config, dict) and "factloom" in config:
            return path
    return None


def read_config(directory: Path) -> dict[str, Any]:
    """The configuration of a model; an error with the part of it that is wrong."""
    place = Place(file=str(directory / CONFIG))
    try:
        config = read_json(directory / CONFIG)
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError("model-damaged", place, detail=error) from error
    if not isinstance(config, dict) or not isinstance(config.get("model"), str):
        raise ModelError("not-a-factloom-model", place)
    try:
        _StoredConfig.model_validate(config)
    except ValidationError as error:
        flaws = error.errors(include_url=False, include_input=False)[:_TOLD]
        told = "; ".join(f"{'.'.join(map(str, flaw['loc']))}: {flaw['msg']}" for flaw in flaws)
        raise ModelError("model-damaged", place, detail=told) from error
    return config


def read_json(path: Path) -> Any:
    """JSON whose numbers are finite."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text, parse_float=_finite, parse_constant=_finite)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value


def write_config(directory: Path, config: dict[str, Any]) -> None:
    text = json.dumps(config, indent=2, ensure_ascii=False, allow_nan=False)
    (directory / CONFIG).write_text(text + "\n", encoding="utf-8")
