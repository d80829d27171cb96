"""What somebody needs to make a model again: settings, versions, fingerprints of files."""

import hashlib
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache
from pydantic import BaseModel

from factloom.encoders.pretrained import resolve
from factloom.errors import InputError, Place
from factloom.files.data_path import data_path
from factloom.formats.brat import files_read
from factloom.layouts.character_tables import VECTORS
from factloom.model_folders import load_config, model_directory
from factloom.models.weight_files import WEIGHTS
from factloom.text.dictionary import dictionary_files
from factloom.text.lexicon import JIEBA
from factloom.training.failures import require_utf8
from factloom.training.recipe import NO_ENCODER, Recipe
from factloom.version import VERSION

# Whose versions are kept with a model, where they are installed.
_PACKAGES = ("transformers", "tokenizers", "accelerate", "jieba")


def provenance(recipe: Recipe) -> dict[str, Any]:
    """What somebody needs to make the model again: settings, versions, data fingerprints."""
    return made_of(recipe, recipe.encoder.name, dict(_named_fingerprints(recipe)))


def made_of(recipe: BaseModel, encoder: str, data: Mapping[str, str]) -> dict[str, Any]:
    """What made a model, by a recipe of any kind whose data have these fingerprints."""
    return {
        "recipe": recipe.model_dump(mode="json"),
        "data_sha256": dict(data),
        "encoder_sha256": _encoder_fingerprint(encoder),
        "versions": {
            "factloom": VERSION,
            "python": platform.python_version(),
            "torch": torch.__version__,
            **{name: version(name) for name in _PACKAGES if find_spec(name)},
        },
    }


def _named_fingerprints(recipe: Recipe) -> Iterator[tuple[str, str]]:
    for name, path in _inputs(recipe):
        require_utf8(name)
        try:
            yield name, _fingerprint(path)
        except FileNotFoundError as error:
            raise InputError("file-missing", Place(file=str(path))) from error
        except OSError as error:
            raise InputError("file-unreadable", Place(file=str(path)), detail=error) from error


def _inputs(recipe: Recipe) -> Iterator[tuple[str, Path]]:
    """Name and place of every file and folder that decides the weights or the scores."""
    data, plugins = recipe.data, recipe.plugins
    names = [*data.train, *data.general, *data.names_only, *data.incomplete]
    names += [*data.development, *data.report, *data.references]
    names += [name for name in (data.train_facts, data.relation_names) if name]
    names += plugins.get("vat", {}).get("unlabelled", [])
    yield from ((name, Path(data_path(name))) for name in names)
    yield from _word_inputs(recipe.model_settings)
    for folder in recipe.dictionary.files if recipe.dictionary else ():
        yield from ((str(file), file) for file in dictionary_files(data_path(folder)))
    models = [plugins["distillation"]["teacher"]] if "distillation" in plugins else []
    models += [recipe.teacher.model] if recipe.teacher else []
    models += recipe.completion.models if recipe.completion else []
    models += [recipe.start] if recipe.start else []
    yield from ((name, load_config(data_path(name))[0]) for name in models)


def _word_inputs(settings: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    """The word vectors and word lists of a model that has such settings."""
    names = [name for name in settings.get("words", ()) if name not in (VECTORS, JIEBA)]
    vectors = settings.get("vectors")
    for name in [*names, vectors] if vectors else names:
        path = Path(data_path(name))
        if path.exists():  # a list that no setting asks for may be missing
            yield name, path
        if path.suffix == ".npy":  # the words of its rows are beside it
            yield from ((str(file), file) for file in sorted(path.parent.glob("*words.txt")))


def _encoder_fingerprint(name: str) -> str | None:
    """The SHA-256 of the encoder's weights; None where there are none on this machine."""
    if name == NO_ENCODER:
        return None
    place = model_directory(name) or Path(resolve(name))
    if not place.is_dir():  # a hub name
        cached = try_to_load_from_cache(name, WEIGHTS)
        return _fingerprint(Path(cached)) if isinstance(cached, str) else None
    weights = sorted(place.glob("*.safetensors"))
    return _fingerprint(weights[0]) if len(weights) == 1 else _fingerprint_of(weights, place)


def _fingerprint(path: Path) -> str:
    """The SHA-256 of a file, or of those that are read of a folder (brat), or of all in it."""
    if path.is_dir():
        within = (file for file in path.rglob("*") if file.is_file())
        return _fingerprint_of(files_read(path) or sorted(within), path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fingerprint_of(files: Iterable[Path], folder: Path) -> str:
    """The SHA-256 of a list of files in a folder, each with its own."""
    lines = (
        b"%s  %s\n"
        % (_fingerprint(file).encode(), os.fsencode(file.relative_to(folder).as_posix()))
        for file in files
    )
    return hashlib.sha256(b"".join(lines)).hexdigest()
