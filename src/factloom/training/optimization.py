"""Parameter groups, the optimizer, the learning rate of a step, and the numbers' precision."""

import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from factloom.errors import Place, RecipeError
from factloom.training.settings import TrainingSettings

# Devices on which AdamW updates all parameters in one kernel.
FUSED_DEVICES = frozenset({"cpu", "cuda"})
# CPU features without which bfloat16 is emulated, as Linux names them.
BFLOAT16_FEATURES = frozenset({"avx512_bf16", "amx_bf16", "bf16", "svebf16"})


def matching_prefix(name: str, prefixes: dict[str, float]) -> str:
    """The longest prefix of the parameter's name; whole parts of the dotted name only."""
    fitting = [p for p in prefixes if not p or name == p or name.startswith(f"{p}.")]
    return max(fitting, key=len)


def decays(name: str, parameter: nn.Parameter) -> bool:
    """Whether weight decay may act: not on biases and norms, which are vectors."""
    return parameter.ndim > 1 and not name.endswith("bias")


def freeze(model: nn.Module, settings: TrainingSettings) -> None:
    """Parameters whose learning rate is 0 get no gradient, which would only take time."""
    for name, parameter in model.named_parameters():
        if not settings.learning_rates[matching_prefix(name, settings.learning_rates)]:
            parameter.requires_grad_(False)


def parameter_groups(
    model: nn.Module, settings: TrainingSettings
) -> list[dict[str, float | list[nn.Parameter]]]:
    """The trainable parameters by learning rate and weight decay; `rate` is the highest rate."""
    groups: dict[tuple[str, bool], list[nn.Parameter]] = {}
    matched = set()
    for name, parameter in model.named_parameters():
        prefix = matching_prefix(name, settings.learning_rates)
        matched.add(prefix)
        if parameter.requires_grad:
            groups.setdefault((prefix, decays(name, parameter)), []).append(parameter)
    for prefix in settings.learning_rates:
        if prefix and prefix not in matched:
            raise RecipeError("unknown-parameter-prefix", _setting("learning_rates"), prefix=prefix)
    return [
        {
            "params": parameters,
            "lr": settings.learning_rates[prefix],
            "rate": settings.learning_rates[prefix],
            "weight_decay": settings.weight_decay if decay else 0.0,
        }
        for (prefix, decay), parameters in groups.items()
    ]


def adamw(model: nn.Module, settings: TrainingSettings, device: torch.device) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, 2019) with a learning rate a parameter group."""
    return torch.optim.AdamW(
        parameter_groups(model, settings),
        eps=settings.adam_epsilon,
        fused=True if device.type in FUSED_DEVICES else None,
    )


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """The moments of every parameter, by the parameter's number. Rates come from the settings."""
    moments = optimizer.state_dict()["state"]
    return {str(number): values for number, values in moments.items()}


def load_optimizer_state(optimizer: torch.optim.Optimizer, moments: Mapping[str, Any]) -> None:
    """The reverse of `optimizer_state`."""
    state = {int(number): values for number, values in moments.items()}
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def rate_factor(step: int, total: int, settings: TrainingSettings) -> float:
    """The part of the highest learning rate that step `step` (from 0) of `total` is given.

    It rises evenly to 1 at the last step of the warm-up, then goes down to 0 behind the last step
    (`linear`: evenly; `cosine`: along half a cosine) or stays (`constant`). No step is wasted on
    a rate of 0.
    """
    warmup = int(total * settings.warmup)
    if step < warmup:
        return (step + 1) / warmup
    if settings.schedule == "constant":
        return 1.0
    done = (step - warmup) / max(1, total - warmup)
    return 0.5 * (1 + math.cos(math.pi * done)) if settings.schedule == "cosine" else 1 - done


def cpu_features() -> frozenset[str]:
    """The CPU's features; none where the system does not tell."""
    listing = Path("/proc/cpuinfo")
    if not listing.exists():
        return frozenset()
    for line in listing.read_text(errors="replace").splitlines():
        if line.lower().startswith(("flags", "features")):
            return frozenset(line.split())
    return frozenset()


def multiplies_bfloat16() -> bool:
    """Whether this machine can multiply bfloat16 matrices; tried in a process of its own.

    Some virtual machines announce instructions that they do not run: whoever uses them is killed.
    """
    program = "import torch; ones = torch.ones(64, 64, dtype=torch.bfloat16); ones @ ones"
    return subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0


def precision(wish: str, device: torch.device) -> str:
    """The precision to compute in: "no" (float32), "bf16" or "fp16".

    `auto` takes bfloat16 on a GPU that computes in it. On a CPU it takes float32: only matrix units
    make bfloat16 faster there, and every CPU should compute in the same precision.
    """
    if device.type == "cuda":
        fast = "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "no"
        return fast if wish == "auto" else wish
    if device.type == "cpu" and wish in ("bf16", "fp16"):
        if wish == "fp16" or not cpu_features() & BFLOAT16_FEATURES:
            raise RecipeError("precision-not-on-cpu", _setting("mixed_precision"), precision=wish)
        if not multiplies_bfloat16():
            raise RecipeError("precision-only-announced", _setting("mixed_precision"))
    return "no" if wish == "auto" else wish


def _setting(name: str) -> Place:
    return Place(part=f"training.{name}")
