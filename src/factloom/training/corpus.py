"""The documents of a recipe: read, held out, and marked."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from factloom.document import Document
from factloom.errors import ModelError, Place, RecipeError
from factloom.evaluation.facts import facts_of, read_facts
from factloom.evaluation.relations import Fact, require_distinct_ids
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.models.storage import load
from factloom.text.dictionary import Dictionary, mark, read_dictionary
from factloom.text.document_parts import random_parts
from factloom.text.exchanged_names import with_other_names
from factloom.text.joining import join_documents
from factloom.text.other_passages import with_other_passages
from factloom.text.references import with_named_entities
from factloom.text.relation_names import RELATION_NAMES
from factloom.text.tags import UNKNOWN_TYPE
from factloom.text.turned_statements import with_turned_statements
from factloom.training.completion import Relate, complete, doubting
from factloom.training.recipe import DataRecipe, DictionaryRecipe, Recipe, TeacherRecipe

LONGEST_PART = 3  # sentences


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of a recipe."""

    train: list[Document]
    development: list[Document]
    fitting: list[Document]  # those of them that scores are fitted to
    report: dict[str, list[Document]]
    train_facts: frozenset[Fact]


def read_corpus(recipe: Recipe) -> Corpus:
    referring = _referring(recipe.data)
    development = with_references(_read_all(recipe.data.development, recipe.data), referring)
    train = _without(_read_all(recipe.data.left_out, recipe.data), _read_train(recipe.data))
    train = with_references(train, referring)
    general = _general(recipe.data, train, recipe.training.seed)
    if recipe.data.hold_out and general:
        general, development = hold_out(general, recipe.data.hold_out, recipe.training.seed)
    elif recipe.data.hold_out:
        train, development = hold_out(train, recipe.data.hold_out, recipe.training.seed)
    variants = _variants(train, recipe.data, recipe.training.seed)
    train = [*train * recipe.data.train_times, *_as_known(general, recipe.data), *variants]
    report = {
        path: with_references(_read_all([path], recipe.data), referring)
        for path in recipe.data.report
    }
    for documents in (development, *report.values()):
        require_distinct_ids(documents)  # now, rather than after hours of training
    measured = [document for part in (development, *report.values()) for document in part]
    facts = recipe.data.train_facts
    train_facts = read_facts(data_path(facts)) if facts else facts_of(train)
    train += _completed(_others(recipe.data.incomplete, recipe.data, train, measured), recipe)
    for document in _others(recipe.data.names_only, recipe.data, train, measured):
        train.append(document.without_relations().replace(candidates=()))
    if recipe.data.other_passages:
        train = with_other_passages(train, recipe.data.other_passages)
    # a model that goes on may have learned from the general ones: it is too good and too sure there
    fitting = [] if general and recipe.start is not None else development
    return Corpus(train, development, fitting, report, train_facts)


def _read_train(data: DataRecipe) -> list[Document]:
    """The documents of `train`, each annotated for the relations of its file if those differ."""
    if not data.relations_by_file:
        return _read_all(data.train, data)
    return [document for path in data.train for document in _for_its_types(_read_all([path], data))]


def _general(data: DataRecipe, train: Iterable[Document], seed: int) -> list[Document]:
    """Some of the general documents, in their order."""
    found = _others(data.general, data, train)
    count = min(len(found), data.general_documents)
    chosen = sorted(random.Random(seed).sample(range(len(found)), count))
    return [found[index] for index in chosen]


def _as_known(general: list[Document], data: DataRecipe) -> list[Document]:
    """The general documents with what is to be learned of them."""
    if data.general_relations == "annotated":
        return general
    return [document.replace(relations=(), denied=(), annotated=()) for document in general]


def _variants(train: Iterable[Document], data: DataRecipe, seed: int) -> list[Document]:
    """The training documents of `varied` with other names, in short parts, and turned."""
    texts = {document.text for document in _read_all(data.varied, data)}
    chosen = [document for document in train if document.text in texts]
    parts = random_parts(chosen, data.parts, LONGEST_PART, seed)
    return [
        *with_other_names(chosen, data.other_names, seed),
        *(with_named_entities(part) for part in parts if part.named().entities),
        # words that are put in between would be pronouns that nobody has marked
        *with_turned_statements([document.named() for document in chosen], data.turned, seed),
    ]


def _referring(data: DataRecipe) -> dict[str, Document]:
    """By their text: documents that mark their pronouns and nominals, too."""
    documents = (document for path in data.references for document in _read(path, data))
    return {document.text: with_named_entities(document) for document in documents}


def with_references(
    documents: Iterable[Document], referring: Mapping[str, Document]
) -> list[Document]:
    """The documents with the pronouns and nominals of those that have their text and names."""
    found = []
    for document in documents:
        whole = referring.get(document.text, document)
        names = whole.named()
        if (names.mentions, names.entities) == (document.mentions, document.entities):
            document = document.replace(mentions=whole.mentions, entities=whole.entities)
        found.append(document)
    return found


def _for_its_types(documents: list[Document]) -> list[Document]:
    """The documents of a file, with the relations that none of them has as unknown."""
    types = tuple(sorted({relation.type for d in documents for relation in d.relations}))
    return [
        document if document.annotated is not None else document.replace(annotated=types)
        for document in documents
    ]


def _others(paths: Sequence[str], data: DataRecipe, *known: Iterable[Document]) -> list[Document]:
    """The documents of some files without those whose text is known."""
    return _without(chain.from_iterable(known), _read_all(paths, data))


def _without(known: Iterable[Document], documents: Iterable[Document]) -> list[Document]:
    """The documents whose text is none of the known ones'."""
    seen = {document.text for document in known}
    return [document for document in documents if document.text not in seen]


def _completed(documents: list[Document], recipe: Recipe) -> list[Document]:
    """The documents with what is likely to be missing; else with what is stated as all known."""
    if recipe.completion is None or not documents:
        return [document.replace(annotated=()) for document in documents]
    doubt = recipe.completion.doubt
    models = [_relating(data_path(name), doubt) for name in recipe.completion.models]
    return complete(documents, models, recipe.completion.sure)


def _relating(name: str, doubt: float) -> Relate:
    """What finds relations between entities that documents have."""
    model = load(name)
    if model.task not in ("relations", "end-to-end"):
        raise ModelError("finds-no-relations", Place(file=name))
    return doubting(model, doubt)


def marked(documents: list[Document], recipe: Recipe) -> list[Document]:
    """The documents with the mentions that a dictionary or a teacher marks, else with their own."""
    if recipe.dictionary:
        dictionary = recipe_dictionary(recipe.dictionary)
        return [mark(document, dictionary) for document in documents]
    if recipe.teacher:
        return _taught(documents, recipe.teacher)
    return documents


def _taught(documents: list[Document], settings: TeacherRecipe) -> list[Document]:
    """The documents with what a model is sure of."""
    model = load(data_path(settings.model))
    if not hasattr(model, "predict_sure"):
        raise ModelError("cannot-doubt", Place(file=settings.model))
    found: list[Document] = model.predict_sure(documents, settings.sure)
    if all(mention.type == UNKNOWN_TYPE for document in found for mention in document.mentions):
        raise RecipeError("teacher-unsure", Place(file=settings.model), sure=settings.sure)
    return found


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


def _read_all(paths: Sequence[str], data: DataRecipe) -> list[Document]:
    """The documents of some files; short ones of a file put together if the recipe says so.

    Models learn names: pronouns and nominals are left out.
    """
    return [document.named() for path in paths for document in _read(path, data)]


def _read(path: str, data: DataRecipe) -> Iterator[Document]:
    joined = join_documents(read(data_path(path), data.format), data.join_words)
    return (group.document for group in joined)


def relation_names(recipe: Recipe, documents: Iterable[Document]) -> dict[str, str]:
    """Relations in words: as the recipe's file says, else those of the documents that are known."""
    if recipe.data.relation_names is None:
        stated = {relation.type for document in documents for relation in document.relations}
        return {
            relation: RELATION_NAMES[relation]
            for relation in sorted(stated & RELATION_NAMES.keys())
        }
    path = Path(data_path(recipe.data.relation_names))
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
        return {str(relation): str(name) for relation, name in names.items()}
    except (OSError, ValueError, AttributeError) as error:  # no file, no JSON, no object
        detail = f"data.relation_names: {error}"
        raise RecipeError("recipe-setting", Place(file=str(path)), detail=detail) from error
