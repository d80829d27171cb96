"""The rules of a corpus written by hand, each of which catches a slip of its writer.

A document that breaks one can be read all the same: `factloom data check` warns, and with
`--strict` counts it as an error.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from factloom.document import Document, Relation, Span
from factloom.errors import Flaw, Place, flaw
from factloom.formats.loom_markup import TYPES
from factloom.text.covered import Covered
from factloom.text.relation_names import RELATIONS

LENGTHS = range(20, 261)  # words; two Chinese characters count as one
_FATHER, _MOTHER = "P22", "P25"
_CHINESE = "\u3400-\u9fff\uf900-\ufaff"
_CHINESE_LETTER = re.compile(f"[{_CHINESE}]")
_WORD = re.compile(rf"[^\s{_CHINESE}]*[^\W_{_CHINESE}][^\s{_CHINESE}]*")
_ADDRESS = re.compile(r"\S*(?:@|://|www\.)\S*")
_SHORT_NUMBER = re.compile(r"\W*\d{1,3}\W*")


@dataclass(frozen=True, slots=True)
class LoomLines:
    """The lines of a file on which the parts of a document stand."""

    document: int
    sentences: Sequence[int]
    relations: Sequence[int]
    denied: Sequence[int]


def broken_rules(document: Document, nobody: Sequence[Span], lines: LoomLines) -> Iterator[Flaw]:
    """What a careful writer would mend; `nobody` are stretches that are marked as no name."""
    yield from _wrong_length(document, lines)
    yield from _unmarked_names(document, nobody, lines)
    facts = [
        *zip(lines.relations, document.relations, strict=True),
        *zip(lines.denied, document.denied, strict=True),
    ]
    for line, relation in facts:
        place = Place(line=line)
        yield from _unfit_ends(document, relation, place)
        yield from _silent_evidence(document, relation, place)
    yield from _parents_in_one(document, lines)


def _wrong_length(document: Document, lines: LoomLines) -> Iterator[Flaw]:
    words = len(_WORD.findall(document.text)) + len(_CHINESE_LETTER.findall(document.text)) // 2
    if words not in LENGTHS:
        limits = {"least": LENGTHS.start, "most": LENGTHS.stop - 1}
        yield flaw("unusual-length", Place(line=lines.document), words=words, **limits)


def _unmarked_names(document: Document, nobody: Sequence[Span], lines: LoomLines) -> Iterator[Flaw]:
    """A text that is marked as a name in one place, and stands elsewhere without any mark."""
    names = {
        document.mention_text(index)
        for index, mention in enumerate(document.mentions)
        if mention.kind == "name" and mention.type != "NUM"
    }
    names = {name for name in names if not _SHORT_NUMBER.fullmatch(name)}
    if not names:
        return
    addresses = (found.span() for found in _ADDRESS.finditer(document.text))
    marks = ((mention.start, mention.end) for mention in document.mentions)
    covered = Covered(chain(marks, nobody, addresses))
    longest_first = sorted(names, key=len, reverse=True)
    for found in re.finditer("|".join(map(_as_words, longest_first)), document.text):
        sentence = document.sentence_at(found.start())
        if not covered.touches(*found.span()) and sentence is not None:
            yield flaw("unmarked-name", Place(line=lines.sentences[sentence]), name=found[0])


def _as_words(name: str) -> str:
    """A pattern of the name as whole words; Chinese has no blanks between them.

    Of Smith-Jones neither Smith nor Jones is the name; but Oslo-based has Oslo in it.
    """
    before = "" if _CHINESE_LETTER.match(name[0]) else r"(?<!\w)(?<!\w-)"
    behind = "" if _CHINESE_LETTER.match(name[-1]) else r"(?!\w)(?!-[A-Z])"
    return before + re.escape(name) + behind


def _unfit_ends(document: Document, relation: Relation, place: Place) -> Iterator[Flaw]:
    known = RELATIONS[relation.type]
    ends = (("head", relation.head, known.heads), ("tail", relation.tail, known.tails))
    for role, entity, allowed in ends:
        type = document.entities[entity].type
        if type in TYPES and type not in allowed:
            values = {"role": role, "name": document.name(entity), "type": type}
            types = ", ".join(sorted(allowed))
            yield flaw("unfit-end", place, relation=known.name, allowed=types, **values)
    if relation.head == relation.tail:
        yield flaw("fact-about-itself", place, relation=known.name)


def _silent_evidence(document: Document, relation: Relation, place: Place) -> Iterator[Flaw]:
    for role, entity in (("head", relation.head), ("tail", relation.tail)):
        if relation.evidence and document.entity_sentences(entity).isdisjoint(relation.evidence):
            name = document.name(entity)
            yield flaw("silent-evidence", place, role=role, name=name)


def _parents_in_one(document: Document, lines: LoomLines) -> Iterator[Flaw]:
    fathers = {(r.head, r.tail) for r in document.relations if r.type == _FATHER}
    for line, relation in zip(lines.relations, document.relations, strict=True):
        if relation.type == _MOTHER and (relation.head, relation.tail) in fathers:
            name, child = document.name(relation.tail), document.name(relation.head)
            yield flaw("parents-in-one", Place(line=line), name=name, child=child)
