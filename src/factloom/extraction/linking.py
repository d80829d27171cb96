"""New documents meet what is known: their entities get identifiers before they are written.

    Linking(store=True)                 # what the store knows that they go into
    Linking(knowledge=Path("base"))     # a base, whose identifiers may be Wikidata's numbers

A base is asked first. Only what is sure enough to merge by becomes an identifier; the other
candidates stay with the entity.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from factloom.document import Document
from factloom.errors import InputError

if TYPE_CHECKING:
    from factloom.graph.store import Store

Link = Callable[[Document], Document]


@dataclass(frozen=True, slots=True)
class Linking:
    """What the entities of new documents are linked to."""

    knowledge: Path | None = None
    store: bool = False

    def __bool__(self) -> bool:
        return self.store or self.knowledge is not None

    def version(self, version: str) -> str:
        """Of the pipeline together with the links: what is read without them is read again."""
        asked = [str(self.knowledge)] * (self.knowledge is not None) + ["store"] * self.store
        return f"{version}, linked to {' and '.join(asked)}" if asked else version

    @contextmanager
    def opened(self, graph: "Store | None") -> Iterator[list[Link]]:
        """What links a document, one after the other."""
        if self.store and graph is None:
            raise InputError("link-without-store")
        steps: list[Link] = []
        with ExitStack() as stack:
            if self.knowledge is not None:
                from factloom.graph.judging import MERGED_FROM
                from factloom.knowledge.linking import Linker, LinkSettings
                from factloom.knowledge.opening import open_knowledge

                base = stack.enter_context(open_knowledge(self.knowledge))
                steps.append(Linker(base, settings=LinkSettings(least_score=MERGED_FROM)).link)
            if self.store and graph is not None:
                from factloom.knowledge.store_linker import StoreLinker

                steps.append(StoreLinker(graph).link)
            yield steps


def linked(documents: Iterable[Document], steps: Iterable[Link]) -> Iterator[Document]:
    """Each when it is asked for: when the store has those before it."""
    steps = list(steps)
    for document in documents:
        for step in steps:
            document = step(document)
        yield document
