"""Why a relation is believed, in words: the bridges that a reasoning model attended to."""

from collections.abc import Iterator, Mapping
from itertools import product

from factloom.document import Document, Relation

Triple = tuple[int, str, int]  # head, relation, tail


def explanations(
    document: Document, relation: Relation, names: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Sentences such as "(A, born in, B) and (B, located in, C) support (A, citizen of, C)".

    One for each bridge whose two premises are relations of the document too, the most attended
    first; `names` are the relations in words. Nothing comes out for models that do not reason.
    """
    conclusion = (relation.head, relation.type, relation.tail)
    for bridge in relation.provenance.get("bridges", ()):
        stated: dict[tuple[int, int], list[Triple]] = {}
        for head, kind, tail in bridge["premises"]:
            stated.setdefault((head, tail), []).append((head, kind, tail))
        if len(stated) == 2:
            for first, second in product(*stated.values()):
                parts = [_words(document, triple, names or {}) for triple in (first, second)]
                yield f"{' and '.join(parts)} support {_words(document, conclusion, names or {})}"


def _words(document: Document, triple: Triple, names: Mapping[str, str]) -> str:
    head, relation, tail = triple
    return f"({document.name(head)}, {names.get(relation, relation)}, {document.name(tail)})"
