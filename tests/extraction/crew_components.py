"""Components that processes of their own can import: what test_crew.py gives to workers."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import ModelError


class Noting:
    """Finds a person in every text, and notes who read it, in which company."""

    task = "end-to-end"
    relation_names = {"P19": "born in"}  # noqa: RUF012
    provenance: dict[str, object] = {}  # noqa: RUF012

    def predict(self, documents: list[Document]) -> list[Document]:
        company = [document.id for document in documents]
        return [_found(document, {"company": company}) for document in documents]


class Naming(Noting):
    """Notes the process and its threads."""

    def predict(self, documents: list[Document]) -> list[Document]:
        time.sleep(0.2)  # so that there is something left for others
        told = {"process": os.getpid(), "threads": os.environ.get("OMP_NUM_THREADS")}
        return [_found(document, told) for document in documents]


class DyingOnce(Noting):
    """The process is killed when it reads "killed", the first time."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "died"

    def predict(self, documents: list[Document]) -> list[Document]:
        if any("killed" in document.text for document in documents) and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().predict(documents)


class Dying(Noting):
    """The process is killed whenever it reads "killed"."""

    def predict(self, documents: list[Document]) -> list[Document]:
        if any("killed" in document.text for document in documents):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().predict(documents)


class LosingOnce(Noting):
    """Whoever began the process, a worker of Ray, is killed when it reads "lost", the first time.

    The process itself goes on, as it would when Ray takes a task for lost too early.
    """

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "lost"

    def predict(self, documents: list[Document]) -> list[Document]:
        if any("lost" in document.text for document in documents) and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getppid(), signal.SIGKILL)
        return super().predict(documents)


class Waiting(Noting):
    """Tells that it reads "waits", and waits until a mark is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def predict(self, documents: list[Document]) -> list[Document]:
        if any("waits" in document.text for document in documents):
            (self.folder / f"reading {os.getpid()}").touch()
            while not (self.folder / "go on").exists():
                time.sleep(0.05)
        return super().predict(documents)


class Exploding(Noting):
    def predict(self, documents: list[Document]) -> list[Document]:
        if any("explode" in document.text for document in documents):
            raise RuntimeError("boom")
        return super().predict(documents)


class Unloadable(Noting):
    """Cannot be made in another process."""

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return refuse, ()


class Deadly(Noting):
    """Ends the process that it is made in."""

    def __reduce__(self) -> tuple[Callable[[int], object], tuple[int]]:
        return os._exit, (7,)


class Slow(Noting):
    """Leaves the number of its process in a folder, and takes its time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def predict(self, documents: list[Document]) -> list[Document]:
        (self.folder / str(os.getpid())).touch()
        time.sleep(600)
        return documents


def refuse() -> None:
    raise ModelError("model-not-found", file="gone")


def _found(document: Document, told: dict[str, object]) -> Document:
    return document.replace(
        mentions=(Mention(0, 3, "PER", 0.5), Mention(4, 8, "LOC", 0.5)),
        entities=(Entity((0,), "PER", score=0.5), Entity((1,), "LOC", score=0.5)),
        relations=(Relation(0, 1, "P19", 0.5, provenance=told),),
    )
