"""How every model is kept: config.json, model.safetensors, and the encoder's files beside them.

    save(model, "runs/mine/best")
    model = load("runs/mine/best")

Labels, settings, tokenizer and provenance live inside the directory. No pickle is ever loaded, and
no code that comes with a model is ever run. A compressed model (models/compressed.py) has
changes.safetensors instead of weights, and the name of the encoder that it changes; or, where few
have that encoder, packed.safetensors with all weights in 8 bits. The models that come with factloom
are of these kinds.
"""

import difflib
import importlib
import importlib.util
import pkgutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
from pydantic import BaseModel
from safetensors import SafetensorError
from torch import nn

from factloom.encoders.encoder import Encoder
from factloom.errors import FactloomError, ModelError, Place
from factloom.model_folders import CONFIG, load_config, model_directory, write_config
from factloom.models.weight_files import CHANGES, ENCODER, PACKED, WEIGHTS
from factloom.models.weights import distinct_weights, load_weights, write_weights
from factloom.version import VERSION

# A kind of model is a file in one of these that exports MODEL and SETTINGS; the first one counts.
ROOMS = ("factloom.models", "factloom.objectives", "factloom.answers", "factloom.knowledge")


# --- writing -----------------------------------------------------------------------------------


def save(model: Any, directory: str | Path) -> None:
    """Write config.json, model.safetensors and the encoder's configuration."""
    directory = Path(directory)
    with writing(directory):
        write_config(directory, config_of(model))
        if model.encoder is not None:
            model.encoder.save(directory / ENCODER)
        if hasattr(model, "save_parts"):
            model.save_parts(directory)
        write_weights(directory / WEIGHTS, *distinct_weights(model))


def config_of(model: Any) -> dict[str, Any]:
    """What config.json holds: what the model says of itself, and what is kept of all alike."""
    encoder = cast(Encoder | None, model.encoder)
    return {
        "factloom": VERSION,
        "model": kind_of(type(model)),
        **model.config(),
        "provenance": model.provenance,
        "encoder": None if encoder is None else encoder.options(),
    }


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """The directory is there in the block; what cannot be written is one error for the user."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except (OSError, SafetensorError) as error:
        raise ModelError("model-not-written", Place(file=str(directory)), detail=error) from error


def push_to_hub(model: Any, repository: str, **options: Any) -> str:
    """Upload to the Hugging Face hub; returns the address."""
    from huggingface_hub import HfApi

    api = HfApi()
    with tempfile.TemporaryDirectory() as folder:
        save(model, folder)
        api.create_repo(repository, exist_ok=True, **options)
        return str(api.upload_folder(repo_id=repository, folder_path=folder))


# --- reading -----------------------------------------------------------------------------------


def load(name: str | Path, device: str | torch.device | None = None) -> Any:
    """Any model by its directory or hub name, on the device if one is given."""
    path, config = load_config(name)
    return _build(model_class(config["model"]), path, config, device)


def load_as(
    wanted: type[nn.Module], name: str | Path, device: str | torch.device | None = None
) -> Any:
    """Load a model that has to be of this class; also by its hub name."""
    path, config = load_config(name)
    if model_class(config["model"]) is not wanted:
        raise ModelError(
            "other-model", Place(file=str(path)), found=config["model"], wanted=kind_of(wanted)
        )
    return _build(wanted, path, config, device)


def _build(kind: Any, path: Path, config: dict[str, Any], device: str | torch.device | None) -> Any:
    with _clear_errors(path):
        encoder = _encoder(kind, path, config)
        if hasattr(kind, "from_parts"):
            model = kind.from_parts(encoder, config, path)
        else:
            model = kind.from_config(encoder, config)
        model.provenance = config["provenance"]
    if "base" in config:
        from factloom.models.compressed import load_changes

        load_changes(model, path, config)
    elif (path / PACKED).exists() and not (path / WEIGHTS).exists():
        from factloom.models.compressed import load_whole

        load_whole(model, path)
    else:
        load_weights(model, path / WEIGHTS)
    return _moved(model.eval(), device)


def _encoder(kind: Any, path: Path, config: dict[str, Any]) -> Encoder | None:
    """The encoder without its weights, which are among the model's; or the base with its own."""
    options = config["encoder"]
    if options is None:
        if "base" in config or not getattr(kind, "encoder_optional", False):
            raise ValueError("encoder: a model of this kind has one")
        return None
    knowledge = options.get("knowledge")
    options = {name: value for name, value in options.items() if name != "knowledge"}
    if "base" in config:
        return with_knowledge(Encoder.load(config["base"], **options), knowledge)
    if (path / CHANGES).exists() and not (path / WEIGHTS).exists():
        raise ModelError("no-base", Place(file=str(path / CONFIG)), file=CHANGES)
    return with_knowledge(Encoder.from_directory(path / ENCODER, **options), knowledge)


def with_knowledge(encoder: Encoder, settings: Mapping[str, Any] | None) -> Encoder:
    """The encoder, which reads with knowledge if there are settings for that."""
    if settings is None:
        return encoder
    from factloom.knowledge.reading import read_with
    from factloom.knowledge.reading_settings import KnowledgeSettings

    return read_with(encoder, KnowledgeSettings(**settings))


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Whatever a damaged configuration makes fail in the block is one error for the user."""
    try:
        yield
    except FactloomError:
        raise
    except Exception as error:
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelError("model-damaged", Place(file=str(path)), detail=detail) from error


def _moved(model: nn.Module, device: str | torch.device | None) -> nn.Module:
    try:
        return model if device is None else model.to(device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        detail = str(error).splitlines()[0]
        raise ModelError("no-device", device=device, detail=detail) from error


# --- the encoder that a training starts from ---------------------------------------------------


def first_encoder(name: str, **options: Any) -> Encoder:
    """What a training starts from: an encoder by hub name or path, or a trained model's own."""
    path = model_directory(name)
    if path is None:
        return Encoder.load(name, **options)
    trained = cast(Encoder | None, load(path).encoder)
    if trained is None:
        raise ModelError("model-without-encoder", Place(file=name))
    return trained.renewed(**options)


# --- kinds -------------------------------------------------------------------------------------


def model_class(kind: str) -> Any:
    """The class of a model by the name of its file in one of the rooms."""
    return _exported(kind).MODEL


def model_settings(kind: str) -> type[BaseModel]:
    """The class of a model's settings, likewise."""
    return cast(type[BaseModel], _exported(kind).SETTINGS)


def kind_of(model: type[nn.Module]) -> str:
    """The reverse of `model_class`."""
    return model.__module__.rpartition(".")[2]


def model_kinds() -> list[str]:
    """All kinds that there are."""
    return sorted(
        {name for name, module in _files() if hasattr(importlib.import_module(module), "MODEL")}
    )


def _exported(kind: str) -> Any:
    for name, module in _files():
        if name == kind and hasattr(found := importlib.import_module(module), "MODEL"):
            return found
    known = model_kinds()
    near = difflib.get_close_matches(kind, known, n=1)
    meant = f"Did you mean '{near[0]}'? " if near else ""
    raise ModelError("unknown-model", kind=kind, near=meant, known=", ".join(known))


def _files() -> Iterator[tuple[str, str]]:
    """The files of the rooms that there are: name and module."""
    for room in ROOMS:
        if importlib.util.find_spec(room) is not None:
            paths = importlib.import_module(room).__path__
            yield from ((file.name, f"{room}.{file.name}") for file in pkgutil.iter_modules(paths))
