"""Documents of corpora that mark nothing but arguments of facts, with all their other names.

Where only arguments are marked, a model of names would learn that all others are none. Here the
names and entities that a model finds are joined with the arguments, by these rules:

    an argument takes the place of the names that it overlaps, unless it lies within a name of
        another type (the London of London Business School) or lists names (Thirsk and Malton)
    an argument of unknown type has that of the name it overlaps
    its entity is that of the names it overlaps, of its type, and of all names spelled like it; two
        arguments that the corpus tells apart, by identifiers or a fact of both, stay two
    a pronoun or nominal stays with the entity that the corpus gives it

An argument that finds no place, or a pronoun that stands for no name, is dropped, and its facts
with it: what they say may hold of any entity of its type, so all pairs of these with the other end
are unknown, unless one of them has this fact. The evidence of a fact are the sentences that name
both ends.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from factloom.document import Document, Entity, Mention, Relation
from factloom.text.covered import Covered
from factloom.text.relation_closure import closed
from factloom.text.tags import UNKNOWN_TYPE

Node = tuple[str, int]  # an entity: the corpus's or the model's, by its number

_BETWEEN_LISTED = re.compile(r",|;|/|\b(?:and|or)\b")
_BLANK, _QUOTES = " \t\n", '"“”«»()[]'
_AROUND = f"{_BLANK}{_QUOTES}'‘’{{}}<>,;:™®"
_POSSESSIVE = re.compile(r"['’]s?$")
_SHORTEST_REPEAT = 3  # characters of a name that is looked for elsewhere in the text


@dataclass(frozen=True, slots=True)
class _Placed:
    """A mention with the entity that it belongs to."""

    mention: Mention
    node: Node


def with_whole_names(document: Document, found: Document) -> Document:
    """The document with what a model found in its text, and with the facts of its own arguments."""
    arguments = list(_arguments(document, found))
    pronouns = [mention for mention in document.mentions if mention.kind == "pronoun"]
    taken = [*(argument.mention for argument in arguments), *pronouns]
    covered = Covered((mention.start, mention.end) for mention in taken)
    names = [
        each
        for each in _mentions(found, "model")
        if not covered.touches(each.mention.start, each.mention.end)
    ]
    names += _repeats(document.text, arguments, names)
    entity_of = _joined(document, found, arguments, names)
    return closed(_assembled(document, [*arguments, *names], entity_of))


def _mentions(document: Document, side: str) -> Iterator[_Placed]:
    for number, entity in enumerate(document.entities):
        for index in entity.mentions:
            yield _Placed(document.mentions[index], (side, number))


def _arguments(document: Document, found: Document) -> Iterator[_Placed]:
    """The corpus's names that find a place, the longest first, with their types."""
    given = [each for each in _mentions(document, "corpus") if each.mention.kind == "name"]
    trimmed = [replace(each, mention=_trimmed(document.text, each.mention)) for each in given]
    taken: list[Mention] = []
    for each in sorted(trimmed, key=lambda each: _length(each.mention), reverse=True):
        mention = _fitting(document.text, each.mention, found.mentions)
        if mention is not None and not any(_overlap(mention, other) for other in taken):
            taken.append(mention)
            yield replace(each, mention=mention)


def _trimmed(text: str, mention: Mention) -> Mention:
    """The mention without signs that only stand around it: quotes, brackets and an 's."""
    words = text[mention.start : mention.end]
    bare = words.strip(_AROUND)
    if any(sign in bare for sign in _QUOTES):  # "Ted" Thorndike
        bare = words.strip(_BLANK)
    start = mention.start + words.find(bare)
    bare = _POSSESSIVE.sub("", bare)
    return replace(mention, start=start, end=start + len(bare), name=None) if bare else mention


def _fitting(text: str, argument: Mention, names: Iterable[Mention]) -> Mention | None:
    """The argument with its type; nothing if it is a list of names or only a part of one."""
    met = sorted((n for n in names if _overlap(argument, n)), key=lambda name: name.start)
    within = [n for n in met if argument.start <= n.start and n.end <= argument.end]
    gaps = [text[a.end : b.start] for a, b in itertools.pairwise(within)]
    if any(_BETWEEN_LISTED.search(gap) for gap in gaps):
        return None
    if argument.type == UNKNOWN_TYPE:
        return replace(argument, type=max(met, key=_length).type) if met else None
    part_of = [n for n in met if _length(n) > _length(argument) and n not in within]
    if any(n.type != argument.type for n in part_of if _holds(n, argument)):
        return None
    return argument


def _length(mention: Mention) -> int:
    return mention.end - mention.start


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end


def _holds(outer: Mention, inner: Mention) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _repeats(
    text: str, arguments: Sequence[_Placed], names: Sequence[_Placed]
) -> Iterator[_Placed]:
    """Where arguments stand once more in the text, and neither corpus nor model marks them."""
    taken = [each.mention for each in (*arguments, *names)]
    for each in arguments:
        words = text[each.mention.start : each.mention.end]
        if len(words) < _SHORTEST_REPEAT or each.mention.type in ("TIME", "NUM"):
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", text):
            again = replace(each.mention, start=match.start(), end=match.end())
            if not any(_overlap(again, other) for other in taken):
                taken.append(again)
                yield replace(each, mention=again)


def _joined(
    document: Document, found: Document, arguments: Sequence[_Placed], names: Sequence[_Placed]
) -> dict[Node, frozenset[Node]]:
    """What each entity of the corpus and of the model is the same as."""
    nodes = [
        *(("corpus", number) for number in range(len(document.entities))),
        *(("model", number) for number in range(len(found.entities))),
    ]
    group = {node: frozenset([node]) for node in nodes}
    apart = set(_told_apart(document))
    for one, other in _links(document.text, found, arguments, names):
        both = group[one] | group[other]
        own = [number for side, number in both if side == "corpus"]
        if not any((a, b) in apart for a in own for b in own):
            group |= dict.fromkeys(both, both)
    return group


def _told_apart(document: Document) -> Iterator[tuple[int, int]]:
    """Entities that have two identifiers, or of which something is said together."""
    for one, first in enumerate(document.entities):
        for other, second in enumerate(document.entities):
            if first.id and second.id and first.id != second.id:
                yield one, other
    for fact in (*document.relations, *document.denied):
        yield fact.head, fact.tail
    yield from document.unknown


def _links(
    text: str, found: Document, arguments: Sequence[_Placed], names: Sequence[_Placed]
) -> Iterator[tuple[Node, Node]]:
    """Entities that are likely to be one: at one place in the text, or of one name."""
    for argument in arguments:
        for name in _mentions(found, "model"):
            same_type = name.mention.type == argument.mention.type
            if same_type and _overlap(name.mention, argument.mention):
                yield argument.node, name.node
    first: dict[tuple[str, str], Node] = {}
    for each in (*arguments, *names):
        spelled = text[each.mention.start : each.mention.end], each.mention.type
        yield first.setdefault(spelled, each.node), each.node


def _assembled(
    document: Document, names: Sequence[_Placed], group: dict[Node, frozenset[Node]]
) -> Document:
    """One document of the names and what is said of their entities."""
    named = {group[each.node] for each in names}
    covered = Covered((each.mention.start, each.mention.end) for each in names)
    others = [
        each
        for each in _mentions(document, "corpus")
        if each.mention.kind != "name"
        and group[each.node] in named
        and not covered.touches(each.mention.start, each.mention.end)
    ]
    placed = sorted((*names, *others), key=lambda each: (each.mention.start, each.mention.end))
    mentions: defaultdict[frozenset[Node], list[int]] = defaultdict(list)
    for index, each in enumerate(placed):
        mentions[group[each.node]].append(index)
    whole = document.without_relations().replace(
        mentions=tuple(each.mention for each in placed),
        entities=tuple(
            Entity(tuple(own), _type(placed, own), _identifier(document, nodes))
            for nodes, own in mentions.items()
        ),
        candidates=None,
    )
    number = {node: place for place, nodes in enumerate(mentions) for node in nodes}
    kept = {old: place for (side, old), place in number.items() if side == "corpus"}
    return _with_facts(document, whole, kept)


def _type(placed: Sequence[_Placed], own: Sequence[int]) -> str:
    """The corpus's type of an entity, else that of its first name."""
    first = min(own, key=lambda index: (placed[index].node[0] != "corpus", index))
    return placed[first].mention.type


def _identifier(document: Document, nodes: Iterable[Node]) -> str | None:
    given = (document.entities[number].id for side, number in nodes if side == "corpus")
    return next((identifier for identifier in given if identifier), None)


def _with_facts(document: Document, whole: Document, kept: dict[int, int]) -> Document:
    """The facts of entities that are kept; of the others it is unknown whose they are."""
    stated = _between(document.relations, whole, kept)
    known = {(fact.head, fact.tail, fact.type) for fact in stated}
    unknown: dict[tuple[int, int], None] = {}
    for fact in (*document.relations, *document.denied):
        if fact.head in kept and fact.tail in kept:
            continue
        pairs = list(_possible(document, whole, kept, (fact.head, fact.tail)))
        if not any((*pair, fact.type) in known for pair in pairs):
            unknown |= dict.fromkeys(pairs)
    for ends in document.unknown:
        unknown |= dict.fromkeys(_possible(document, whole, kept, ends))
    denied = [
        fact
        for fact in _between(document.denied, whole, kept)
        if (fact.head, fact.tail, fact.type) not in known
    ]
    return whole.replace(
        relations=tuple(stated),
        denied=tuple(denied),
        annotated=document.annotated,
        unknown=tuple(sorted(unknown)),
    )


def _between(facts: Iterable[Relation], whole: Document, kept: dict[int, int]) -> list[Relation]:
    """The facts of two entities that are kept, each once, with the sentences that name both."""
    found: dict[tuple[int, int, str], Relation] = {}
    for fact in facts:
        head, tail = kept.get(fact.head), kept.get(fact.tail)
        if head is None or tail is None or head == tail:
            continue
        both = whole.entity_sentences(head) & whole.entity_sentences(tail)
        evidence = tuple(sorted(both)) or fact.evidence
        found.setdefault(
            (head, tail, fact.type), replace(fact, head=head, tail=tail, evidence=evidence)
        )
    return list(found.values())


def _possible(
    document: Document, whole: Document, kept: dict[int, int], ends: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """The pairs that are meant: of an end that is not kept, all entities of its type."""
    for head in _meant(document, whole, kept, ends[0]):
        for tail in _meant(document, whole, kept, ends[1]):
            if head != tail:
                yield head, tail


def _meant(document: Document, whole: Document, kept: dict[int, int], entity: int) -> list[int]:
    if entity in kept:
        return [kept[entity]]
    type = document.entities[entity].type
    return [
        number for number, other in enumerate(whole.entities) if type in (UNKNOWN_TYPE, other.type)
    ]
