"""From a recipe to a trained, calibrated and measured model."""

import hashlib
import json
import os
import platform
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache

from factloom import __version__
from factloom.document import Document
from factloom.encoders.character_tables import VECTORS
from factloom.encoders.encoder import Encoder
from factloom.encoders.new_characters import add_characters
from factloom.encoders.pretrained import resolve
from factloom.errors import InputError, Place, RecipeError
from factloom.evaluation.facts import facts_of, read_facts
from factloom.evaluation.relations import Fact, require_distinct_ids
from factloom.evaluation.tasks import TASKS
from factloom.formats import read
from factloom.formats.brat import files_read
from factloom.models.storage import (
    WEIGHTS,
    first_encoder,
    load,
    load_config,
    model_class,
    model_directory,
    model_settings,
)
from factloom.pipeline import Pipeline
from factloom.recipe import (
    NO_ENCODER,
    DataRecipe,
    DictionaryRecipe,
    Recipe,
    TeacherRecipe,
    data_path,
    validated,
)
from factloom.text.dictionary import Dictionary, dictionary_files, mark, read_dictionary
from factloom.text.joining import join_documents
from factloom.text.lexicon import JIEBA
from factloom.text.tags import UNKNOWN_TYPE
from factloom.training.checkpoint import write_directory, write_file
from factloom.training.plugins import make_plugins
from factloom.training.trainer import Trainer

RESULTS = "results.json"
ROUNDS = "round-*/dictionary.tsv"  # what `factloom adapt` leaves in its folder

# Whose versions are kept with a model, where they are installed.
_PACKAGES = ("transformers", "tokenizers", "accelerate", "jieba")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of a recipe."""

    train: list[Document]
    development: list[Document]
    report: dict[str, list[Document]]
    train_facts: frozenset[Fact]


def train_recipe(
    recipe: Recipe,
    output: Path,
    *,
    resume: bool = False,
    recipe_name: str = "",
) -> dict[str, Any]:
    """Train, fit the scores on development documents, measure; returns what results.json holds.

    The finished model is in `output`/best. Only the first process measures and writes.
    """
    if any(output.glob(ROUNDS)):
        raise InputError("output-of-adapt", Place(file=str(output)))
    place = Place(file=recipe_name or None)
    kind = model_class(recipe.kind)
    if recipe.data.join_words and kind.task != "mentions":
        raise RecipeError("cannot-join", place, task=kind.task)
    if (recipe.dictionary or recipe.teacher) and kind.task != "mentions":
        raise RecipeError("cannot-mark", place, task=kind.task)
    settings = validated(model_settings(recipe.kind), recipe.model_settings, place)
    plugins = make_plugins(recipe.plugins, place)
    corpus = read_corpus(recipe)
    corpus = replace(corpus, train=_marked(corpus.train, recipe))
    torch.manual_seed(recipe.training.seed)  # new layers start the same in every run
    encoder = _encoder(recipe, kind, corpus.train, place)
    names = _relation_names(recipe)
    model = kind.from_documents(encoder, corpus.train, settings, names=names)
    model.provenance = provenance(recipe)
    trainer = Trainer(
        model,
        [example for example in model.prepare(corpus.train) if example.pairs],
        recipe.training,
        output,
        validate=partial(measure, documents=corpus.development) if corpus.development else None,
        plugins=plugins,
    )
    result = trainer.train(resume=resume)
    if not trainer.accelerator.is_main_process:
        return {}
    return _finish(corpus, output, {"training": asdict(result)})


def _encoder(
    recipe: Recipe, kind: Any, documents: Sequence[Document], place: Place
) -> Encoder | None:
    """The pretrained encoder; None where the recipe wants none and the model can do without."""
    if recipe.encoder.name != NO_ENCODER:
        options = recipe.encoder.model_dump(exclude={"name", "new_characters"})
        encoder = first_encoder(recipe.encoder.name, **options)
        if recipe.encoder.new_characters:
            add_characters(encoder, (document.text for document in documents))
        return encoder
    if not getattr(kind, "encoder_optional", False):
        raise RecipeError("encoder-needed", place, kind=recipe.kind)
    return None


def read_corpus(recipe: Recipe) -> Corpus:
    train = _read_all(recipe.data.train, recipe.data)
    development = _read_all(recipe.data.development, recipe.data)
    if recipe.data.hold_out:
        train, development = hold_out(train, recipe.data.hold_out, recipe.training.seed)
    report = {path: _read_all([path], recipe.data) for path in recipe.data.report}
    for measured in (development, *report.values()):
        require_distinct_ids(measured)  # now, rather than after hours of training
    facts = recipe.data.train_facts
    train_facts = read_facts(data_path(facts)) if facts else facts_of(train)
    known = [train, development, *report.values()]
    names = without_relations(_read_all(recipe.data.names_only, recipe.data), known)
    return Corpus(train + names, development, report, train_facts)


def _marked(documents: list[Document], recipe: Recipe) -> list[Document]:
    """The documents with the mentions that a dictionary or a teacher marks, else with their own."""
    if recipe.dictionary:
        dictionary = recipe_dictionary(recipe.dictionary)
        return [mark(document, dictionary) for document in documents]
    if recipe.teacher:
        return _taught(documents, recipe.teacher)
    return documents


def _taught(documents: list[Document], settings: TeacherRecipe) -> list[Document]:
    """The documents with what a model is sure of."""
    found = Pipeline.load(data_path(settings.model)).sure(documents, settings.sure)
    if all(mention.type == UNKNOWN_TYPE for document in found for mention in document.mentions):
        raise RecipeError("teacher-unsure", Place(file=settings.model), sure=settings.sure)
    return found


def without_relations(
    documents: Iterable[Document], known: Iterable[Iterable[Document]]
) -> list[Document]:
    """Documents of which no relation is asked for; those with a text among `known` are left out."""
    seen = {document.text for part in known for document in part}
    return [
        document.replace(relations=(), candidates=())
        for document in documents
        if document.text not in seen
    ]


def recipe_dictionary(settings: DictionaryRecipe) -> Dictionary:
    files = [data_path(path) for path in settings.files]
    return read_dictionary(files, settings.case, settings.types, settings.parts, settings.initials)


def hold_out(
    documents: Sequence[Document], part: float, seed: int
) -> tuple[list[Document], list[Document]]:
    """Split off a random part; both keep the documents' order."""
    count = round(len(documents) * part)
    if not 0 < count < len(documents):
        raise RecipeError("too-few-documents", documents=len(documents), part=part)
    chosen = set(random.Random(seed).sample(range(len(documents)), count))
    kept = [document for index, document in enumerate(documents) if index not in chosen]
    return kept, [documents[index] for index in sorted(chosen)]


def provenance(recipe: Recipe) -> dict[str, Any]:
    """What somebody needs to make the model again: settings, versions, data fingerprints."""
    return {
        "recipe": recipe.model_dump(mode="json"),
        "data_sha256": {name: _fingerprint(path) for name, path in _inputs(recipe)},
        "encoder_sha256": _encoder_fingerprint(recipe.encoder.name),
        "versions": {
            "factloom": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            **{name: version(name) for name in _PACKAGES if find_spec(name)},
        },
    }


def _inputs(recipe: Recipe) -> Iterator[tuple[str, Path]]:
    """Name and place of every file and folder that decides the weights or the scores."""
    data, plugins = recipe.data, recipe.plugins
    names = [*data.train, *data.names_only, *data.development, *data.report]
    names += [name for name in (data.train_facts, data.relation_names) if name]
    names += plugins.get("vat", {}).get("unlabelled", [])
    yield from ((name, Path(data_path(name))) for name in names)
    yield from _word_inputs(recipe.model_settings)
    for folder in recipe.dictionary.files if recipe.dictionary else ():
        yield from ((str(file), file) for file in dictionary_files(data_path(folder)))
    teachers = [plugins["distillation"]["teacher"]] if "distillation" in plugins else []
    for teacher in [*teachers, recipe.teacher.model] if recipe.teacher else teachers:
        yield teacher, load_config(data_path(teacher))[0]


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


def _finish(corpus: Corpus, output: Path, results: dict[str, Any]) -> dict[str, Any]:
    """Fit scores on the development documents, save the model again, and measure it."""
    model = load(output / "best")
    results["development"] = {}
    if corpus.development:
        results["scores_fitted"] = model.fit_scores(corpus.development)
        write_directory(output / "best", model.save_pretrained)
        results["development"] = measure(model, corpus.development, corpus.train_facts)
    results["report"] = {
        path: measure(model, documents, corpus.train_facts)
        for path, documents in corpus.report.items()
    }
    write_file(output / RESULTS, json.dumps(results, indent=2, default=str) + "\n")
    return results


def measure(
    model: Any, documents: Sequence[Document], train_facts: frozenset[Fact] | None = None
) -> dict[str, float]:
    """The scores of what the model finds in documents, of which it does not see the labels."""
    task = TASKS[model.task]
    return task.scores(documents, task.ask(model, documents), train_facts)


def _read_all(paths: Sequence[str], data: DataRecipe) -> list[Document]:
    """The documents of some files; short ones of a file put together if the recipe says so."""
    found: list[Document] = []
    for path in paths:
        joined = join_documents(read(data_path(path), data.format), data.join_words)
        found.extend(group.document for group in joined)
    return found


def _relation_names(recipe: Recipe) -> dict[str, str]:
    if recipe.data.relation_names is None:
        return {}
    path = Path(data_path(recipe.data.relation_names))
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
        return {str(relation): str(name) for relation, name in names.items()}
    except (OSError, ValueError, AttributeError) as error:  # no file, no JSON, no object
        detail = f"data.relation_names: {error}"
        raise RecipeError("recipe-setting", Place(file=str(path)), detail=detail) from error


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
