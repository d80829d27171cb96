"""Two documents that share a person, for tests of what is written from a graph."""

from factloom.document import Document, Entity, Mention, Relation, Sentence

RELATION_NAMES = {"P19": "place of birth", "P69": "educated at"}
MODEL = "tiny-model 3"


def document(
    identifier: str,
    text: str,
    names: dict[str, str],
    relations: tuple[tuple[str, str, str, float | None], ...] = (),
) -> Document:
    """One sentence whose entities are the first places of `names` (name: type) in the text."""
    order = list(names)
    starts = {name: text.index(name) for name in order}
    return Document(
        text=text,
        id=identifier,
        sentences=(Sentence(0, len(text)),),
        mentions=tuple(
            Mention(starts[name], starts[name] + len(name), names[name]) for name in order
        ),
        entities=tuple(Entity((index,), names[name]) for index, name in enumerate(order)),
        relations=tuple(
            Relation(order.index(head), order.index(tail), relation, score, evidence=(0,))
            for head, relation, tail, score in relations
        ),
    )


BIRTH = document(
    "birth.txt",
    "Mara Velden was born in Torvik.",
    {"Mara Velden": "PER", "Torvik": "LOC"},
    (("Mara Velden", "P19", "Torvik", 0.75),),
)
STUDIES = document(
    "studies.txt",
    'Mara Velden studied at "Halden; College".',
    {'"Halden; College"': "ORG", "Mara Velden": "PER"},
    (("Mara Velden", "P69", '"Halden; College"', None),),
)
