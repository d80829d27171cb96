"""A network and an objective as a model of the trainer, and how they are kept.

    model = Pretraining(Network.load("all-MiniLM-L6-v2"), "whole_word", MaskSettings())
    batch = model.collate(examples)           # drawn from each example's own randomness
    model(batch).loss

A folder is the network's (an ordinary Hugging Face one), with `objective.json` beside it: kind and
settings, where the text came from; and `objective.safetensors`, the layers that an objective has of
its own, if any. A decoder is a Hugging Face folder within it, `decoder`. Only `load_pretraining`
looks at these three.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError
from torch import Tensor, nn

from factloom.errors import ModelError, Place
from factloom.models.storage import writing
from factloom.models.weights import distinct_weights, load_weights, write_weights
from factloom.objectives import Objective, objective_maker, objective_settings
from factloom.objectives.batch import Losses, TextBatch, lay_out
from factloom.objectives.decoder import Decoder
from factloom.objectives.network import Network
from factloom.objectives.packing import TextExample
from factloom.objectives.vocabulary import Vocabulary

ABOUT, LAYERS = "objective.json", "objective.safetensors"


@dataclass(frozen=True, slots=True)
class PretrainingOutput:
    """The loss, and what it is made of."""

    losses: Losses
    loss: Tensor  # ()


class Pretraining(nn.Module):
    """What is trained: the network, and the objective's own layers."""

    objective: Objective

    def __init__(self, network: Network, kind: str, settings: BaseModel) -> None:
        super().__init__()
        self.kind, self.settings = kind, settings
        self.network = network
        self.vocabulary = Vocabulary.of(network.encoder)
        self.objective = objective_maker(kind)(settings, self.vocabulary, network)
        self.provenance: dict[str, Any] = {}

    def collate(self, examples: Sequence[TextExample]) -> TextBatch:
        rows = []
        for example in examples:
            randomness = np.random.default_rng(example.randomness)
            corrupt = self.objective.corrupt
            rows.append([corrupt(stretch, randomness) for stretch in example.stretches])
        return lay_out(rows, self.network.encoder.special.padding)

    def forward(self, batch: TextBatch) -> PretrainingOutput:
        losses = self.objective.losses(self.network, batch)
        return PretrainingOutput(losses, losses.total(batch))

    def save_pretrained(self, directory: str | Path) -> None:
        directory = Path(directory)
        about = {
            "kind": self.kind,
            "settings": self.settings.model_dump(mode="json"),
            "encoder": self.network.encoder.options(),
            "provenance": self.provenance,
        }
        with writing(directory):
            self.network.save(directory, with_head=self.objective.says_tokens)
            if self.decoder is not None:
                self.decoder.save(directory, self.network)
            layers = self.kept_layers()
            if layers.state_dict():
                write_weights(directory / LAYERS, *distinct_weights(layers))
            text = json.dumps(about, indent=2, ensure_ascii=False)
            (directory / ABOUT).write_text(text + "\n", encoding="utf-8")

    @property
    def own_layers(self) -> nn.Module:
        """Those of the objective."""
        assert isinstance(self.objective, nn.Module)
        return self.objective

    @property
    def decoder(self) -> Decoder | None:
        """That of an objective that lets a text be written."""
        return getattr(self.objective, "decoder", None)

    def kept_layers(self) -> nn.Module:
        """Those of the objective but for a decoder, which has a folder of its own."""
        if self.decoder is None:
            return self.own_layers
        parts = self.own_layers.named_children()
        return nn.ModuleDict({name: part for name, part in parts if part is not self.decoder})


def load_pretraining(directory: str | Path) -> Pretraining:
    """What `save_pretrained` has written, in evaluation mode."""
    place = Place(file=str(Path(directory) / ABOUT))
    try:
        about = json.loads((Path(directory) / ABOUT).read_text(encoding="utf-8"))
        settings = objective_settings(about["kind"]).model_validate(about["settings"])
        options, provenance = about["encoder"], about["provenance"]
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise ModelError("model-damaged", place, detail=error) from error
    model = Pretraining(Network.load(str(directory), **options), about["kind"], settings)
    if model.decoder is not None:
        model.decoder.load(Path(directory))
    if (Path(directory) / LAYERS).exists():
        load_weights(model.kept_layers(), Path(directory) / LAYERS)
    model.provenance = provenance
    return model.eval()
