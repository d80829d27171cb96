"""configs/joint-own.toml trains on anybody's documents, from the shipped model's encoder."""

from pathlib import Path

import factloom
from factloom import formats
from factloom.document import Document
from factloom.training.recipe import read_recipe
from factloom.training.run import train_recipe

RECIPE = Path(__file__).parents[2] / "configs" / "joint-own.toml"


def test_documents_of_ones_own_make_a_model_of_their_own_labels(
    profiles: list[Document], tmp_path: Path
) -> None:
    formats.write(profiles, tmp_path / "mine.jsonl")
    recipe = read_recipe(
        RECIPE,
        [f"data.train=['{tmp_path / 'mine.jsonl'}']", "training.epochs=1", "data.hold_out=0.25"],
    )
    results = train_recipe(recipe, tmp_path / "mine")
    assert results["training"]["steps"] == 2  # 6 of 8 documents, 4 a step
    assert results["development"].keys() >= {"f1", "mention_f1", "entity_f1"}
    pipeline = factloom.load(tmp_path / "mine" / "best")
    labels = {relation.type for document in profiles for relation in document.relations}
    assert set(pipeline.model.relations) <= labels
    assert pipeline(profiles[0].text).text == profiles[0].text
