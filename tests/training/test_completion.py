"""What models agree on is added to incomplete documents, what they doubt is unknown."""

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation
from factloom.models.relation_settings import RelationSettings
from factloom.training.completion import completed, doubting

ENTITIES = 3
cells = st.tuples(
    st.integers(0, ENTITIES - 1), st.integers(0, ENTITIES - 1), st.sampled_from("AB")
).filter(lambda cell: cell[0] != cell[1])


def document(relations: dict[tuple[int, int, str], float | None]) -> Document:
    return Document(
        "xyz",
        mentions=tuple(Mention(place, place + 1, "X") for place in range(ENTITIES)),
        entities=tuple(Entity((place,), "X") for place in range(ENTITIES)),
        relations=tuple(Relation(*cell, score) for cell, score in sorted(relations.items())),
    )


@given(
    st.dictionaries(cells, st.none()),
    st.sets(cells),
    st.lists(st.dictionaries(cells, st.floats(0.05, 1)), min_size=1, max_size=3),
)
def test_each_cell_is_as_the_rule_says(
    stated: dict[tuple[int, int, str], None],
    denied: set[tuple[int, int, str]],
    said: list[dict[tuple[int, int, str], float]],
) -> None:
    denied -= stated.keys()
    given_document = document(stated).replace(denied=tuple(Relation(*cell) for cell in denied))
    found = completed(given_document, [document(each) for each in said], sure=0.5)
    held = {(r.head, r.tail, r.type) for r in found.relations}
    for head in range(ENTITIES):
        for tail in range(ENTITIES):
            doubted = False
            for kind in "AB":
                cell = (head, tail, kind)
                scores = [each.get(cell, 0.0) for each in said]
                free = cell not in stated and cell not in denied
                assert (cell in held) == (cell in stated or (free and min(scores) >= 0.5))
                doubted |= free and min(scores) < 0.5 and max(scores) > 0
            assert ((head, tail) in found.unknown) == doubted
    assert found.denied == given_document.denied
    assert found.annotated is None


def test_what_is_added_has_evidence_and_no_score() -> None:
    sure, surer = document({(0, 1, "A"): 0.8}), document({(0, 1, "A"): 0.9})
    (relation,) = completed(document({}), [sure, surer], sure=0.7).relations
    assert relation == replace(surer.relations[0], score=None)


@pytest.mark.parametrize(("shift", "lowered"), [(0.5, 2.5), ("balanced", 2.0)])
def test_a_doubting_model_also_says_what_is_just_below_its_threshold(
    shift: float | Literal["balanced"], lowered: float
) -> None:
    class Model:
        settings = RelationSettings(threshold_shift=shift)

        def predict(self, _: list[Document]) -> list[float | str]:
            return [self.settings.threshold_shift]

    assert doubting(Model(), 2.0)([]) == [lowered]
