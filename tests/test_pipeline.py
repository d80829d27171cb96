"""The pipeline as users meet it: text or documents in, documents out, in order, past bad ones."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import factloom
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import DocumentError, InputError, ModelError
from factloom.formats.gathering import Problem
from factloom.models import storage
from factloom.pipeline import Pipeline
from factloom.schema import read_schema_file


class Model:
    """Relates the first word to the last, and fails on documents that hold "bad"."""

    task = "end-to-end"

    def __init__(self, *languages: str) -> None:
        self.provenance = {"languages": list(languages)}
        self.relation_names = {"P19": "born in", "P17": "country"}
        self.batches: list[int] = []
        self.saved: list[Path | str] = []

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        asked = list(documents)
        self.batches.append(len(asked))
        return [found_in(document) for document in asked]

    def relate(self, documents: Iterable[Document]) -> list[Document]:
        return [
            document.replace(relations=(Relation(0, 1, "P17", score=0.8),))
            for document in documents
        ]

    def save_pretrained(self, directory: Path | str) -> None:
        self.saved.append(directory)

    def push_to_hub(self, repository: str, **options: object) -> str:
        return f"{repository} {options}"


def found_in(document: Document) -> Document:
    if "bad" in document.text:
        raise RuntimeError("no more\nthan this")
    if "flawed" in document.text:
        raise DocumentError("empty-entity")
    first, last = document.text.split()[0], document.text.split()[-1]
    end = len(document.text)
    return document.replace(
        mentions=(Mention(0, len(first), "PER"), Mention(end - len(last), end, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(
            Relation(0, 1, "P19", score=0.6, evidence=(0,) if document.sentences else ()),
            Relation(1, 0, "P17", score=0.3),
        ),
    )


class RelationModel(Model):
    task = "relations"


class MentionModel(Model):
    task = "mentions"


class DoubtingModel(MentionModel):
    def predict_sure(self, documents: list[Document], least: float) -> list[Document]:
        return [document.replace(mentions=(Mention(0, 1, f"{least}"),)) for document in documents]


def documents(*texts: str) -> list[Document]:
    return [Document(text, id=f"d{index}") for index, text in enumerate(texts)]


def counted(count: int) -> list[Document]:
    return documents(*(f"Ada {index}" for index in range(count)))


def test_a_text_gives_one_document_with_its_sentences() -> None:
    found = Pipeline(Model())("Ada was there. She left London")
    assert found.sentences == (Sentence(0, 14), Sentence(15, 30))
    assert [found.name(entity) for entity in (0, 1)] == ["Ada", "London"]
    assert found.relations[0] == Relation(0, 1, "P19", score=0.6, evidence=(0,))


def test_texts_and_documents_may_be_mixed_and_come_back_in_order() -> None:
    found = Pipeline(Model())(iter(["Ada Oslo", Document("Mara Torvik", id="x")]))
    assert [(document.id, document.text) for document in found] == [
        ("", "Ada Oslo"),
        ("x", "Mara Torvik"),
    ]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7])
def test_the_model_gets_batches_across_documents(count: int) -> None:
    model = Model()
    found = list(Pipeline(model).stream(counted(count), batch_size=3))
    assert [document.id for document in found] == [f"d{index}" for index in range(count)]
    assert model.batches == [3] * (count // 3) + [count % 3] * bool(count % 3)


def test_streaming_reads_no_further_ahead_than_a_batch() -> None:
    read = 0

    def endless() -> Iterator[Document]:
        nonlocal read
        while True:
            read += 1
            yield Document(f"Ada {read}")

    stream = Pipeline(Model()).stream(endless(), batch_size=3)
    assert next(stream).text == "Ada 1"
    assert read == 3
    assert [next(stream).text for _ in range(3)] == ["Ada 2", "Ada 3", "Ada 4"]
    assert read == 6


texts = st.lists(st.sampled_from(["Ada Oslo", "bad", "flawed", "Mara in Torvik"]), max_size=12)


@given(texts, st.integers(1, 13))
def test_bad_documents_are_left_out_and_told_whatever_the_batch_size(
    texts: list[str], batch_size: int
) -> None:
    problems: list[Problem] = []
    asked = documents(*texts)
    stream = Pipeline(Model()).stream(asked, batch_size=batch_size, problems=problems.append)
    good = [document for document in asked if document.text not in ("bad", "flawed")]
    assert list(stream) == [found_in(document) for document in good]
    told = [problem.place.document for problem in problems]
    assert told == [document.id for document in asked if document not in good]


class Overfilled(Model):
    """Has room for two documents at once."""

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        asked = list(documents)
        if len(asked) > 2:
            raise MemoryError("no room")
        return super().predict(asked)


def test_a_batch_that_is_read_in_parts_only_is_told() -> None:
    asked = documents("Ada Oslo", "Mara Torvik", "Ida Rome", "Per Bonn")
    problems: list[Problem] = []
    with pytest.warns(RuntimeWarning, match=r"4 documents .* in parts \(MemoryError: no room\)"):
        found = list(Pipeline(Overfilled()).stream(asked, problems=problems.append))
    assert found == [found_in(document) for document in asked]
    assert problems == []


def test_a_problem_has_place_and_reason() -> None:
    bad = Document("bad", id="d", attributes={"source": "texts/d.txt"})
    problems: list[Problem] = []
    stream = Pipeline(Model()).stream([bad, bad.replace(text="flawed")], problems=problems.append)
    assert list(stream) == []
    failed, flawed = (problem.error for problem in problems)
    assert str(failed).startswith(
        "texts/d.txt, document 'd': the model failed on this document: RuntimeError: no more than"
    )
    assert isinstance(failed.__cause__, RuntimeError)
    assert isinstance(flawed, DocumentError)
    assert str(flawed).startswith("texts/d.txt, document 'd': the entity has no mention")


@pytest.mark.parametrize(
    ("languages", "refused"),
    [
        (["en"], ["d1", "d2"]),
        (["zh"], ["d0", "d2"]),
        (["en", "zh"], ["d2"]),
        (["en", "fr"], []),  # of French nothing is known here
        ([], []),
    ],
)
def test_a_text_in_a_script_that_the_model_never_learned_is_told(
    languages: list[str], refused: list[str]
) -> None:
    problems: list[Problem] = []
    asked = documents("Ada lived in 杭州", "马云 出生于杭州", "Ада в Осло", "1931 1956")
    found = list(Pipeline(Model(*languages)).stream(asked, problems=problems.append))
    assert [problem.place.document for problem in problems] == refused
    assert [document.id for document in found] == sorted({"d0", "d1", "d2", "d3"} - set(refused))


def test_an_unknown_script_is_an_error_with_its_name() -> None:
    with pytest.raises(ModelError, match="the text is in Cyrillic letters, and this model reads"):
        Pipeline(Model("en", "zh"))("Ада в Осло")


def test_without_a_listener_the_document_at_fault_is_raised() -> None:
    with pytest.raises(ModelError, match=r"document 'd1': .* RuntimeError: no more than this"):
        Pipeline(Model())(documents("Ada Oslo", "bad", "Mara Torvik"))


def test_an_interruption_is_no_problem_of_a_document() -> None:
    class Interrupted(Model):
        def predict(self, documents: Iterable[Document]) -> list[Document]:  # noqa: ARG002
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Pipeline(Interrupted()).stream(counted(3), problems=lambda _: None))


def test_a_text_without_entities_is_an_error_for_a_model_of_relations() -> None:
    with pytest.raises(ModelError, match="factloom-en-small") as caught:
        Pipeline(RelationModel())("Ada was born in London.")
    assert caught.value.code == "entities-needed"


def test_settings_choose_the_relations_that_are_kept() -> None:
    pipeline = Pipeline(Model(), relations=["born_in"], minimum_score=0.5)
    assert [relation.type for relation in pipeline("Ada Oslo").relations] == ["P19"]
    none = Pipeline(Model(), thresholds={"born in": 0.61}, minimum_score=0.31)
    assert none("Ada Oslo").relations == ()


def test_relations_that_the_model_has_not_learned_are_unknown() -> None:
    model = Model()
    model.relations = ("P19", "P1")  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="unknown-relation"):
        Pipeline(model, relations=["country"])
    assert Pipeline(model, relations=["P1"]).schema.relations == {"P1"}


def test_type_constraints_are_checked_against_the_types_that_the_model_finds() -> None:
    model = Model()
    free = Pipeline(model, type_constraints={"P19": [("PERSON", "LOC")]})
    assert "P19" in free.schema.type_constraints
    model.types = ("PER", "LOC")  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="much like it: PER"):
        Pipeline(model, type_constraints={"P19": [("PERSON", "LOC")]})


def test_the_version_does_not_depend_on_where_the_settings_were_read(tmp_path: Path) -> None:
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text('relations = ["P19"]\n[thresholds]\nP19 = 0.5')
    given = Pipeline(Model(), relations=["P19"], thresholds={"P19": 0.5}).version
    for name in ("a.toml", "b.toml"):
        assert Pipeline(Model(), **read_schema_file(tmp_path / name)).version == given


def test_settings_for_relations_are_an_error_for_a_model_of_mentions() -> None:
    with pytest.raises(ModelError, match="finds-no-relations"):
        Pipeline(MentionModel(), minimum_score=0.5)
    with pytest.raises(ModelError, match="finds-no-relations"):
        Pipeline(MentionModel()).relate([])


def test_relating_keeps_the_entities_that_are_given() -> None:
    given = found_in(Document("Ada Oslo")).replace(relations=())
    (found,) = Pipeline(Model()).relate(iter([given]))
    assert found == given.replace(relations=(Relation(0, 1, "P17", score=0.8),))
    (found,) = Pipeline(RelationModel(), relations=["P19"]).relate([given])
    assert [relation.type for relation in found.relations] == ["P19"]


def test_saving_and_pushing_are_the_model_s() -> None:
    model = Model()
    pipeline = Pipeline(model)
    pipeline.save_pretrained("somewhere")
    assert model.saved == ["somewhere"]
    assert pipeline.push_to_hub("me/it", private=True) == "me/it {'private': True}"


def test_relation_names_cannot_be_changed_by_the_caller() -> None:
    pipeline = Pipeline(Model())
    pipeline.relation_names["P19"] = "other"
    assert pipeline.relation_names["P19"] == "born in"


def test_loading_by_name_gives_a_pipeline_of_that_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []
    monkeypatch.setattr(storage, "load", lambda name, _: asked.append(name) or Model())
    found = factloom.load(tmp_path, relations=["born in"])("Ada Oslo")
    assert [relation.type for relation in found.relations] == ["P19"]
    assert asked == [tmp_path]
    shipped = factloom.load()
    assert (shipped.name, shipped.languages[0]) == ("factloom-small", "en")
    assert asked == [tmp_path]  # what ships is loaded with the first text of its language
    with pytest.raises(ModelError, match="several-models"):
        _ = shipped.model


def test_a_model_is_asked_what_it_is_sure_of() -> None:
    for asked in (documents("Ada"), ["Ada"]):
        (found,) = Pipeline(DoubtingModel()).sure(iter(asked), 0.8)
        assert found.mentions == (Mention(0, 1, "0.8"),)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Pipeline(DoubtingModel()).sure(documents("Ada"), 5)


def test_what_the_model_cannot_read_it_is_not_asked_to_be_sure_of() -> None:
    with pytest.raises(ModelError, match="d0") as caught:
        Pipeline(DoubtingModel("en")).sure(documents("北京是中国的首都"), 0.8)
    assert caught.value.code == "other-script"


def test_a_model_that_cannot_tell_how_sure_it_is_says_so() -> None:
    with pytest.raises(ModelError) as caught:
        Pipeline(MentionModel(), name="mine").sure(documents("Ada"), 0.8)
    assert caught.value.code == "cannot-doubt"
    assert "mine" in str(caught.value)


def test_a_document_gives_one_document() -> None:
    found = Pipeline(Model())(Document("Ada Oslo", id="d"))
    assert (found.id, len(found.relations)) == ("d", 2)


@pytest.mark.parametrize("given", [None, 7, b"Ada", {"text": "Ada"}, [None], [["Ada"]]])
def test_what_is_no_text_is_told_with_what_would_be(given: Any) -> None:
    with pytest.raises(InputError, match=r"a text \(str\), a Document, or a list") as caught:
        Pipeline(Model())(given)
    assert caught.value.code == "not-a-text"


def test_facts_are_told_in_the_words_of_the_model() -> None:
    pipeline = Pipeline(Model())
    assert [fact[:4] for fact in pipeline.facts(pipeline("Ada Oslo"))] == [
        ("Ada", "born in", "Oslo", 0.6),
        ("Oslo", "country", "Ada", 0.3),
    ]


def test_a_pipeline_is_printed_for_people() -> None:
    pipeline = Pipeline(Model("en"), name="mine", minimum_score=0.5)
    assert repr(pipeline) == (
        "<Pipeline mine (en): text -> mentions, entities, relations, minimum_score=0.5>"
    )
    assert repr(Pipeline(RelationModel())) == "<Pipeline unnamed: entities -> relations>"


def test_the_device_is_where_the_models_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(_: str, device: str | None) -> Model:
        model = Model()
        model.device = device
        return model

    monkeypatch.setattr(storage, "load", loaded)
    assert factloom.load("a", device="meta").model.device == "meta"
    assert factloom.load("a").model.device is None


GERMAN = (
    "Mara wurde in einer kleinen Stadt im Norden geboren und ging nach der Schule in die "
    "Hauptstadt, wo sie als Ärztin an einem Krankenhaus war."
)


def test_a_text_in_another_language_of_the_same_letters_is_told() -> None:
    problems: list[Problem] = []
    asked = documents("Ada in Oslo", GERMAN, "Der Hund ist da")
    found = list(Pipeline(Model("en", "zh")).stream(asked, problems=problems.append))
    assert [document.id for document in found] == ["d0", "d2"]
    assert [problem.error.code for problem in problems] == ["foreign-text"]
    assert "document 'd1': the text seems to be German, and" in str(problems[0].error)


def test_any_language_is_read_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = documents(GERMAN, "Ада в Осло")
    assert len(Pipeline(Model("en"), any_language=True)(asked)) == 2
    monkeypatch.setattr(storage, "load", lambda *_: Model("en"))
    assert len(factloom.load("a", any_language=True)(asked)) == 2


def test_a_score_that_was_told_can_be_given_as_threshold() -> None:
    class Exact(Model):
        def relate(self, documents: Iterable[Document]) -> list[Document]:
            return self.predict(documents)

        def predict(self, documents: Iterable[Document]) -> list[Document]:
            relation = Relation(0, 1, "P19", score=0.6006)
            return [found_in(each).replace(relations=(relation,)) for each in documents]

    (told,) = Pipeline(Exact())("Ada Oslo").relations
    pipeline = Pipeline(Exact(), minimum_score=told.score)
    assert pipeline("Ada Oslo").relations == (told,)
    assert pipeline.relate([found_in(Document("Ada Oslo"))])[0].relations == (told,)
