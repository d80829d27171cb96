"""Which fact somebody means: a number in the last listing, an IRI, or head, relation and tail.

Whoever lists facts (`neighbours`, `conflicts`, `review`) numbers them, and the numbers are kept in
the store's directory until the next listing.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from factloom.errors import FactloomError, InputError
from factloom.files.output import write_pieces
from factloom.graph.facts import Connection
from factloom.graph.identifiers import DOCUMENT, document_iri
from factloom.graph.lookup import Lookup

_LISTING = "listing.json"
_SHOWN = 5  # facts that an error lists


def keep_listing(directory: Path | None, facts: Iterable[Connection]) -> None:
    """Remember facts by their numbers, from 1; not in a store that one may only read."""
    if directory is None:
        return
    with suppress(FactloomError, OSError):
        named = [fact.evidence[0].fact for fact in facts]
        write_pieces([json.dumps(named)], directory / _LISTING)


def find_fact(lookup: Lookup, words: Sequence[str], directory: Path | None) -> Connection:
    """The fact that is meant, with all documents that state it."""
    if len(words) == 3:
        return _by_names(lookup, *words)
    if len(words) != 1:
        raise InputError("fact-named-how", lookup.place, words=" ".join(words))
    if words[0].isdecimal():
        if directory is None:
            raise InputError("endpoint-without-listing", lookup.place, fact=words[0])
        statement = _listed(directory, words[0])
    else:
        statement = _address(words[0])
    found = None if statement is None else lookup.read_statement(statement)
    if found is None:
        raise InputError("unknown-fact", lookup.place, fact=words[0])
    return whole_fact(lookup, found)


def whole_fact(lookup: Lookup, fact: Connection) -> Connection:
    """A fact of one document with all other documents that state it, too."""
    triple = (fact.head.iri, fact.relation, fact.tail.iri)
    around = lookup.neighbours(fact.head, rejected=True)
    return next(each for each in around if _triple(each) == triple)


def _triple(fact: Connection) -> tuple[str, str, str]:
    return fact.head.iri, fact.relation, fact.tail.iri


def _by_names(lookup: Lookup, head: str, relation: str, tail: str) -> Connection:
    relations = lookup.relations_called(relation)
    heads = lookup.called(head) or [lookup.find(head)]
    tails = {thing.iri for thing in lookup.called(tail) or [lookup.find(tail)]}
    between = [
        fact
        for thing in heads
        for fact in lookup.neighbours(thing, rejected=True)
        if fact.head.iri == thing.iri and fact.tail.iri in tails
    ]
    found = [fact for fact in between if fact.relation in relations]
    if len(found) == 1:
        return found[0]
    shown = "; ".join(_in_words(lookup, fact) for fact in (found or between)[:_SHOWN]) or "none"
    code = "ambiguous-fact" if found else "no-such-fact"
    names = {"head": head, "relation": relation, "tail": tail}
    raise InputError(code, lookup.place, **names, facts=shown)


def _in_words(lookup: Lookup, fact: Connection) -> str:
    words = f"{fact.head.name}, {lookup.in_words(fact.relation)}, {fact.tail.name}"
    return f"{words} ({fact.evidence[0].fact})"


def _listed(directory: Path, number: str) -> str | None:
    try:
        found = json.loads((directory / _LISTING).read_text(encoding="utf-8"))
        return str(found[int(number) - 1]) if int(number) > 0 else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _address(text: str) -> str | None:
    """The IRI of a fact, which listings shorten to `ada.txt#fact=0`."""
    document, mark, fact = text.rpartition("#")
    if not mark:
        return None
    return text if text.startswith(DOCUMENT) else f"{document_iri(document)}#{fact}"
