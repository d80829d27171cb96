"""Started by test_plugin_processes.py with `accelerate launch` on two processes.

    accelerate launch --num_processes 2 launched_reasoning.py ENCODER OUTPUT

OUTPUT/self_distillation and so on are trainings of a model of relations with one plug-in each.
"""

import sys
from itertools import islice
from pathlib import Path

import torch
from accelerate import PartialState

from factloom import formats
from factloom.encoders.encoder import Encoder
from factloom.models.docre_sd import DocreSd, DocreSdSettings
from factloom.training import reporting
from factloom.training.plugins import make_plugins
from factloom.training.settings import TrainingSettings
from factloom.training.trainer import Trainer

EXAMPLES = Path(__file__).parents[3] / "examples"


def train(encoder: Path, output: Path) -> None:
    documents = list(islice(formats.read(EXAMPLES / "profiles-train.jsonl"), 4))
    plugins = {
        "self_distillation": {"curriculum": "constant", "teacher_decay": 0.9},
        "r_drop": {},
        "distillation": {"teacher": str(output / "r_drop" / "best")},
    }
    settings = TrainingSettings(epochs=2, batch_size=1, learning_rates={"": 1e-3})
    for name, chosen in plugins.items():
        torch.manual_seed(1)
        model = DocreSd.from_documents(Encoder.load(str(encoder)), documents, DocreSdSettings())
        examples = model.prepare(documents)
        added = make_plugins({name: chosen})
        Trainer(model, examples, settings, output / name, plugins=added).train()
        torch.save(model.state_dict(), output / name / f"process-{torch.distributed.get_rank()}.pt")


if __name__ == "__main__":
    reporting.draw_curves = lambda *_: None  # it takes longer than all the rest
    train(Path(sys.argv[1]), Path(sys.argv[2]))
    PartialState().wait_for_everyone()  # nobody leaves while another is at work
