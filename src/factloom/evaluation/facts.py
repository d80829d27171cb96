"""Facts of the training set, which Ign F1 leaves out.

A fact is a triple of names and a relation. Every mention name of the head with every mention name
of the tail makes one, for each relation of a training document.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.evaluation.relations import Fact, facts_stated
from factloom.files.json_records import array_records
from factloom.files.source import Source

# A list whose first element is a list: no document format begins like this.
_LIST_OF_LISTS = re.compile(r"\s*\[\s*[\[\]]")


def facts_of(documents: Iterable[Document]) -> frozenset[Fact]:
    """The facts that the relations of the documents state."""
    return frozenset(
        fact
        for document in documents
        for relation in document.relations
        for fact in facts_stated(document, relation)
    )


def read_facts(path: str | Path) -> frozenset[Fact]:
    """The facts of a training file, or of a JSON list of [head name, tail name, relation]."""
    source = Source(Path(path))
    if _LIST_OF_LISTS.match(source.head()):
        facts = frozenset(_fact(place, record) for place, record in array_records(source))
    else:
        facts = facts_of(formats.read(path))
    if not facts:  # Ign F1 would silently be F1
        raise InputError("no-train-facts", source.place)
    return facts


def _fact(place: Place, record: object) -> Fact:
    match record:
        case [str(head), str(tail), str(relation)]:
            return head, tail, relation
    raise InputError("not-a-fact", place, record=f"{record!r:.80}")
