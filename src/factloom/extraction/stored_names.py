"""The ids under which documents from files go into a store.

The same file is the same document, from whichever folder and in whatever company it is read;
another file never takes its place. So a store knows documents by the whole path of their file. Only
what is new gets a new id: the short one that `gather` gives, or the path where another has that.

A file that has been moved, together with the store or alone, is known by its id and its text.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from factloom.document import Document
from factloom.errors import InputError

if TYPE_CHECKING:
    from factloom.formats.gathering import Gathered
    from factloom.graph.store import Store

READ_FROM = "read_from"  # the attribute for the file of a document that names another source


def with_stored_ids(gathered: Iterable["Gathered"], graph: "Store") -> Iterator[Document]:
    """The documents with the ids that they have, or get, in the store; each of them once."""
    names = _Names(graph)
    seen: set[str] = set()
    for found in gathered:
        full_name = _full_name(found)
        if full_name not in seen:  # a file may be named twice, and stand in a directory as well
            seen.add(full_name)
            yield _placed(found).replace(id=names.name(found, full_name))


class _Names:
    """The ids that are in the store, and those that were given before the store has them."""

    def __init__(self, graph: "Store") -> None:
        self.graph = graph
        self.given: set[str] = set()

    def name(self, found: "Gathered", full_name: str) -> str:
        chosen = self._known(found, full_name) or self._new(found, full_name)
        self.given.add(chosen)
        return chosen

    def _known(self, found: "Gathered", full_name: str) -> str | None:
        """The id that the store has for it, whatever other ids are free by now."""
        if found.whole_file and found.path is not None:
            return self.graph.document_from(found.path)
        there = self._stored(full_name) is not None
        return full_name if there and self._is_free(full_name, found) else None

    def _new(self, found: "Gathered", full_name: str) -> str:
        numbered = (f"{full_name} ({number})" for number in itertools.count(2))
        names = itertools.chain((found.document.id or full_name, full_name), numbered)
        return next(name for name in names if self._is_free(name, found))

    def _is_free(self, name: str, found: "Gathered") -> bool:
        """Whether nothing has that id but, perhaps, an older version of the same document."""
        if name in self.given:
            return False
        source = self.graph.source(name)
        if source is not None and source == found.path:
            return True
        stored = self._stored(name)
        return stored is None or _is_same(stored, found)

    def _stored(self, name: str) -> Document | None:
        try:
            return self.graph.document(name)
        except InputError:  # there is none
            return None


def _is_same(stored: Document, found: "Gathered") -> bool:
    """Whether a document of the same id is the one that is found: by its file, else by its text."""
    file = stored.attributes.get(READ_FROM, stored.attributes.get("source"))
    if found.path is not None and file == found.path:
        return True
    same_source = stored.attributes.get("source") == found.document.attributes.get("source")
    may_be = found.path is None or same_source or not _is_there(file)
    return may_be and stored.text == found.document.text


def _is_there(file: object) -> bool:
    """Whether it is a file of this machine; a path that is not whole may mean any."""
    try:
        return isinstance(file, str) and Path(file).is_absolute() and Path(file).is_file()
    except OSError:  # such as a folder that may not be looked into
        return False


def _full_name(found: "Gathered") -> str:
    """What nothing else is called: by the path of the file, or by the text where there is none."""
    document = found.document
    if found.path is None:
        content = document.text.encode("utf-8", "surrogatepass")
        return f"{document.id}-{hashlib.sha256(content).hexdigest()[:12]}"
    return found.path if found.whole_file else f"{found.path}#{document.id}"


def _placed(found: "Gathered") -> Document:
    """With the whole path of the file, as the source or beside the source that it names itself."""
    if found.path is None:
        return found.document
    attributes = found.document.attributes
    key = "source" if attributes.get("source") == found.given else READ_FROM
    return found.document.replace(attributes={**attributes, key: found.path})
