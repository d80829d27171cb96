"""A loop that takes seconds: a language in which persons live in places, and a small dictionary."""

from pathlib import Path
from typing import Any

from factloom import formats
from factloom.document import Document, Mention
from factloom.text.tokens import join_tokens
from factloom.training.recipe import Recipe

PERSONS = ("Mara", "Tove", "Nils", "Olga")
PLACES = ("Torvik", "Ashmere", "Halden")
WORDS = ("lives", "in", ".", *(name.lower() for name in (*PERSONS, *PLACES)))


def documents() -> list[Document]:
    """Every person lives in every place; all names are marked."""
    found = []
    for person in PERSONS:
        for place in PLACES:
            text, sentences = join_tokens([[person, "lives", "in", place, "."]])
            start = text.index(place)
            mentions = (
                Mention(0, len(person), "PER"),
                Mention(start, start + len(place), "LOC"),
            )
            name = f"{person} {place}"
            found.append(Document(text, id=name, sentences=sentences, mentions=mentions))
    return found


def small_recipe(folder: Path, encoder: Path, epochs: int = 30, **dictionary: Any) -> Recipe:
    """Files and recipe of a loop whose dictionary knows two persons and two places."""
    names = folder / "names"
    names.mkdir(exist_ok=True)
    (names / "person.txt").write_text("Mara\nTove\n", encoding="utf-8")
    (names / "LOC.txt").write_text("Torvik\nAshmere\n", encoding="utf-8")
    formats.write(documents(), folder / "texts.jsonl")
    return Recipe.model_validate(
        {
            "model": {
                "kind": "positive_unlabelled",
                "priors": {"PER": 0.4, "LOC": 0.4},
                "positive_weight": 0.5,
                "width": 16,
                "dropout": 0.0,
            },
            "encoder": {"name": str(encoder)},
            "data": {
                "train": [str(folder / "texts.jsonl")],
                "development": [str(folder / "texts.jsonl")],
            },
            "training": {
                "epochs": epochs,
                "batch_size": 12,
                "learning_rates": {"": 8e-3},
                "validate_every": epochs,
                "schedule": "constant",
                "checkpoint_every_epochs": 15,
            },
            "dictionary": {
                "files": [str(names)],
                "types": {"person": "PER"},
                "rounds": 3,
                "minimum_count": 2,
                **dictionary,
            },
        }
    )
