"""One process or many: how `accelerate` is set up, and what processes tell each other."""

import atexit
import gc
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import TypeVar

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import (
    DistributedDataParallelKwargs,
    GradientAccumulationPlugin,
    InitProcessGroupKwargs,
    broadcast_object_list,
    gather_object,
    parse_flag_from_env,
)

from factloom.errors import RecipeError
from factloom.training.optimization import precision

Value = TypeVar("Value")

# The others wait while the first process validates, which may take long.
PATIENCE_WITH_EACH_OTHER = timedelta(hours=12)
# Of torchrun and the MPI launchers; a process of a group has one of them.
RANK_VARIABLES = frozenset({"LOCAL_RANK", "RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"})


def make_accelerator(mixed_precision: str) -> Accelerator:
    """The accelerator of this process, on the device and in the group that the launcher set."""
    _refuse_lonely_process(os.environ)
    group = InitProcessGroupKwargs(timeout=PATIENCE_WITH_EACH_OTHER)
    # Unless told that this is a CPU, accelerate leaves processes on a CPU without a group.
    on_cpu = parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available()
    device = PartialState(cpu=on_cpu, **group.to_kwargs()).device
    atexit.unregister(leave_group)
    atexit.register(leave_group)
    # A second training in one Python process may compute in another precision than the first.
    AcceleratorState._reset_state()
    return Accelerator(
        mixed_precision=precision(mixed_precision, device),
        # The trainer weighs the batches of a step itself, so nothing is left to divide by.
        gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=1),
        # A model may have weights without a part in the loss, such as an encoder's pooler.
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )


def leave_group() -> None:
    """End the group of processes before the interpreter ends.

    Its threads would else be at work in a dying interpreter, which now and then aborts the process,
    and a launcher takes that for a failure of all. What was trained in the group holds it, and
    holds itself in circles: so these are collected first.
    """
    gc.collect()
    PartialState().destroy_process_group()


def _refuse_lonely_process(environment: Mapping[str, str]) -> None:
    """`accelerate launch --cpu --num_processes 2` starts one process and says nothing."""
    asked_for_many = {"ACCELERATE_MIXED_PRECISION", "MASTER_PORT"} <= environment.keys()
    if asked_for_many and not RANK_VARIABLES & environment.keys():
        raise RecipeError("launched-alone")


def from_all(value: Value) -> list[Value]:
    """What every process gives, in the order of the processes."""
    return list(gather_object([value]))


def from_first(value: Value) -> Value:
    """What the first process gives."""
    values = [value]
    broadcast_object_list(values)
    return values[0]
