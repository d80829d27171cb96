"""Which predicted names should join the dictionary, and what a person says about it.

A name is proposed if it is predicted often, and whenever it stands in the texts with the same
type. The proposals of a round are a table that a person may edit before the next round:

    decision  name             type  predicted  missed  example
    add       Peter Blackburn  PER   4          0       Peter Blackburn
    veto      Thursday         ORG   9          0       The European Commission said on Thursday ...

`add` may be changed to `veto`, a name or type may be mended, lines may be added. A line that is
removed counts as a veto.
"""

from codecs import BOM_UTF8
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from factloom.document import Document, Mention
from factloom.errors import InputError, Place
from factloom.files.report import raise_flaw
from factloom.files.source import Source
from factloom.text.dictionary import (
    Case,
    Dictionary,
    Entry,
    TypedName,
    TypedNames,
    headline,
    mark,
    spelling,
)

ADD, VETO = "add", "veto"
_COLUMNS = ("decision", "name", "type", "predicted", "missed", "example")
_EXAMPLE_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name that may join the dictionary."""

    name: str
    type: str
    predicted: int  # how often it is predicted with this type
    missed: int  # how often it is predicted with another type, or stands there unpredicted
    example: str = ""


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a person has let pass, and what not."""

    added: tuple[Entry, ...] = ()
    vetoed: frozenset[TypedName] = frozenset()


# --- proposals -------------------------------------------------------------------------------


def propose(
    predicted: Sequence[Document],
    dictionary: Dictionary,
    minimum_count: int,
    agreement: float,
    vetoed: Iterable[TypedName] = (),
) -> list[Proposal]:
    """Names that the dictionary lacks, the most frequent first.

    A name is predicted with its most frequent type at least `minimum_count` times, and these are
    at least the part `agreement` of all its predictions and of the places where it stands and
    nothing is predicted. Spellings that the dictionary takes for one name are counted together.
    """
    counted = _Counted(dictionary.case)
    for document in predicted:
        for mention in document.mentions:
            counted.add(document, mention)
    refused = TypedNames(vetoed, dictionary.case)
    candidates = [
        entry
        for entry in counted.names()
        if entry.frequency >= minimum_count
        and dictionary.entry_of(entry.name) is None
        and (entry.name, entry.type) not in refused
    ]
    passed_over = _unpredicted(predicted, Dictionary(candidates, dictionary.case))
    proposals = [counted.proposal(entry, passed_over) for entry in candidates]
    kept = [p for p in proposals if p.predicted >= agreement * (p.predicted + p.missed)]
    return sorted(kept, key=lambda p: (-p.predicted, p.name))


class _Counted:
    """How often each name is predicted with each type, and how it is spelt."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.types: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by spelling
        self.surfaces: defaultdict[str, Counter[str]] = defaultdict(Counter)  # likewise
        self.examples: dict[TypedName, str] = {}

    def add(self, document: Document, mention: Mention) -> None:
        name = _name(document, mention)
        key = spelling(name, self.case)
        self.types[key][mention.type] += 1
        self.surfaces[key][name] += 1
        if (key, mention.type) not in self.examples:
            self.examples[key, mention.type] = _example(document, mention)

    def names(self) -> Iterator[Entry]:
        """Each as it is written most often, with its most frequent type."""
        self._count_headlines_as_names()
        for key, types in self.types.items():
            kind, count = _most_frequent(types)
            yield Entry(_most_frequent(self.surfaces[key])[0], kind, count)

    def _count_headlines_as_names(self) -> None:
        """LONDON is one more London, if there is any."""
        if self.case != "headlines":
            return
        by_frequency = sorted(self.types, key=lambda key: (self.types[key].total(), key))
        written = {headline(key): key for key in by_frequency if headline(key) != key}
        for capitals in self.types.keys() & written.keys():
            key = written[capitals]
            for kind, count in self.types.pop(capitals).items():
                self.types[key][kind] += count
                self.examples.setdefault((key, kind), self.examples[capitals, kind])

    def proposal(self, entry: Entry, passed_over: Counter[str]) -> Proposal:
        key, count = spelling(entry.name, self.case), int(entry.frequency)
        missed = self.types[key].total() - count + passed_over[entry.name]
        return Proposal(entry.name, entry.type, count, missed, self.examples[key, entry.type])


def _most_frequent(counts: Counter[str]) -> tuple[str, int]:
    return min(counts.items(), key=lambda item: (-item[1], item[0]))


def _unpredicted(predicted: Sequence[Document], candidates: Dictionary) -> Counter[str]:
    """How often each candidate stands where no predicted mention is."""
    found: Counter[str] = Counter()
    for document in predicted:
        covered = [False] * len(document.text)
        for mention in document.mentions:
            covered[mention.start : mention.end] = [True] * (mention.end - mention.start)
        marked = mark(document, candidates)
        for mention in marked.mentions:
            entry = candidates.entry_of(document.text[mention.start : mention.end])
            if entry is not None and not any(covered[mention.start : mention.end]):
                found[entry.name] += 1
    return found


def _name(document: Document, mention: Mention) -> str:
    return " ".join(document.text[mention.start : mention.end].split())


def _example(document: Document, mention: Mention) -> str:
    """The sentence of the mention, cut around it if it is long."""
    sentence = document.sentence_at(mention.start)
    start, end = 0, len(document.text)
    if sentence is not None:
        start, end = document.sentences[sentence].start, document.sentences[sentence].end
    if mention.start - start > _EXAMPLE_LENGTH // 2:
        start = mention.start - _EXAMPLE_LENGTH // 2
        start = max(document.text.find(" ", start, mention.start), start)  # no half word in front
    return " ".join(document.text[start : min(end, start + _EXAMPLE_LENGTH)].split())


# --- tables that people edit -----------------------------------------------------------------


def table_of(proposals: Iterable[Proposal]) -> str:
    """The proposals as tab-separated lines, all of them to be added."""
    rows = [(ADD, p.name, p.type, str(p.predicted), str(p.missed), p.example) for p in proposals]
    return _tab_separated([_COLUMNS, *rows])


def table_of_entries(entries: Sequence[Entry]) -> str:
    """A dictionary as `read_dictionary` reads it."""
    # never with an exponent, which the reader would take for a type
    counts = (f"{entry.frequency:f}".rstrip("0").rstrip(".") for entry in entries)
    rows = [(e.name, e.type, count) for e, count in zip(entries, counts, strict=True)]
    return _tab_separated(rows)


def read_decisions(edited: Path, proposed: Path, case: Case = "exact") -> Decisions:
    """What has become of a table of proposals under a person's hands.

    A name that was only spelt in another way is neither gone nor new.
    """
    rows = _read_rows(edited)
    vetoed = {name for decision, name, _ in rows if decision == VETO}
    left = TypedNames((name for _, name, _ in rows), case)
    gone = {name for _, name, _ in _read_rows(proposed) if name not in left}
    out = TypedNames(vetoed, case)
    added = [
        Entry(*name, frequency)
        for decision, name, frequency in rows
        if decision == ADD and name not in out
    ]
    return Decisions(tuple(added), frozenset(vetoed | gone))


def _read_rows(path: Path) -> list[tuple[str, TypedName, float]]:
    """Decision, name with type, and count of each line; columns behind the type may be left out."""
    rows: list[tuple[str, TypedName, float]] = []
    if not path.read_bytes().removeprefix(BOM_UTF8).strip():
        return rows  # somebody has removed all lines, and the heading with them
    for number, line in Source(path).lines(raise_flaw):
        columns = [column.strip() for column in line.split("\t")]
        if not line.strip() or tuple(columns[:3]) == _COLUMNS[:3]:
            continue
        decision, name, kind, count, *_ = [*columns, "", "", "", ""]
        valid = decision in {ADD, VETO} and name and kind and (not count or count.isdecimal())
        if not valid:
            place = Place(file=str(path), line=number)
            raise InputError("not-a-decision", place, line=line.strip())
        rows.append((decision, (name, kind), float(count or 0)))
    return rows


def _tab_separated(rows: Iterable[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)
