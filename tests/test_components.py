"""What components need and add: chains are checked when they are made, and lose nothing."""

from typing import Any

import pytest

from factloom.components import KINDS, PARTS, Role, Step, chain, finders, lacking
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import ModelError
from factloom.models import storage
from factloom.pipeline import Pipeline

TEXT = "Ada took aspirin in Oslo"
ADA, ASPIRIN, OSLO = Mention(0, 3, "PER"), Mention(9, 16, "DRUG"), Mention(20, 24, "LOC")


class Names:
    """Finds its mentions, and nothing but them, in the one text."""

    task = "mentions"

    def __init__(self, *mentions: Mention, types: tuple[str, ...] = ()) -> None:
        self.mentions = mentions
        self.types = types or tuple(mention.type for mention in mentions)

    def predict(self, documents: list[Document]) -> list[Document]:
        return [
            document.without_mentions().replace(mentions=self.mentions) for document in documents
        ]


class Entities:
    """Takes each mention for an entity."""

    task = "entities"

    def predict(self, documents: list[Document]) -> list[Document]:
        return [
            document.replace(
                entities=tuple(Entity((i,), m.type) for i, m in enumerate(document.mentions)),
                relations=(),
            )
            for document in documents
        ]


class Relations:
    """Relates the first entity to the last."""

    task = "relations"

    def __init__(self, relation: str = "P1", score: float = 0.5) -> None:
        self.relations = (relation,)
        self.relation_names = {relation: f"name of {relation}"}
        self.score = score

    def predict(self, documents: list[Document]) -> list[Document]:
        return [
            document.replace(
                relations=(Relation(0, len(document.entities) - 1, self.relations[0], self.score),)
                if document.entities
                else ()
            )
            for document in documents
        ]


class Everything(Entities):
    task = "end-to-end"
    types = ("PER", "LOC")

    def predict(self, documents: list[Document]) -> list[Document]:
        return super().predict(Names(ADA, OSLO).predict(documents))


class Linker:
    """No model: gives every entity an identifier."""

    needs, adds = ("entities",), ("links",)

    def predict(self, documents: list[Document]) -> list[Document]:
        return [
            document.replace(
                entities=tuple(Entity(e.mentions, e.type, id="Q1") for e in document.entities)
            )
            for document in documents
        ]


def names(pipeline: Pipeline) -> list[str]:
    found = pipeline(TEXT)
    return [found.mention_text(index) for index in range(len(found.mentions))]


def test_models_of_one_task_each_find_everything_together() -> None:
    found = Pipeline([Names(ADA, OSLO), Entities(), Relations()])(TEXT)
    assert [entity.type for entity in found.entities] == ["PER", "LOC"]
    assert found.relations == (Relation(0, 1, "P1", 0.5),)


def test_a_chain_is_known_by_all_its_parts() -> None:
    first, second = Relations("P1"), Relations("P2")
    first.provenance = {"languages": ["en", "zh"]}  # type: ignore[attr-defined]
    second.provenance = {"languages": ["zh"]}  # type: ignore[attr-defined]
    pipeline = Pipeline([first, second], name=["one", "two"], thresholds={"name of P2": 0.4})
    assert pipeline.relation_names == {"P1": "name of P1", "P2": "name of P2"}
    assert pipeline.languages == ("zh",)
    assert pipeline.schema.thresholds == {"P2": 0.4}
    assert pipeline.version.startswith("one + two ")
    assert pipeline.version != Pipeline([second, first], name=["one", "two"]).version
    assert Pipeline([Names(ADA), Entities(), first]).task == "end-to-end"
    assert Pipeline([Entities(), first]).role == Role(("mentions",), ("entities", "relations"))
    with pytest.raises(ModelError, match="several-models"):
        _ = pipeline.model


def test_models_without_a_common_language_are_refused() -> None:
    first, second = Names(ADA), Entities()
    first.provenance = {"languages": ["en"]}  # type: ignore[attr-defined]
    second.provenance = {"languages": ["zh"]}  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="en; zh"):
        Pipeline([first, second])


def test_what_lacks_in_a_chain_is_told_with_the_models_that_would_find_it() -> None:
    with pytest.raises(ModelError, match=r"b: .* needs entities.*: coreference, joint\.") as caught:
        Pipeline([Names(ADA), Relations()], name=["a", "b"])
    assert caught.value.code == "component-lacks"


@pytest.mark.parametrize(
    "components",
    [
        [Entities(), Names(ADA)],
        [Relations(), Entities()],
        [Relations(), Everything()],
        [Everything(), Everything()],
    ],
)
def test_a_chain_in_which_something_found_would_be_lost_is_refused(components: list[Any]) -> None:
    with pytest.raises(ModelError, match="that first has found would be lost") as caught:
        Pipeline(components, name=["first", "second"])
    assert caught.value.code == "component-loses"


def test_an_empty_chain_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Pipeline([])


@pytest.mark.parametrize(
    ("component", "code"), [(Entities(), "mentions-needed"), (Relations(), "entities-needed")]
)
def test_a_text_is_an_error_where_more_is_needed(component: Any, code: str) -> None:
    pipeline = Pipeline(component)
    for given in (TEXT, [TEXT], [Document(TEXT)]):
        with pytest.raises(ModelError) as caught:
            pipeline(given)
        assert caught.value.code == code
        assert "joint" in str(caught.value)


def test_a_model_in_a_chain_may_find_nothing() -> None:
    pipeline = Pipeline([Names(types=("PER",)), Entities(), Relations()])
    assert pipeline(TEXT).mentions == ()


def test_a_model_of_names_keeps_those_of_other_types() -> None:
    assert names(Pipeline([Names(ADA, OSLO), Names(ASPIRIN)])) == ["Ada", "aspirin", "Oslo"]
    own_judgement = Names(types=("PER", "LOC"))
    assert names(Pipeline([Names(ADA, ASPIRIN), own_judgement])) == ["aspirin"]


def test_names_of_other_types_do_not_move_the_mentions_of_entities() -> None:
    found = Pipeline([Names(ASPIRIN), Everything()])(TEXT)
    assert [found.name(entity) for entity in (0, 1)] == ["Ada", "Oslo"]
    assert found.mentions[2] == ASPIRIN


def test_what_a_document_says_itself_is_not_seen_by_a_model_that_reads_text() -> None:
    given = Document(TEXT, mentions=(ASPIRIN,))
    (found,) = Pipeline(Names(ADA))([given])
    assert found.mentions == (ADA,)


def related(*relations: Relation) -> Document:
    entities = (Entity((0,), "PER"), Entity((1,), "LOC"))
    return Document(TEXT, mentions=(ADA, OSLO), entities=entities, relations=relations)


def test_relations_that_are_given_stay_where_others_are_asked_for() -> None:
    by_people, by_others = Relation(0, 1, "P1"), Relation(1, 0, "P9", 0.7)
    given = related(by_people, by_others, Relation(1, 0, "P1", 0.9))
    (found,) = Pipeline(Relations("P1")).relate([given])
    assert found.relations == (by_people, by_others), "the model takes back its own (1, 0)"


def test_a_model_that_reads_documents_does_not_see_their_relations() -> None:
    (found,) = Pipeline(Relations("P1"))([related(Relation(1, 0, "P1"), Relation(0, 1, "P9"))])
    assert found.relations == (Relation(0, 1, "P1", 0.5),)


def test_models_of_relations_add_to_each_other() -> None:
    (found,) = Pipeline([Relations("P1"), Relations("P2")])([related()])
    assert [relation.type for relation in found.relations] == ["P1", "P2"]


def test_relating_needs_entities() -> None:
    with pytest.raises(ModelError, match="entities-needed"):
        Pipeline(Relations()).relate([Document(TEXT)])


def test_anything_that_says_what_it_needs_and_adds_is_a_component() -> None:
    found = Pipeline([Everything(), Linker()])(TEXT)
    assert {entity.id for entity in found.entities} == {"Q1"}
    with pytest.raises(ModelError, match="component-lacks"):
        Pipeline([Names(ADA), Linker()])


def test_a_chain_needs_what_its_first_component_needs() -> None:
    assert chain([Step(Entities(), ""), Step(Relations(), "")]).needs == ("mentions",)
    assert lacking(Document(TEXT, mentions=(ADA,)), ("mentions", "entities")) == "entities"
    assert lacking(Document(TEXT), ("links",)) is None


def test_the_table_of_kinds_is_that_of_the_models() -> None:
    kinds = storage.model_kinds()
    assert {kind: storage.model_class(kind).task for kind in kinds} == KINDS
    assert all(finders(part) for part in PARTS)
