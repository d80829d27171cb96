"""A recipe: one TOML file that says what to train, on what, and how.

    start = "factloom-en-small"  a trained model to go on with; all is new without it
    [model]                      kind = "atlop" and the model's own settings
    [encoder]                    name, window, overlap, ...
    [data]                       train, development or hold_out, report, ...
    [training]                   see factloom.training.settings
    [dictionary]                 names that mark the training documents; see docs/dictionary.md
    [teacher]                    a model that marks them, by what it is sure of; see there
    [completion]                 models that add relations that annotators forgot
    [plugins.fgm]                a plug-in and its settings; see factloom.training.plugins

Paths may hold environment variables: "$FACTLOOM_DATA/redocred/train.json". FACTLOOM_DATA is
"../shared/data" where it is not set. Relative paths are relative to the working directory.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from factloom.encoders.long_documents import LongDocuments
from factloom.errors import Place, RecipeError
from factloom.knowledge.reading_settings import KnowledgeSettings
from factloom.text.dictionary import Case
from factloom.text.name_parts import Part
from factloom.training.settings import Count, TrainingSettings

NO_ENCODER = "none"
DEEPEST = 20  # tables in tables

SettingsT = TypeVar("SettingsT", bound=BaseModel)


class RecipePart(BaseModel):
    """A section of a recipe, or a whole one."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class EncoderRecipe(RecipePart):
    """Which encoder reads the text, and how it takes long documents."""

    name: str = Field(
        "all-MiniLM-L6-v2",
        description="Hub name or directory; a trained factloom model, to start from its encoder; "
        '"none" for a model that reads characters by itself.',
    )
    window: Count = Field(512, description="Longest stretch encoded at once, in tokens.")
    overlap: int = Field(128, ge=0, lt=2**31, description="Tokens that neighbouring windows share.")
    long_documents: LongDocuments = Field(
        "windows",
        description="What to do with documents longer than a window: overlapping windows, an "
        "error, or windows that remember those in front.",
    )
    attention_dropout: float = Field(
        0.0, ge=0, lt=1, description="0 lets CPUs use their fused attention kernel."
    )
    new_characters: bool = Field(
        False,
        description="Learn embeddings for the training texts' characters that the encoder does "
        "not know: Chinese with an English encoder.",
    )
    knowledge: KnowledgeSettings | None = Field(
        None,
        description="A base of knowledge that is read between two of its layers; see "
        "docs/knowledge.md.",
    )


class DataRecipe(RecipePart):
    """Which documents are trained on, which choose the best epoch, which are reported on."""

    train: list[str] = Field(min_length=1, description="Files to train on.")
    left_out: list[str] = Field(
        [],
        description="Files whose texts are not trained on, though `train` has them: what an "
        "earlier training has held out (held-out.jsonl), if this one goes on from its model.",
    )
    names_only: list[str] = Field(
        [],
        description="Further files to train on, whose relations are unknown or incomplete: only "
        "mentions and entities are learned. Texts that are in another file are left out.",
    )
    incomplete: list[str] = Field(
        [],
        description="Further files to train on, whose relations hold but are not all: others are "
        "unknown, or completed by the models of [completion]. Texts as above are left out.",
    )
    general: list[str] = Field(
        [],
        description="Files of which some documents are trained on as well, so that a model that is "
        "trained further does not forget. `hold_out` is taken from these, then.",
    )
    general_documents: Count = Field(
        300, description="How many documents of `general` are taken, by chance."
    )
    general_relations: Literal["annotated", "unknown"] = Field(
        "annotated",
        description="Whether the relations of `general` are learned as annotated, or unknown, so "
        "that [plugins.distillation] alone speaks of them.",
    )
    train_times: Count = Field(
        1, description="How often an epoch has each document of `train`, beside many of `general`."
    )
    relations_by_file: bool = Field(
        False,
        description="Whether a relation that no document of a training file has is unknown there, "
        "rather than absent: files of unlike relations can then teach one model.",
    )
    references: list[str] = Field(
        [],
        description="Files of which pronouns and nominals are learned as well, in whatever list "
        "their documents are: all of them have to be marked there. Only for joint models.",
    )
    varied: list[str] = Field(
        [],
        description="Files of `train` whose documents are learned from again in other forms, as "
        "the next three settings say; none of a document that is held out.",
    )
    other_names: int = Field(
        1, ge=0, lt=2**31, description="How often each of `varied` is read with other names."
    )
    parts: int = Field(
        1,
        ge=0,
        lt=2**31,
        description="How many parts of each of `varied`, of one to three sentences, are read.",
    )
    turned: int = Field(
        0,
        ge=0,
        lt=2**31,
        description="How often each of `varied`, and each of its sentences alone, is read with a "
        "sentence turned into what is not so. English.",
    )
    development: list[str] = Field(
        [], description="Files that choose the best epoch and fit thresholds and temperature."
    )
    hold_out: float = Field(
        0.0, ge=0, lt=1, description="Part of the training documents to use for that instead."
    )
    report: list[str] = Field([], description="Files that only the finished model is scored on.")
    train_facts: str | None = Field(
        None, description="Facts for Ign F1; those of the training files if absent."
    )
    relation_names: str | None = Field(
        None,
        description="JSON file {relation: name in words}, kept with the model; if absent, "
        "relations with ids of Wikidata have the names that factloom knows.",
    )
    join_words: int = Field(
        0,
        ge=0,
        lt=2**31,
        description="Read documents that follow each other in a file as one of up to so many "
        "words: context for files of single sentences. Only where mentions are learned.",
    )
    other_passages: int = Field(
        0,
        ge=0,
        lt=2**31,
        description="Ask every training question of so many other documents of its title, too, "
        "that share words with it and do not hold its answer. Only where answers are learned.",
    )
    format: str | None = Field(None, description="Format of the files; found by itself if absent.")

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> Self:
        if self.development and self.hold_out:
            raise ValueError("give either data.development or data.hold_out, and not both")
        return self


class DictionaryRecipe(RecipePart):
    """Names that mark the training documents, in place of the mentions that these have."""

    files: list[str] = Field(
        min_length=1, description="Files of names, or folders with one file a type."
    )
    case: Case = Field("exact", description="When a piece of text is a name; see `Dictionary`.")
    types: dict[str, str] = Field({}, description="Other names for types: {person = 'PER'}.")
    parts: dict[str, Part] = Field(
        {},
        description="Types whose entries are the `first`, the `last` or `any` part of names: what "
        "stands beside them and looks like a name is marked, too.",
    )
    initials: list[str] = Field(
        [], description="Types whose names are known by their initials, too: U.S."
    )
    rounds: Count = Field(5, description="factloom adapt: how many rounds at most.")
    minimum_count: Count = Field(
        3, description="factloom adapt: how often a new name has to be predicted."
    )
    agreement: float = Field(
        1.0,
        gt=0,
        le=1,
        description="factloom adapt: the part of a new name's places in the texts that has to be "
        "predicted with one type.",
    )


class TeacherRecipe(RecipePart):
    """A model that marks the training documents, in place of the mentions that these have."""

    model: str = Field(description="A model of names: its folder, or its name on the model hub.")
    sure: float = Field(
        0.9,
        ge=0,
        le=1,
        description="Nothing is learned of words whose type, or none, is less probable to it.",
    )


class CompletionRecipe(RecipePart):
    """Models of relations that complete the documents of `data.incomplete`."""

    models: list[str] = Field(
        min_length=1, description="Their folders, or names on the model hub; all have to agree."
    )
    sure: float = Field(
        0.7, ge=0, le=1, description="What all of them are at least so sure of is added."
    )
    doubt: float = Field(
        0.0,
        ge=0,
        description="How far below its threshold what one of them finds still makes a pair "
        "unknown, in logits: the larger, the less is learned as not so.",
    )


class Recipe(RecipePart):
    """A whole training."""

    start: str | None = Field(
        None,
        description="A trained model that is trained further: its folder or name. Labels, settings "
        "and encoder are its own; [model] says its kind, and weights of its losses that change.",
    )
    model: dict[str, Any] = Field(description="The kind of model, and its own settings.")
    data: DataRecipe
    encoder: EncoderRecipe = EncoderRecipe()
    training: TrainingSettings = TrainingSettings()
    plugins: dict[str, dict[str, Any]] = Field(
        {}, description="The trainer's plug-ins by name, each with its own settings, in order."
    )
    dictionary: DictionaryRecipe | None = Field(
        None, description="Marks the training documents; without it they have mentions themselves."
    )
    teacher: TeacherRecipe | None = Field(None, description="A model that does the same.")
    completion: CompletionRecipe | None = Field(
        None, description="Completes the relations of documents that lack some."
    )

    @property
    def kind(self) -> str:
        return str(self.model["kind"])

    @property
    def model_settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.model.items() if name != "kind"}

    @model_validator(mode="after")
    def _kind_given(self) -> Self:
        if not isinstance(self.model.get("kind"), str):
            raise ValueError("model.kind is missing, such as kind = 'atlop'")
        return self

    @model_validator(mode="after")
    def _started_as_it_was(self) -> Self:
        kept = [name for name in sorted(self.model_settings) if not name.endswith("_weight")]
        if self.start is not None and kept:
            given = ", ".join(kept)
            raise ValueError(f"a model that is trained further keeps its settings: {given}")
        return self

    @model_validator(mode="after")
    def _something_chooses(self) -> Self:
        # who has nothing but a dictionary takes the model of the last epoch
        marked = self.dictionary or self.teacher
        if not (self.data.development or self.data.hold_out or marked):
            raise ValueError("give either data.development or data.hold_out")
        return self

    @model_validator(mode="after")
    def _marked_once(self) -> Self:
        if self.dictionary and self.teacher:
            raise ValueError("give either a dictionary or a teacher, and not both")
        return self


def read_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a TOML recipe; `overrides` are "section.key=value" with the value as TOML."""
    return read_settings(Recipe, path, overrides)


def read_settings(
    kind: type[SettingsT], path: str | Path, overrides: Sequence[str] = ()
) -> SettingsT:
    """A recipe of any kind."""
    place = Place(file=str(path))
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError("recipe-not-found", place) from error
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        raise RecipeError("recipe-not-toml", place, detail=error) from error
    for text in overrides:
        _override(content, text)
    _require_plain(content, place)
    return validated(kind, content, place)


def _require_plain(value: Any, place: Place, keys: tuple[str, ...] = ()) -> None:
    """TOML is UTF-8, its numbers have 64 bits, and no table of ours lies as deep as this."""
    detail = ""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        detail = "whole numbers have at most 64 bits"
    elif isinstance(value, str) and re.search("[\ud800-\udfff]", value):
        detail = "the text is not UTF-8"
    elif isinstance(value, dict | list) and len(keys) > DEEPEST:
        detail = f"tables and lists lie in each other at most {DEEPEST} deep"
    if detail:
        raise RecipeError("recipe-setting", place, detail=f"{'.'.join(keys)}: {detail}")
    inner = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inner:
        _require_plain(item, place, (*keys, str(key)))


def validated(kind: type[SettingsT], content: Mapping[str, Any], place: Place) -> SettingsT:
    """Settings from plain data, with all mistakes in one message."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise RecipeError("recipe-setting", place, detail=mistakes(error, kind)) from error


def mistakes(error: ValidationError, kind: type[BaseModel], section: str = "") -> str:
    """All mistakes of a part of the recipe in one line, each with the name of its key."""
    return "; ".join(
        f"{'.'.join(map(str, (section, *found['loc']))).strip('.') or 'recipe'}: "
        f"{_unknown(kind, *found['loc']) if found['type'] == 'extra_forbidden' else found['msg']}"
        for found in error.errors()
    )


def _unknown(kind: Any, *keys: str | int) -> str:
    """That there is no such setting, and which one may be meant."""
    *sections, name = keys
    for section in sections:
        annotation = kind.model_fields[section].annotation
        kind = next(part for part in (annotation, *get_args(annotation)) if _has_fields(part))
    known = list(kind.model_fields)
    near = get_close_matches(str(name), known)
    meant = f"spelled much like it: {', '.join(near)}" if near else f"there are: {', '.join(known)}"
    return f"there is no such setting; {meant}"


def _has_fields(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _override(content: dict[str, Any], text: str) -> None:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise RecipeError("recipe-override", text=text)
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value  # a bare word is a string
    except (ValueError, RecursionError) as error:
        raise RecipeError("recipe-override", text=f"{text[:60]}...") from error
    *sections, name = key.strip().split(".")
    target = content
    for section in sections:
        inner = target.setdefault(section, {})
        if not isinstance(inner, dict):
            raise RecipeError("recipe-override", text=text)
        target = inner
    target[name] = parsed
