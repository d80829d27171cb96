"""What follows by itself from stated relations: annotators need not write it down.

    >>> from factloom.document import Document, Entity, Mention, Relation
    >>> document = Document(
    ...     "Ada Brook",
    ...     mentions=(Mention(0, 3, "PER"), Mention(4, 9, "PER")),
    ...     entities=(Entity((0,), "PER"), Entity((1,), "PER")),
    ...     relations=(Relation(0, 1, "P26"),),
    ... )
    >>> [(relation.head, relation.type, relation.tail) for relation in closed(document).relations]
    [(0, 'P26', 1), (1, 'P26', 0)]

The rules hold for any reader of any text, and are few on purpose: a child is some parent's, but
whether that is its father or mother only the text can tell.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from factloom.document import Document, Relation
from factloom.text.relation_names import RELATION_NAMES, RELATIONS

Triple = tuple[int, str, int]  # head, relation, tail
Evidence = tuple[int, ...]

_LOCATED = "located in the administrative territorial entity"
_CONTAINS = "contains administrative territorial entity"

# (a, first, b) gives (b, second, a).
_TURNED = (
    ("father", "child"),
    ("mother", "child"),
    ("chief executive officer", "employer"),
    ("director / manager", "employer"),
)
# Those that hold back again.
_TURNED_BOTH_WAYS = (
    ("spouse", "spouse"),
    ("sibling", "sibling"),
    ("sister city", "sister city"),
    ("partnership with", "partnership with"),
    ("capital", "capital of"),
    (_LOCATED, _CONTAINS),
    ("follows", "followed by"),
    ("replaces", "replaced by"),
    ("subsidiary", "parent organization"),
    ("part of", "has part"),
    ("participant", "participant of"),
    ("manufacturer", "product or material produced"),
    ("characters", "present in work"),
)
# (a, first, b) and (b, second, c) give (a, third, c).
_CHAINED = (
    (_LOCATED, _LOCATED, _LOCATED),
    (_LOCATED, "country", "country"),
    ("headquarters location", "country", "country"),
)

_ID = {name: identifier for identifier, name in RELATION_NAMES.items()}
_INVERSES: defaultdict[str, set[str]] = defaultdict(set)
for _one, _other in (*_TURNED, *_TURNED_BOTH_WAYS, *((b, a) for a, b in _TURNED_BOTH_WAYS)):
    _INVERSES[_ID[_one]].add(_ID[_other])
_CHAINS: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
for _first, _second, _third in _CHAINED:
    _CHAINS[_ID[_first]].append((_ID[_second], _ID[_third]))


def closed(document: Document) -> Document:
    """The document with all that follows from its relations behind these, each with its premises.

    The evidence of what follows is that of its premises, of several ways the one with the fewest
    sentences. Nothing is added that is denied, that would join an entity with itself, or whose ends
    are of types that the relation does not take: what contains an office is no territory of it.
    """
    facts = {(r.head, r.type, r.tail): r.evidence for r in document.relations}
    barred = {(r.head, r.type, r.tail) for r in document.denied}
    added: dict[Triple, Relation] = {}
    while found := _new(document, facts, barred):
        added |= found
        facts |= {triple: relation.evidence for triple, relation in found.items()}
    return document.replace(relations=(*document.relations, *added.values()))


def _new(
    document: Document, facts: Mapping[Triple, Evidence], barred: set[Triple]
) -> dict[Triple, Relation]:
    """What follows in one step and is not known, in the order of its premises."""
    new: dict[Triple, Relation] = {}
    for triple, premises in _steps(facts):
        if triple in facts or triple in barred or not _fits(document, triple):
            continue
        evidence = tuple(sorted({sentence for one in premises for sentence in facts[one]}))
        known = new.get(triple)
        if known is None or len(evidence) < len(known.evidence):
            head, type, tail = triple
            provenance = {"premises": [list(one) for one in premises]}
            new[triple] = Relation(head, tail, type, evidence=evidence, provenance=provenance)
    return new


def _steps(facts: Mapping[Triple, Evidence]) -> Iterator[tuple[Triple, tuple[Triple, ...]]]:
    """Every conclusion with its premises."""
    from_head: defaultdict[tuple[int, str], list[Triple]] = defaultdict(list)
    for triple in facts:
        from_head[triple[:2]].append(triple)
    for triple in facts:
        head, type, tail = triple
        for inverse in sorted(_INVERSES.get(type, ())):
            yield (tail, inverse, head), (triple,)
        for second, third in _CHAINS.get(type, ()):
            for other in from_head.get((tail, second), ()):
                yield (head, third, other[2]), (triple, other)


def _fits(document: Document, triple: Triple) -> bool:
    head, type, tail = triple
    ends = document.entities[head].type, document.entities[tail].type
    known = RELATIONS[type]
    return head != tail and ends[0] in known.heads and ends[1] in known.tails
