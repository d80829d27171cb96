"""The tokens of a SPARQL query, by the terminals of its grammar.

https://www.w3.org/TR/sparql11-query/#sparqlGrammar

A parser may read `1<2&&3>2` as numbers and signs, or as a number, an IRI and a number: which one it
is depends on what stands around it, and tokens do not know. So nothing here guards anything: what
must not happen is looked for in the text as it stands (service_clauses.py), and what takes too much
is ended (asking.py).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LETTER = r"[^\W\d_]"
_NAME = r"[\w\u00b7\u0300-\u036f\u203f\u2040-]"  # PN_CHARS
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"  # PLX
_LOCAL = rf"(?:[\w:]|{_ESCAPED})(?:\.*(?:{_NAME}|:|{_ESCAPED}))*"  # no dot at the end
_ECHAR = r"""\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"""

_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
    | (?P<comment>\#[^\n\r]*)
    | (?P<iri><(?:[^\x00-\x20<>"{{}}|^`\\]|{_ECHAR})*>)
    | (?P<text>'''(?:'{{0,2}}(?:[^'\\]|{_ECHAR}))*''' | \"\"\"(?:"{{0,2}}(?:[^"\\]|{_ECHAR}))*\"\"\"
        | '(?:[^'\\\n\r]|{_ECHAR})*' | "(?:[^"\\\n\r]|{_ECHAR})*")
    | (?P<variable>[?$][\w\u00b7\u0300-\u036f\u203f\u2040]+)
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<name>(?P<prefix>{_LETTER}(?:\.*{_NAME})*|_)?:(?:{_LOCAL})?)  # and labels of blank nodes
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[A-Za-z]+)
    | (?P<opening>[{{(\[])
    | (?P<closing>[}})\]])
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of the query; its kind is the name of a group above."""

    kind: str
    text: str
    start: int
    depth: int  # how many brackets are open around it
    prefix: str | None  # of a name

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def is_word(self, *words: str) -> bool:
        """Whether it is one of some keywords, whatever its case."""
        return self.kind == "word" and self.text.upper() in words


def tokens(sparql: str) -> Iterator[Token]:
    """All of the query, white space and comments too, piece by piece.

    >>> [token.text for token in tokens("?s a e:b.c..SERVICE") if token.kind != "space"]
    ['?s', 'a', 'e:b.c..SERVICE']
    >>> [token.text for token in tokens("?s a e:.SERVICE") if token.kind != "space"]
    ['?s', 'a', 'e:', '.', 'SERVICE']
    """
    depth = 0
    for found in _TOKEN.finditer(sparql):
        kind = "name" if found["prefix"] is not None else str(found.lastgroup)
        depth -= kind == "closing"
        prefix = (found["prefix"] or "") if kind == "name" else None
        yield Token(kind, found[0], found.start(), depth, prefix)
        depth += kind == "opening"
