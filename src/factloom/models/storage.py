"""How every model is kept: config.json, model.safetensors, and the encoder's files beside them.

Labels, settings, tokenizer and provenance live inside the directory. No pickle is ever loaded.
A compressed model (models/compressed.py) has changes.safetensors instead, and the name of the
encoder that it changes. The models that come with factloom are of that kind.
"""

import importlib
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from pydantic import BaseModel
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from factloom import __version__
from factloom.encoders.encoder import Encoder
from factloom.errors import FactloomError, ModelError, Place

ModelT = TypeVar("ModelT", bound=nn.Module)

CONFIG, WEIGHTS, ENCODER = "config.json", "model.safetensors", "encoder"
CHANGES = "changes.safetensors"
SHIPPED = Path(__file__).parent.parent / "shipped"


class Saveable(Protocol):
    """What can be pushed to the hub."""

    def save_pretrained(self, directory: str | Path) -> None: ...


def save(model: nn.Module, directory: Path, config: dict[str, Any]) -> None:
    """Write the model; the configuration of its `encoder`, if it is not None, goes beside it."""
    directory.mkdir(parents=True, exist_ok=True)
    content = {"factloom": __version__, **config, "encoder": _save_encoder(model, directory)}
    write_config(directory, content)
    weights = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(weights, directory / WEIGHTS, metadata={"format": "pt"})


def _save_encoder(model: nn.Module, directory: Path) -> dict[str, Any] | None:
    """How the encoder takes long documents; None for a model that has no pretrained encoder."""
    encoder = cast(Encoder | None, model.encoder)
    if encoder is None:
        return None
    encoder.save(directory / ENCODER)
    return {
        "window": encoder.window,
        "overlap": encoder.overlap,
        "long_documents": encoder.long_documents,
    }


def write_config(directory: Path, config: dict[str, Any]) -> None:
    text = json.dumps(config, indent=2, ensure_ascii=False)
    (directory / CONFIG).write_text(text + "\n", encoding="utf-8")


def load_config(directory: str | Path, kind: str | None = None) -> tuple[Path, dict[str, Any]]:
    """The model's directory (fetched if it is a hub name) and its configuration."""
    path = _local(str(directory))
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError("model-not-found", Place(file=str(directory)), file=CONFIG) from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelError("model-damaged", Place(file=str(path / CONFIG)), detail=error) from error
    if not isinstance(config, dict) or not isinstance(config.get("model"), str):
        raise ModelError("not-a-factloom-model", Place(file=str(path / CONFIG)))
    if kind is not None and config["model"] != kind:
        raise ModelError("other-model", Place(file=str(path)), found=config["model"], wanted=kind)
    return path, config


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Whatever a damaged configuration makes fail in the block is one error for the user."""
    try:
        yield
    except FactloomError:
        raise
    except Exception as error:
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError("model-damaged", Place(file=str(path)), detail=detail) from error


def load_model(
    directory: str | Path, kind: str, build: Callable[[Path, dict[str, Any]], ModelT]
) -> ModelT:
    """Load what `save` wrote; `build` makes the model from its path and configuration."""
    path, config = load_config(directory, kind)
    with clear_errors(path):
        model = build(path, config)
        cast(Any, model).provenance = config["provenance"]
    load_weights(model, path)
    return model.eval()


def load_encoder(path: Path, config: dict[str, Any]) -> Encoder:
    """The encoder without its weights, which are among the model's; or the base with its own."""
    if "base" in config:
        return Encoder.load(config["base"], **config["encoder"])
    return Encoder.from_directory(path / ENCODER, **config["encoder"])


def load_optional_encoder(path: Path, config: dict[str, Any]) -> Encoder | None:
    """The same for models that may do without one."""
    return None if config["encoder"] is None else load_encoder(path, config)


def model_directory(name: str) -> Path | None:
    """Where a trained model of ours lies; None for anything else, such as a plain encoder."""
    for path in (Path(name), SHIPPED / name):
        try:
            config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError):
            continue
        if isinstance(config, dict) and "factloom" in config:
            return path
    return None


def first_encoder(name: str, **options: Any) -> Encoder:
    """What a training starts from: an encoder by hub name or path, or a trained model's own."""
    path = model_directory(name)
    if path is None:
        return Encoder.load(name, **options)
    trained = cast(Encoder | None, load(path).encoder)
    if trained is None:
        raise ModelError("model-without-encoder", Place(file=name))
    return trained.renewed(**options)


def load_weights(model: nn.Module, path: Path) -> None:
    if (path / CHANGES).exists():
        from factloom.models.compressed import load_changes

        return load_changes(model, path)
    try:
        model.load_state_dict(load_file(path / WEIGHTS))
    except FileNotFoundError as error:
        raise ModelError("model-not-found", Place(file=str(path)), file=WEIGHTS) from error
    except (OSError, SafetensorError, RuntimeError) as error:
        detail = str(error).splitlines()[-1].strip()
        raise ModelError("model-damaged", Place(file=str(path / WEIGHTS)), detail=detail) from error


def model_class(kind: str) -> Any:
    """The class of a model by the name of its file in factloom.models."""
    return _from_module(kind, "MODEL")


def model_settings(kind: str) -> type[BaseModel]:
    """The class of a model's settings, likewise."""
    return cast(type[BaseModel], _from_module(kind, "SETTINGS"))


def _from_module(kind: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"factloom.models.{kind}"), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ModelError("unknown-model", kind=kind) from error


def load(directory: str | Path) -> Any:
    """Any model by its directory or hub name."""
    path, config = load_config(directory)
    return model_class(config["model"]).from_pretrained(path)


def push_to_hub(model: Saveable, repository: str, **options: Any) -> str:
    from huggingface_hub import HfApi

    api = HfApi()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        api.create_repo(repository, exist_ok=True, **options)
        return str(api.upload_folder(repo_id=repository, folder_path=folder))


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
