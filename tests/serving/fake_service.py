"""A service with a model that knows its facts by heart, in this process: no network, no weights."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from factloom.document import Document, Entity, Mention, Relation
from factloom.pipeline import Pipeline
from factloom.serving.app import make_app
from factloom.serving.guards import Access
from factloom.serving.service import Service
from factloom.serving.settings import ServiceSettings

TYPES = {"Ada Lovelace": "PER", "Mara Velden": "PER", "London": "LOC", "Torvik": "LOC"}
ADA = "Ada Lovelace was born in London. She wrote notes there."
MARA = "Mara Velden was born in Torvik."


class Knowing:
    """Finds the names that it knows; the first person was born in the first place.

    Of a text with the word "broken" it fails, and it keeps how many texts it was given at a time.
    """

    task = "end-to-end"
    types = ("LOC", "PER")
    relations = ("P19",)
    relation_names = {"P19": "place of birth"}  # noqa: RUF012
    provenance: dict[str, Any] = {"languages": ["en"]}  # noqa: RUF012

    def __init__(self) -> None:
        self.batches: list[int] = []

    def predict(self, documents: list[Document]) -> list[Document]:
        self.batches.append(len(documents))
        return [self._read(document) for document in documents]

    def _read(self, document: Document) -> Document:
        if "broken" in document.text:
            raise ValueError("a part is broken")
        found = re.finditer("|".join(TYPES), document.text)
        mentions = tuple(Mention(*name.span(), TYPES[name[0]], 0.9) for name in found)
        entities = tuple(Entity((n,), mention.type) for n, mention in enumerate(mentions))
        types = [entity.type for entity in entities]
        relations = ()
        if {"PER", "LOC"} <= set(types):
            ends = types.index("PER"), types.index("LOC")
            relations = (Relation(*ends, "P19", score=0.8, evidence=(0,)),)
        return document.replace(mentions=mentions, entities=entities, relations=relations)


@contextmanager
def running(
    store: Path | None = None,
    *,
    model: Any = None,
    access: Access | None = None,
    **settings: Any,
) -> Iterator[TestClient]:
    """A client of a service that is started, and ended behind it."""
    service = Service(Pipeline(model or Knowing()), store, ServiceSettings(**settings))
    with TestClient(make_app(service, access), "http://127.0.0.1") as client:
        yield client
