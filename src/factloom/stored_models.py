"""Models that are not loaded yet, and several of them as one: each reads the texts of its language.

    choice = ByLanguage.shipped()          # "factloom-small": English and Chinese
    choice.predict(documents)              # each document by the model of its language

A model is loaded, and torch with it, when the first document for it comes.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, Self

from factloom.components import KINDS
from factloom.document import Document
from factloom.model_folders import CONFIG, SHIPPED, load_config
from factloom.text.scripts import SCRIPTS, main_script

BY_LANGUAGE = "factloom-small"  # the name of all models that ship, together

# Graphs by onnxruntime, in float32, in 8 bits, or in what is faster here; or all models by torch.
Runtime = Literal["light", "light-8bit", "light-fastest", "torch"]

_PRECISION: Mapping[str, Any] = {
    "light": "float32",
    "light-8bit": "8bit",
    "light-fastest": "fastest",
}
_SHIPPED = ("factloom-en-small", "factloom-zh-small")  # the first reads what no other one does


class StoredModel:
    """A model that is not loaded: what is known of it stands in its folder."""

    def __init__(
        self, name: str | Path, device: str | None = None, runtime: Runtime | None = None
    ) -> None:
        _, config = load_config(name)
        self.name, self.device, self.runtime = name, device, runtime
        self.task = KINDS.get(config["model"]) or _task(config["model"])
        self.types = config.get("types", ())
        self.relations = config.get("relations", ())
        self.relation_names = config.get("relation_names", {})
        self.settings = SimpleNamespace(**config.get("settings", {}))
        self.provenance = config.get("provenance", {})

    def load(self) -> Any:
        return load_model(self.name, self.device, self.runtime)


def load_model(name: str | Path, device: str | None, runtime: Runtime | None = None) -> Any:
    """By the runtime that is asked for; else by torch, where it is installed."""
    chosen = runtime or default_runtime()
    if chosen != "torch":
        from factloom.light import loading

        return loading.load(name, device, _PRECISION[chosen])
    from factloom.models import storage  # torch, which other components may do without

    return storage.load(name, device)


def default_runtime() -> Runtime:
    return "light" if importlib.util.find_spec("torch") is None else "torch"


def _task(kind: str) -> str:
    """Of a kind that the table lacks, or that there is not."""
    from factloom.models import storage

    return str(storage.model_class(kind).task)


def stored(
    name: str | Path, device: str | None = None, runtime: Runtime | None = None
) -> "StoredModel | ByLanguage":
    """A model by its folder or hub name, or all that ship."""
    together = str(name) == BY_LANGUAGE and not (Path(name) / CONFIG).exists()
    if together:
        return ByLanguage.shipped(device, runtime)
    return StoredModel(name, device, runtime)


def shipped_models() -> list[str]:
    """The names of the models that ship."""
    return [name for name in _SHIPPED if (SHIPPED / name / CONFIG).is_file()]


def shipped_for(language: str | None) -> str:
    """The shipped model that reads this language; all together where there is none, or any is."""
    names = (name for name in shipped_models() if f"-{language}-" in name)
    return next(names, BY_LANGUAGE)


class ByLanguage:
    """Stored models of one task as one component: what one finds, all can find.

    A text in the letters of no model's language is the first one's.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = list(models)
        self.task = self.models[0].task
        self.types = _distinct(model.types for model in models)
        self.relations = _distinct(model.relations for model in models)
        self.relation_names = {k: v for model in models for k, v in model.relation_names.items()}
        self.settings = SimpleNamespace(type_constraints=_type_pairs(models))
        made = [model.provenance for model in models]
        languages = _distinct(own.get("languages", ()) for own in made)
        self.provenance = {"languages": languages, "models": made}

    @classmethod
    def shipped(cls, device: str | None = None, runtime: Runtime | None = None) -> Self:
        return cls([StoredModel(name, device, runtime) for name in shipped_models()])

    def predict(self, documents: list[Document]) -> list[Document]:
        """The documents, in their order, with what the model of their language finds."""
        return self._by_model(documents, lambda model, own: model.predict(own))

    def relate(self, documents: list[Document]) -> list[Document]:
        """The documents, in their order, with relations between the entities that they have."""
        return self._by_model(documents, lambda model, own: model.relate(own))

    def _by_model(
        self,
        documents: list[Document],
        ask: Callable[[Any, list[Document]], list[Document]],
    ) -> list[Document]:
        chosen = [self._model_for(document.text) for document in documents]
        found: dict[int, Document] = {}
        for index in sorted(set(chosen)):
            places = [place for place, model in enumerate(chosen) if model == index]
            answers = ask(self._awake(index), [documents[place] for place in places])
            found |= dict(zip(places, answers, strict=True))
        return [found[place] for place in range(len(documents))]

    def wake(self, documents: Sequence[Document]) -> None:
        """Load the models that read the documents."""
        for index in {self._model_for(document.text) for document in documents}:
            self._awake(index)

    def _model_for(self, text: str) -> int:
        script = main_script(text)
        for index, model in enumerate(self.models):
            languages = model.provenance.get("languages", ())
            if script in [SCRIPTS.get(language, "") for language in languages]:
                return index
        return 0

    def _awake(self, index: int) -> Any:
        if isinstance(self.models[index], StoredModel):
            self.models[index] = self.models[index].load()
        return self.models[index]


def _distinct(parts: Any) -> list[str]:
    return list(dict.fromkeys(value for part in parts for value in part))


def _type_pairs(models: Sequence[Any]) -> dict[str, list[tuple[str, str]]]:
    """The types of head and tail that any model lets a relation have."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for model in models:
        own = getattr(model.settings, "type_constraints", None)
        for relation, found in (own if isinstance(own, dict) else {}).items():
            kept = pairs.setdefault(relation, [])
            kept.extend((head, tail) for head, tail in found if (head, tail) not in kept)
    return pairs
