"""From text, or documents, to documents with more in them: the way users meet a model."""

import dataclasses
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, Self, Unpack, overload

from factloom.document import Document
from factloom.errors import FactloomError, ModelError, Place
from factloom.formats.gathering import Problem
from factloom.schema import Schema, SchemaSettings, make_schema
from factloom.text.scripts import SCRIPTS, main_script
from factloom.text.sentences import find_sentences

Predict = Callable[[list[Document]], list[Document]]

DEFAULT_MODEL = "factloom-en-small"

# Documents that are read ahead and given to the model together, which sorts them by length.
BATCH_SIZE = 256


def raise_problem(problem: Problem) -> NoReturn:
    """What happens to the first problem where nobody asks to hear of it."""
    raise problem.error


class Pipeline:
    """A trained model: text or Documents in, Documents out.

    >>> pipeline = Pipeline.load("factloom-en-small", relations=["founded by"])  # doctest: +SKIP
    >>> pipeline("Ada Brook founded Quillmark in 1956.").relations  # doctest: +SKIP

    `settings` are those of `factloom.schema.SchemaSettings`: which of the relations that the
    model finds are kept.
    """

    def __init__(
        self, model: Any, *, name: str = "unnamed", **settings: Unpack[SchemaSettings]
    ) -> None:
        self.model = model
        self.name = name
        if settings and self.task == "mentions":
            raise ModelError("finds-no-relations", Place(file=name))
        self.settings = settings
        types = getattr(model, "types", ())  # a model of relations takes entities of any type
        self.schema: Schema = make_schema(self._relations(), types, **settings)

    @classmethod
    def load(cls, name: str | Path = DEFAULT_MODEL, **settings: Unpack[SchemaSettings]) -> Self:
        """The model that ships, or one by its directory or hub name."""
        from factloom.models import storage  # torch, which other models may do without

        return cls(storage.load(name), name=str(name), **settings)

    # --- extraction ----------------------------------------------------------------------------

    @overload
    def __call__(self, given: str) -> Document: ...  # type: ignore[overload-overlap] # str is iterable

    @overload
    def __call__(self, given: Iterable[Document | str]) -> list[Document]: ...

    def __call__(self, given: str | Iterable[Document | str]) -> Document | list[Document]:
        """A text as a Document, or all documents in their order, with what the model finds."""
        if isinstance(given, str):
            (found,) = self.stream([given])
            return found
        return list(self.stream(given))

    def stream(
        self,
        documents: Iterable[Document | str],
        *,
        batch_size: int = BATCH_SIZE,
        problems: Callable[[Problem], object] = raise_problem,
    ) -> Iterator[Document]:
        """The same one by one, in bounded memory, however many documents come.

        A document on which the model fails, or whose letters it never learned, is told to
        `problems`, and left out.
        """
        return self._ask(self.model.predict, documents, batch_size, problems)

    def _ask(
        self,
        predict: Predict,
        documents: Iterable[Document | str],
        batch_size: int = BATCH_SIZE,
        problems: Callable[[Problem], object] = raise_problem,
    ) -> Iterator[Document]:
        if batch_size < 1:
            raise ValueError(f"batch_size has to be at least 1, not {batch_size}")
        remaining = self._readable(map(self._document, documents), problems)
        while batch := list(islice(remaining, batch_size)):
            for found in _found_in(predict, batch, problems):
                yield self.schema.restrict(found)

    def relate(self, documents: Iterable[Document]) -> list[Document]:
        """Relations between the entities that the documents have already."""
        if self.task == "mentions":
            raise ModelError("finds-no-relations", Place(file=self.name))
        predict = self.model.relate if self.task == "end-to-end" else self.model.predict
        return [self.schema.restrict(document) for document in predict(list(documents))]

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

    def _document(self, given: Document | str) -> Document:
        if isinstance(given, Document):
            return given
        if self.task == "relations":
            raise ModelError("entities-needed", Place(file=self.name))
        return Document(text=given, sentences=find_sentences(given))

    def _readable(
        self, documents: Iterable[Document], problems: Callable[[Problem], object]
    ) -> Iterator[Document]:
        """Without documents in a script that no language of the model is written in."""
        scripts = {SCRIPTS.get(language) for language in self.languages}
        if not scripts or None in scripts:  # the model may read anything
            yield from documents
            return
        for document in documents:
            script = main_script(document.text)
            if script is None or script in scripts:
                yield document
            else:
                known = ", ".join(self.languages)
                error = ModelError("other-script", script=script, known=known)
                problems(_problem(document, error))

    # --- what is known of the model ------------------------------------------------------------

    @property
    def task(self) -> str:
        """What the model finds: "relations" (of given entities), "mentions", or "end-to-end"."""
        return str(self.model.task)

    @property
    def relation_names(self) -> dict[str, str]:
        """What the relations are called in words, where the training data said so."""
        return dict(getattr(self.model, "relation_names", {}))

    @property
    def version(self) -> str:
        """The model's name and a fingerprint of how it was made and of the user's settings."""
        known = json.dumps([self.model.provenance, self.settings], sort_keys=True, default=str)
        return f"{self.name} {hashlib.sha256(known.encode()).hexdigest()[:8]}"

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the model reads; empty where its training did not say."""
        return tuple(self.model.provenance.get("languages", ()))

    @property
    def join_words(self) -> int:
        """Up to how many words the documents of a file were joined when the model was trained."""
        return int(self.model.provenance.get("recipe", {}).get("data", {}).get("join_words", 0))

    def _relations(self) -> dict[str, str]:
        """All relations that the model can find, with their words or, without, their id."""
        names = self.relation_names  # of the data's relations; the model may know fewer
        return {key: names.get(key, key) for key in getattr(self.model, "relations", names)}

    # --- storage -------------------------------------------------------------------------------

    def save_pretrained(self, directory: str | Path) -> None:
        self.model.save_pretrained(directory)

    def push_to_hub(self, repository: str, **options: Any) -> str:
        return str(self.model.push_to_hub(repository, **options))


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
