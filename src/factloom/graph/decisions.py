"""What a user has said about merges. It outlives documents, and follows what they speak of.

A decision is `<entity> owl:differentFrom <other>`; the first of the two is the one that was taken
out of its thing. An entity's IRI holds its longest name, which changes with the document. So the
document and the names of the time stand beside the decision, and tell which entity it is about
when the document comes again. What one entity leaves behind, others may inherit: `<correction>
fl:tellsApart "entity other"` says from which split a decision stems, so that all of them end when
it is undone.
"""

from collections.abc import Iterable, Iterator, Sequence, Set

from pyoxigraph import Literal, NamedNode, Quad

from factloom.graph.changes import Changes, text_of
from factloom.graph.identifiers import document_iri, document_of_entity
from factloom.graph.profiles import Profile
from factloom.graph.vocabulary import term

DECISIONS = NamedNode("urn:factloom:decisions")  # a graph

DIFFERENT_FROM = term("owl:differentFrom")
OF_DOCUMENT = term("fl:ofDocument")
KNOWN_BY = term("fl:knownBy")
TELLS_APART = term("fl:tellsApart")


class Decisions:
    """The decisions of a store as they are behind some changes that are being gathered."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes

    def told_apart(self, entity: str) -> Set[str]:
        """The entities that are said to be others."""
        return {_other_end(quad, entity) for quad in self._about(entity)}

    def all_told_apart(self) -> Iterator[tuple[str, str]]:
        """Every pair that is said to be different."""
        for quad in self.changes.match(None, DIFFERENT_FROM, None, DECISIONS):
            yield text_of(quad.subject), text_of(quad.object)

    def is_taken_out(self, entity: str) -> bool:
        """Whether it is the one that was taken out of its thing."""
        return any(self.changes.match(NamedNode(entity), DIFFERENT_FROM, None, DECISIONS))

    def tell_apart(self, entity: Profile, others: Iterable[Profile], split: str) -> None:
        """Keep that an entity is none of the others, as a split says."""
        self._remember(entity)
        for other in others:
            self._remember(other)
            self._decide(entity.iri, other.iri, {split})

    def take_back(self, entity: str) -> None:
        """Forget that an entity was taken out of its thing."""
        decisions = list(self.changes.match(NamedNode(entity), DIFFERENT_FROM, None, DECISIONS))
        for quad in decisions:
            pair = Literal(_pair(entity, text_of(quad.object)))
            self.changes.remove(self.changes.match(None, TELLS_APART, pair, DECISIONS))
        self._end(decisions)

    def take_back_split(self, split: str) -> set[str]:
        """Forget all that stems from a split alone; the entities that it had taken out."""
        said = list(self.changes.match(NamedNode(split), TELLS_APART, None, DECISIONS))
        self.changes.remove(said)
        pairs = [text_of(quad.object).split(" ") for quad in said]
        ended = [(left, right) for left, right in pairs if not self._splits(left, right)]
        self._end([_decision(left, right) for left, right in ended])
        return {left for left, _ in ended}

    def _end(self, decisions: Sequence[Quad]) -> None:
        self.changes.remove(decisions)
        for end in {text_of(end) for quad in decisions for end in (quad.subject, quad.object)}:
            if not any(self._about(end)):
                self._forget(end)

    def taken_out_of(self, members: Iterable[str]) -> Set[str]:
        """The entities that were taken out of a thing, and those of its own taken out of others."""
        return {text_of(quad.subject) for member in members for quad in self._about(member)}

    def pass_on(self, document: str, present: Set[str], coming: Sequence[Profile]) -> None:
        """Let decisions about entities that a document no longer has be about those in their place.

        `present` are all its entities now, `coming` those that are new or changed. What nothing
        takes the place of is kept for another time.
        """
        quads = self.changes.match(None, OF_DOCUMENT, _document_node(document), DECISIONS)
        decided = {text_of(quad.subject) for quad in quads}
        for entity in sorted(decided - present):
            names = self._known_by(entity)
            heirs = [profile for profile in coming if not names.isdisjoint(profile.known_by())]
            for heir in heirs:
                self._copy(self._about(entity), entity, heir)
            if heirs:
                self._forget(entity)
        for profile in coming:
            if profile.iri in decided:
                self._remember(profile)  # it may have got other names

    def hand_down(self, entity: str, rest: Sequence[Profile]) -> None:
        """Let what is left of a thing stay apart from what an entity that leaves it is not."""
        members = {profile.iri for profile in rest}
        told = [
            quad
            for quad in self._about(entity)
            if self.told_apart(_other_end(quad, entity)).isdisjoint(members)
        ]
        if told and rest:  # one of them is enough: the others are judged by it
            self._copy(told, entity, rest[0])

    def _copy(self, decisions: Iterable[Quad], entity: str, heir: Profile) -> None:
        """Let decisions about an entity be about another one too."""
        self._remember(heir)
        for quad in list(decisions):
            other = _other_end(quad, entity)
            if other == heir.iri:  # two names of a document that were apart have become one
                continue
            left, right = (
                (heir.iri, other) if text_of(quad.subject) == entity else (other, heir.iri)
            )
            ends = text_of(quad.subject), text_of(quad.object)
            self._decide(left, right, self._splits(*ends))

    def _decide(self, left: str, right: str, splits: Set[str]) -> None:
        self.changes.add(_decision(left, right))
        for split in splits:
            self._add(split, TELLS_APART, Literal(_pair(left, right)))

    def _splits(self, left: str, right: str) -> set[str]:
        """The splits that a decision stems from."""
        pair = Literal(_pair(left, right))
        quads = self.changes.match(None, TELLS_APART, pair, DECISIONS)
        return {text_of(quad.subject) for quad in quads}

    def _forget(self, entity: str) -> None:
        for quad in list(self._about(entity)):
            pair = Literal(_pair(text_of(quad.subject), text_of(quad.object)))
            self.changes.remove(self.changes.match(None, TELLS_APART, pair, DECISIONS))
            self.changes.remove([quad])
        self.changes.remove(self.changes.match(NamedNode(entity), None, None, DECISIONS))

    def _about(self, entity: str) -> Iterator[Quad]:
        node = NamedNode(entity)
        yield from self.changes.match(node, DIFFERENT_FROM, None, DECISIONS)
        yield from self.changes.match(None, DIFFERENT_FROM, node, DECISIONS)

    def _known_by(self, entity: str) -> Set[str]:
        quads = self.changes.match(NamedNode(entity), KNOWN_BY, None, DECISIONS)
        return {text_of(quad.object) for quad in quads}

    def _remember(self, entity: Profile) -> None:
        self.changes.add(of_document(entity.iri))
        for name in entity.known_by():
            self._add(entity.iri, KNOWN_BY, Literal(name))

    def _add(self, entity: str, predicate: NamedNode, object: NamedNode | Literal) -> None:
        self.changes.add(Quad(NamedNode(entity), predicate, object, DECISIONS))


def of_document(entity: str) -> Quad:
    """The document that a decision about an entity speaks of."""
    node = _document_node(document_of_entity(entity))
    return Quad(NamedNode(entity), OF_DOCUMENT, node, DECISIONS)


def _decision(left: str, right: str) -> Quad:
    return Quad(NamedNode(left), DIFFERENT_FROM, NamedNode(right), DECISIONS)


def _pair(left: str, right: str) -> str:
    return f"{left} {right}"  # an IRI has no spaces


def _document_node(document: str) -> NamedNode:
    return NamedNode(document_iri(document))


def _other_end(decision: Quad, entity: str) -> str:
    left, right = text_of(decision.subject), text_of(decision.object)
    return right if left == entity else left
