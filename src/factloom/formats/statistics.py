"""What a set of documents holds: counts, lengths and the distribution of its labels."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from factloom.document import Document
from factloom.reasoning_patterns import PATTERNS, patterns_of
from factloom.text.tokens import find_tokens


@dataclass(frozen=True, slots=True)
class Spread:
    """Smallest, middle, mean and largest of some numbers."""

    minimum: int
    median: float
    mean: float
    maximum: int

    @classmethod
    def of(cls, values: Sequence[int]) -> "Spread":
        if not values:
            return cls(0, 0.0, 0.0, 0)
        median, mean = statistics.median(values), statistics.fmean(values)
        return cls(min(values), float(median), mean, max(values))


@dataclass
class Statistics:
    """The measures of the documents that were added; `lengths` keep one number a thing."""

    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    lengths: dict[str, list[int]] = field(default_factory=dict)
    mention_types: Counter[str] = field(default_factory=Counter)
    entity_types: Counter[str] = field(default_factory=Counter)
    relation_types: Counter[str] = field(default_factory=Counter)
    mention_kinds: Counter[str] = field(default_factory=Counter)
    patterns: Counter[int] = field(default_factory=Counter)  # relations that each can derive

    def add(self, document: Document) -> None:
        self.documents += 1
        self.mention_types.update(mention.type for mention in document.mentions)
        self.mention_kinds.update(mention.kind for mention in document.mentions)
        self.entity_types.update(entity.type for entity in document.entities)
        self.relation_types.update(relation.type for relation in document.relations)
        # Where the source has no tokens they are found by rule, to have a length at all.
        tokens = document.tokens or find_tokens(document.text, 0, len(document.text))
        sizes = {
            "sentences": len(document.sentences),
            "tokens": len(tokens),
            "mentions": len(document.mentions),
            "entities": len(document.entities),
            "relations": len(document.relations),
        }
        if document.questions:  # most corpora have none at all
            answered = [question for question in document.questions if question.answers]
            sizes["questions"] = len(document.questions)
            self.counts["questions with an answer"] += len(answered)
        self.counts.update(sizes)
        for name, size in sizes.items():
            self._note(f"{name} a document", size)
        for sentence in document.sentences:
            words = sentence.tokens or find_tokens(document.text, sentence.start, sentence.end)
            self._note("tokens a sentence", len(words))
        for entity in document.entities:
            self._note("mentions an entity", len(entity.mentions))
        self._add_relations(document)

    def _add_relations(self, document: Document) -> None:
        entities = len(document.entities)
        all_pairs = entities * (entities - 1)
        pairs = all_pairs if document.candidates is None else len(document.candidates)
        related = {(relation.head, relation.tail) for relation in document.relations}
        self.counts.update({"pairs": pairs, "related pairs": len(related)})
        self.counts["denied relations"] += len(document.denied)
        self.counts["unknown pairs"] += len(document.unknown)
        self.counts["documents annotated for some relations"] += document.annotated is not None
        sentences = [document.entity_sentences(entity) for entity in range(entities)]
        for relation in document.relations:
            self._note("evidence sentences a relation", len(relation.evidence))
            self.counts["relations with evidence"] += bool(relation.evidence)
            together = bool(sentences[relation.head] & sentences[relation.tail])
            self.counts["intra-sentence relations"] += together
            self.counts["inter-sentence relations"] += not together
        for patterns in patterns_of(document).values():
            self.counts["derivable relations"] += bool(patterns)
            self.patterns.update(patterns)

    def _note(self, name: str, length: int) -> None:
        self.lengths.setdefault(name, []).append(length)

    @property
    def spreads(self) -> dict[str, Spread]:
        return {name: Spread.of(values) for name, values in self.lengths.items()}

    @property
    def shares(self) -> dict[str, float]:
        """Which part of all relations, or of all pairs, some of the counts are."""
        wholes = {
            "related pairs": "pairs",
            "relations with evidence": "relations",
            "intra-sentence relations": "relations",
            "inter-sentence relations": "relations",
            "derivable relations": "relations",
        }
        return {
            part: self.counts[part] / self.counts[whole]
            for part, whole in wholes.items()
            if self.counts[whole]
        }

    @property
    def coverage(self) -> dict[int, tuple[int, float]]:
        """How many relations each reasoning pattern can derive, and which part of all it is."""
        relations = self.counts["relations"] or 1
        return {
            pattern: (self.patterns[pattern], self.patterns[pattern] / relations)
            for pattern in PATTERNS
        }

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        return {
            "documents": self.documents,
            **{_key(name): count for name, count in self.counts.items()},
            "shares": {_key(name): share for name, share in self.shares.items()},
            "lengths": {
                _key(name): {
                    "min": spread.minimum,
                    "median": spread.median,
                    "mean": spread.mean,
                    "max": spread.maximum,
                }
                for name, spread in self.spreads.items()
            },
            "patterns": {
                str(pattern): {"relations": count, "share": share}
                for pattern, (count, share) in self.coverage.items()
            },
            "mention_types": dict(self.mention_types.most_common()),
            "mention_kinds": dict(self.mention_kinds.most_common()),
            "entity_types": dict(self.entity_types.most_common()),
            "relation_types": dict(self.relation_types.most_common()),
        }


def _key(name: str) -> str:
    return name.replace(" ", "_").replace("-", "_")


def measure(documents: Iterable[Document]) -> Statistics:
    """The statistics of all documents; only their lengths are held, not they themselves."""
    found = Statistics()
    for document in documents:
        found.add(document)
    return found
