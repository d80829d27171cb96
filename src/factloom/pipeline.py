"""From text, or documents, to documents with more in them: the way users meet a model."""

import dataclasses
import hashlib
import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, Self, Unpack, overload

from factloom.components import ROLES, Step, chain, lack, lacking, without
from factloom.document import Document, Fact
from factloom.errors import FactloomError, InputError, ModelError, Place
from factloom.formats.gathering import Problem
from factloom.rounding import rounded
from factloom.schema import KnownRelation, Schema, SchemaSettings, make_schema
from factloom.stored_models import (
    BY_LANGUAGE,
    ByLanguage,
    Runtime,
    StoredModel,
    load_model,
    stored,
)
from factloom.text.languages import NAMES, foreign_language
from factloom.text.scripts import SCRIPTS, main_script
from factloom.text.sentences import find_sentences

Predict = Callable[[list[Document]], list[Document]]

DEFAULT_MODEL = BY_LANGUAGE  # all that ship, each for its language

# Documents that are read ahead and given to the model together, which sorts them by length.
BATCH_SIZE = 256


def raise_problem(problem: Problem) -> NoReturn:
    """What happens to the first problem where nobody asks to hear of it."""
    raise problem.error


class Pipeline:
    """Trained models, one after the other: text or Documents in, Documents out.

    >>> pipeline = Pipeline.load("factloom-en-small", relations=["founded by"])  # doctest: +SKIP
    >>> pipeline("Ada Brook founded Quillmark in 1956.").relations  # doctest: +SKIP
    >>> Pipeline([tagger, coreference, atlop])  # doctest: +SKIP

    Takes one component (see components.py) or a list of them, which have names likewise.
    Texts in a language that they have not learned are a problem, unless `any_language` is to be
    read. `settings` are those of `factloom.schema.SchemaSettings`: which of the relations that are
    found are kept.
    """

    def __init__(
        self,
        components: Any,
        *,
        name: str | Sequence[str] = "unnamed",
        any_language: bool = False,
        **settings: Unpack[SchemaSettings],
    ) -> None:
        several = list(components) if isinstance(components, list | tuple) else [components]
        if not several:
            raise ValueError("a pipeline needs at least one component")
        names = [name] * len(several) if isinstance(name, str) else name
        self.steps = [Step(*pair) for pair in zip(several, names, strict=True)]
        self.role = chain(self.steps)
        self.any_language = any_language
        self.languages = common_languages(self.steps)
        self.name = name if isinstance(name, str) else " + ".join(name)
        if settings and "relations" not in self.role.adds:
            raise ModelError("finds-no-relations", Place(file=self.name))
        self.settings = settings
        types = dict.fromkeys(kind for step in self.steps for kind in step.types)
        self.schema: Schema = make_schema(self._relations(), types, **settings)

    @classmethod
    def load(
        cls,
        *names: str | Path | Sequence[str | Path],
        device: str | None = None,
        runtime: Runtime | None = None,
        any_language: bool = False,
        **settings: Unpack[SchemaSettings],
    ) -> Self:
        """The models that ship, or one or several by their directories or hub names.

        Of those that ship each is loaded when the first text in its language comes.
        """
        chosen = _flat(names)
        found = [stored(name, device, runtime) if name == BY_LANGUAGE else name for name in chosen]
        models = [
            load_model(one, device, runtime) if isinstance(one, str | Path) else one
            for one in found
        ]
        names_of = [str(name) for name in chosen]
        return cls(models, name=names_of, any_language=any_language, **settings)

    @classmethod
    def load_later(
        cls,
        *names: str | Path | Sequence[str | Path],
        device: str | None = None,
        runtime: Runtime | None = None,
        any_language: bool = False,
        **settings: Unpack[SchemaSettings],
    ) -> Self:
        """A pipeline whose weights, and torch, are loaded when the first document is read."""
        chosen = _flat(names)
        models = [stored(name, device, runtime) for name in chosen]
        names_of = [str(name) for name in chosen]
        return cls(models, name=names_of, any_language=any_language, **settings)

    def wake(self, documents: Sequence[Document] = ()) -> None:
        """Load what is not loaded yet; of models by language, those that read the documents.

        What cannot be loaded is raised: no document is at fault.
        """
        for step in self.steps:
            if isinstance(step.component, StoredModel):
                step.component = step.component.load()
            elif isinstance(step.component, ByLanguage):
                step.component.wake(documents)

    # --- extraction ----------------------------------------------------------------------------

    @overload
    def __call__(self, given: str | Document) -> Document: ...  # type: ignore[overload-overlap] # str is iterable

    @overload
    def __call__(self, given: Iterable[Document | str]) -> list[Document]: ...

    def __call__(
        self, given: str | Document | Iterable[Document | str]
    ) -> Document | list[Document]:
        """A text as a Document, or all documents in their order, with what the model finds."""
        if isinstance(given, str | Document):
            (found,) = self.stream([given])
            return found
        if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
            raise _no_text(given)
        return list(self.stream(given))

    def facts(self, document: Document) -> list[Fact]:
        """The relations of a document in words: head, relation, tail, score, evidence."""
        return document.facts(self.relation_names)

    def stream(
        self,
        documents: Iterable[Document | str],
        *,
        batch_size: int = BATCH_SIZE,
        problems: Callable[[Problem], object] = raise_problem,
    ) -> Iterator[Document]:
        """What is found, document by document, in bounded memory, however many come.

        A document on which the model fails, or whose letters it never learned, is told to
        `problems`, and left out.
        """
        return self._ask(self._read, documents, batch_size, problems)

    def batches(
        self,
        documents: Iterable[Document | str],
        *,
        batch_size: int = BATCH_SIZE,
        problems: Callable[[Problem], object] = raise_problem,
    ) -> Iterator[list[Document]]:
        """What `stream` gives to the model at a time: documents that it can read, and no others."""
        if batch_size < 1:
            raise ValueError(f"batch_size has to be at least 1, not {batch_size}")
        complete = self._complete(map(self._document, documents), self.role.needs, problems)
        remaining = self._readable(complete, problems)
        while batch := list(islice(remaining, batch_size)):
            yield batch

    def read_batch(
        self, batch: list[Document], problems: Callable[[Problem], object] = raise_problem
    ) -> list[Document]:
        """What is found in one of the `batches`, as `stream` finds it."""
        return list(self._found(self._read, batch, problems))

    def _read(self, documents: list[Document]) -> list[Document]:
        for step in self.steps:
            documents = step.read(documents)
        return documents

    def _ask(
        self,
        predict: Predict,
        documents: Iterable[Document | str],
        batch_size: int = BATCH_SIZE,
        problems: Callable[[Problem], object] = raise_problem,
    ) -> Iterator[Document]:
        for batch in self.batches(documents, batch_size=batch_size, problems=problems):
            yield from self._found(predict, batch, problems)

    def _found(
        self,
        predict: Predict,
        batch: list[Document],
        problems: Callable[[Problem], object],
    ) -> Iterator[Document]:
        self.wake(batch)
        for found in _found_in(predict, batch, problems):
            yield self.schema.restrict(rounded(found))

    def relate(self, documents: Iterable[Document]) -> list[Document]:
        """Relations between the entities that the documents have, beside those given by people."""
        steps = [step for step in self.steps if "relations" in step.role.adds]
        if not steps:
            raise ModelError("finds-no-relations", Place(file=self.name))
        found = list(self._complete(documents, ("entities",), raise_problem))
        self.wake(found)
        for step in steps:
            found = step.relate(found)
        return [self.schema.restrict(rounded(document)) for document in found]

    def sure(self, documents: Iterable[Document | str], least: float) -> list[Document]:
        """The mentions that the model is sure of, for another model to learn from.

        Where what it decides about a word is less probable than `least`, nothing is known: such
        words are mentions of the type "?".
        """
        if not 0 <= least <= 1:
            raise ValueError(f"a probability lies between 0 and 1, unlike {least}")
        if not hasattr(self.model, "predict_sure"):
            raise ModelError("cannot-doubt", Place(file=self.name))
        return list(self._ask(partial(self.model.predict_sure, least=least), documents))

    def given(self, document: Document) -> Document:
        """What the pipeline looks at: without all that it finds itself."""
        return without(document, self.steps[0].role.adds)

    def _document(self, given: Document | str) -> Document:
        if isinstance(given, Document):
            return self.given(given)
        if not isinstance(given, str):
            raise _no_text(given)
        return Document(text=given, sentences=find_sentences(given))

    def _complete(
        self,
        documents: Iterable[Document],
        needs: Collection[str],
        problems: Callable[[Problem], object],
    ) -> Iterator[Document]:
        """Without documents that lack what is needed, and is not found here."""
        for document in documents:
            part = lacking(document, needs)
            if part is None:
                yield document
            else:
                problems(_problem(document, lack(part, Place())))

    def _readable(
        self, documents: Iterable[Document], problems: Callable[[Problem], object]
    ) -> Iterator[Document]:
        """Without documents in letters, or a language, that the models have not learned."""
        scripts = {SCRIPTS.get(language) for language in self.languages}
        if self.any_language or not scripts or None in scripts:  # they may read anything
            yield from documents
            return
        for document in documents:
            error = self._unreadable(document.text, scripts)
            if error is None:
                yield document
            else:
                problems(_problem(document, error))

    def _unreadable(self, text: str, scripts: Collection[str | None]) -> ModelError | None:
        script, known = main_script(text), ", ".join(self.languages)
        if script is not None and script not in scripts:
            return ModelError("other-script", script=script, known=known)
        language = foreign_language(text, self.languages) if script == "Latin" else None
        if language is not None:
            return ModelError("foreign-text", language=NAMES[language], known=known)
        return None

    # --- what is known of the models -----------------------------------------------------------

    def __repr__(self) -> str:
        reads = f" ({', '.join(self.languages)})" if self.languages else ""
        needs, adds = self.role.needs or ("text",), self.role.adds
        kept = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"<Pipeline {self.name}{reads}: {', '.join(needs)} -> {', '.join(adds)}{kept}>"

    @property
    def model(self) -> Any:
        """The model, where there is one only."""
        first = self.steps[0].component
        count = len(first.models) if isinstance(first, ByLanguage) else len(self.steps)
        if count > 1 or isinstance(first, ByLanguage):
            raise ModelError("several-models", Place(file=self.name), count=count)
        self.wake()
        return self.steps[0].component

    @property
    def task(self) -> str:
        """What is found: "relations" (of given entities), "mentions", "end-to-end", ..."""
        tasks = (task for task, role in ROLES.items() if role == self.role)
        return next(tasks, self.role.adds[-1])

    @property
    def relation_names(self) -> dict[str, str]:
        """What the relations are called in words, where the training data said so."""
        return {key: name for step in self.steps for key, name in step.relation_names.items()}

    @property
    def relations(self) -> list[KnownRelation]:
        """All relations that can be found with these settings."""
        pairs = {key: pair for step in self.steps for key, pair in step.type_pairs.items()}
        return list(self.schema.known(self._relations(), pairs))

    def _relations(self) -> dict[str, str]:
        names = self.relation_names  # of the data's relations; the models may know fewer
        return {key: names.get(key, key) for step in self.steps for key in step.relations}

    @property
    def version(self) -> str:
        """The models' names and a fingerprint of how they were made and of the user's settings."""
        made = [step.provenance for step in self.steps]
        content = [made[0] if len(made) == 1 else made, self.settings]
        known = json.dumps(content, sort_keys=True, default=str)
        return f"{self.name} {hashlib.sha256(known.encode()).hexdigest()[:8]}"

    @property
    def join_words(self) -> int:
        """Up to how many words the documents of a file were joined when the model was trained."""
        recipe = self.steps[0].provenance.get("recipe", {})
        return int(recipe.get("data", {}).get("join_words", 0))

    # --- storage -------------------------------------------------------------------------------

    def save_pretrained(self, directory: str | Path) -> None:
        self.model.save_pretrained(directory)

    def push_to_hub(self, repository: str, **options: Any) -> str:
        return str(self.model.push_to_hub(repository, **options))


def _no_text(given: object) -> InputError:
    return InputError("not-a-text", kind=type(given).__name__)


def common_languages(steps: Iterable[Step]) -> tuple[str, ...]:
    """The languages that all read; empty where no training did say."""
    told = [tuple(step.provenance.get("languages", ())) for step in steps]
    said = [languages for languages in told if languages]
    common = tuple(one for one in said[0] if all(one in other for other in said)) if said else ()
    if said and not common:
        listed = "; ".join(", ".join(languages) for languages in said)
        raise ModelError("no-common-language", languages=listed)
    return common


def _flat(names: Sequence[str | Path | Sequence[str | Path]]) -> list[str | Path]:
    """The names, however they are given; the models that ship where none is."""
    lists = [[name] if isinstance(name, str | Path) else name for name in names]
    return [name for one in lists for name in one] or [DEFAULT_MODEL]


def _found_in(
    predict: Predict, batch: list[Document], problems: Callable[[Problem], object]
) -> list[Document]:
    """What is found in a batch; where that fails, in its parts, down to the document at fault."""
    try:
        return predict(batch)
    except Exception as error:
        failure = error
    if len(batch) == 1:
        problems(_problem(batch[0], failure))
        return []
    found = _found_in_halves(predict, batch, problems)
    if len(found) == len(batch):  # no document was at fault: memory, or a mistake of the model's
        detail = f"{type(failure).__name__}: {failure}"
        warnings.warn(
            f"{len(batch)} documents could not be read together, only in parts ({detail})",
            RuntimeWarning,
            stacklevel=2,
        )
    return found


def _found_in_halves(
    predict: Predict, batch: list[Document], problems: Callable[[Problem], object]
) -> list[Document]:
    middle = len(batch) // 2
    halves = (batch[:middle], batch[middle:])
    return [found for half in halves for found in _found_in(predict, half, problems)]


def _problem(document: Document, error: Exception) -> Problem:
    place = Place(file=document.source, document=document.id)
    if isinstance(error, FactloomError):
        part = dataclasses.replace(place, part=error.flaw.place.part)
        named: FactloomError = type(error)(dataclasses.replace(error.flaw, place=part))
    else:
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        named = ModelError("model-failed", place, detail=detail)
    named.__cause__ = error
    return Problem(named.flaw.place, named)
