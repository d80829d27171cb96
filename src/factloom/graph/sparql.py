"""Queries in SPARQL before they are asked: what they may not hold, and errors that help."""

from dataclasses import dataclass
from itertools import pairwise

from factloom.errors import InputError
from factloom.graph.service_clauses import without_service
from factloom.graph.sparql_tokens import Token, tokens
from factloom.graph.vocabulary import PREFIXES

DEEPEST = 200  # brackets in brackets; a parser that calls itself for each would need a larger stack
LONGEST = 250_000  # characters

_UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH")
_PROLOGUE = ("PREFIX", "BASE")


@dataclass(frozen=True, slots=True)
class Question:
    """A query that may be asked."""

    sparql: str
    all_graphs: bool  # asked as one, because the query does not say which


def question(sparql: str, limit: int | None = None) -> Question:
    """A query that has been looked at; `limit` are the rows that are wanted at most."""
    if len(sparql) > LONGEST:
        raise InputError("query-long", length=len(sparql), longest=LONGEST)
    safe = without_service(sparql)
    found = _telling(safe)
    if any(token.depth >= DEEPEST for token in found if token.kind == "opening"):
        raise InputError("query-deep", deepest=DEEPEST)
    all_graphs = not any(token.is_word("FROM") for token in found)
    return Question(safe if limit is None else _limited(safe, found, limit), all_graphs)


def syntax_error(sparql: str, detail: str) -> InputError:
    """What is wrong with a query that cannot be read, in the words of whoever wrote it."""
    found = _telling(sparql)
    if not found:
        return InputError("query-empty")
    first = next((token for token in found if _starts_query(token)), None)
    if first is not None and first.is_word(*_UPDATES):
        return InputError("query-update", word=first.text.upper())
    unknown = _unknown_prefix(found)
    if unknown is not None:
        return InputError("query-prefix", prefix=unknown, known=" ".join(PREFIXES))
    return InputError("query-syntax", detail=detail)


def _telling(sparql: str) -> list[Token]:
    return [token for token in tokens(sparql) if token.kind not in ("space", "comment")]


def _limited(sparql: str, found: list[Token], limit: int) -> str:
    """The query with a LIMIT, or with a smaller one than it has."""
    outside = [token for token in found if token.depth == 0]
    for token, following in pairwise(outside):
        if token.is_word("LIMIT") and following.text.isdecimal():
            rows = min(limit, int(following.text))
            return f"{sparql[: following.start]}{rows}{sparql[following.end :]}"
    values = [token.start for token in outside if token.is_word("VALUES")]
    end = values[-1] if values else len(sparql)  # inline data stand behind all else
    return f"{sparql[:end]}\nLIMIT {limit}\n{sparql[end:]}"


def _starts_query(token: Token) -> bool:
    return token.kind == "word" and not token.is_word(*_PROLOGUE)


def _unknown_prefix(found: list[Token]) -> str | None:
    """A prefix that is used in the query, and neither declared in it nor known."""
    declared = {name.prefix for word, name in pairwise(found) if word.is_word("PREFIX")}
    known = {"_", *PREFIXES, *declared}
    used = (token.prefix for token in found if token.prefix is not None)
    return next((prefix for prefix in used if prefix not in known), None)
