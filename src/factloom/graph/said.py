"""How a document that is exported carries what people have said: as attributes of its parts."""

from factloom.document import Relation

DECISION = "decision"  # of a relation: accepted, corrected or rejected
CALLED, TYPED = "called", "typed"  # of an entity: the name and type that people gave it


def decision_of(relation: Relation) -> str:
    """What people have decided about a relation; nothing where they have not."""
    return str(relation.attributes.get(DECISION, ""))
