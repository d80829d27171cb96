"""Knowledge from documents whose entities have identifiers: names with counts, contexts, facts.

Annotated documents say how often a name means what, which is the best prior there is, and how
often it means nothing that has an identifier. The sentences in which an entity is named describe
it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from factloom.document import Document
from factloom.graph.knowledge_base import KnownEntity, KnownFact

_SENTENCES = 3  # that describe an entity: the first ones that name it
_LONGEST = 300  # characters of each


@dataclass(slots=True)
class Annotated:
    """What documents say together."""

    names: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    types: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sentences: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    facts: dict[KnownFact, None] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)  # names of what has no identifier

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "Annotated":
        found = cls()
        for document in documents:
            found.add(document.named())
        return found

    def add(self, document: Document) -> None:
        for index, entity in enumerate(document.entities):
            names = [document.mention_name(mention) for mention in entity.mentions]
            if entity.id is None:
                self.unknown.update(names)
                continue
            self.names[entity.id].update(names)
            self.types[entity.id][entity.type] += 1
            kept = self.sentences[entity.id]
            for sentence in sorted(document.entity_sentences(index)):
                if len(kept) < _SENTENCES:
                    kept[document.sentence_text(sentence)[:_LONGEST]] = None
        ids = [entity.id for entity in document.entities]
        for relation in document.relations:
            head, tail = ids[relation.head], ids[relation.tail]
            if head is not None and tail is not None:
                self.facts[KnownFact(head, relation.type, tail)] = None

    def entities(self) -> Iterable[KnownEntity]:
        for id, names in self.names.items():
            (type, _), *_ = self.types[id].most_common(1)
            yield KnownEntity(id, dict(names.most_common()), type, " ".join(self.sentences[id]))
