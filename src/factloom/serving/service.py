"""What the routes share: the model, the store, the threads that work for them, and their end."""

import asyncio
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from factloom.errors import RequestError
from factloom.pipeline import Pipeline
from factloom.serving.batching import Batcher
from factloom.serving.metrics import Metrics
from factloom.serving.reading import reads_with
from factloom.serving.settings import ServiceSettings
from factloom.serving.workers import Turns, Workers

if TYPE_CHECKING:
    from factloom.serving.answering import Answering
    from factloom.serving.stored import ServedStore

_WARM = "Ada Lovelace was born in London."  # the first text takes longest: nobody should wait


class Service:
    """A model and, if there is one, a store, at the disposal of requests."""

    def __init__(
        self, pipeline: Pipeline, store: Path | None = None, settings: ServiceSettings | None = None
    ) -> None:
        self.pipeline = pipeline
        self.directory = None if store is None else store.resolve()
        self.settings = settings or ServiceSettings()
        self.metrics = Metrics()
        self.queries = Workers("queries", self.settings.queries, self.settings.waiting_queries)
        self.questions = Workers("questions", 1, self.settings.waiting_queries)
        self.uploads = Turns(
            "the reading of files", self.settings.queries, self.settings.waiting_queries
        )
        self._store: ServedStore | None = None

    @property
    def own_paths(self) -> tuple[str, ...]:
        """Paths that are not told to those who call."""
        named = (step.name for step in self.pipeline.steps if "/" in step.name)
        return (*(() if self.directory is None else (str(self.directory),)), *named)

    @property
    def store(self) -> "ServedStore":
        if self._store is None:
            raise RequestError("no-store-served")
        return self._store

    @cached_property
    def batcher(self) -> Batcher:
        return Batcher(reads_with(self.pipeline), self.settings, self.metrics)

    @cached_property
    def answering(self) -> "Answering":
        from factloom.serving.answering import Answering

        return Answering(self.store, self.settings)

    async def start(self) -> None:
        """Open the store, load the model, and begin to read."""
        if self.directory is not None:
            from factloom.serving.stored import ServedStore

            self._store = ServedStore(self.directory, self.settings)
        await asyncio.to_thread(self.pipeline, _WARM)
        self.batcher.start()
        self.metrics.gauge(
            "waiting_characters",
            "Characters of texts that wait for the model.",
            lambda: self.batcher.waiting,
        )

    async def close(self) -> None:
        """Finish what was accepted."""
        await self.batcher.close()
        self.queries.close()
        self.questions.close()
        if "answering" in vars(self):
            self.answering.close()
        if self._store is not None:
            self._store.close()

    @property
    def model_name(self) -> str:
        """What the models are called, wherever they lie."""
        return " + ".join(Path(step.name).name for step in self.pipeline.steps)


def service_of(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


Served = Annotated[Service, Depends(service_of)]


def _store_of(service: Served) -> None:
    _ = service.store  # an error where there is none


NEEDS_STORE = Depends(_store_of)
