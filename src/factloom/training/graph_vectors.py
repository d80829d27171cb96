"""How vectors of a graph are learned: every fact an example, by the trainer of all models."""

import tempfile
from pathlib import Path

import torch

from factloom.knowledge.fact_table import FactTable
from factloom.knowledge.graph_vectors import FactExample, GraphVectors, Score
from factloom.training.settings import TrainingSettings
from factloom.training.trainer import Trainer

SETTINGS = TrainingSettings(
    epochs=20,
    batch_size=1000,
    bucket_steps=1,
    learning_rates={"": 0.01},
    clip=None,
    checkpoint_every_epochs=2**31 - 1,
    log_every=2**31 - 1,
)


def learn_vectors(
    table: FactTable,
    settings: TrainingSettings = SETTINGS,
    *,
    width: int = 128,
    score: Score = "complex",
) -> GraphVectors:
    """Vectors of the table's entities and relations, by their numbers."""
    torch.manual_seed(settings.seed)
    count = len(table.entities), len(table.relations)
    model = GraphVectors(*count, width=width, score=score)
    examples = [FactExample(*row) for row in table.facts.tolist()]
    with tempfile.TemporaryDirectory() as folder:
        Trainer(model, examples, settings, Path(folder)).train()
    return model.eval()
