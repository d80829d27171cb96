"""The tasks: which measures belong to which, and what a document is without its labels."""

from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Question, Relation, Sentence
from factloom.errors import InputError, ModelError
from factloom.evaluation.relations import Counts
from factloom.evaluation.report import Report
from factloom.evaluation.tasks import TASKS, Answers, Task, task_of_documents


@pytest.fixture
def gold() -> Document:
    return Document(
        text="Ada was born in London .",
        id="ada",
        sentences=(Sentence(0, 24),),
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "born"),),
        candidates=((0, 1),),
    )


def test_training_watches_the_scores_of_its_task(gold: Document) -> None:
    half = gold.replace(mentions=gold.mentions[:1], entities=(), relations=(), candidates=None)
    mentions = TASKS["mentions"].scores([gold], Answers([half]))
    assert mentions["f1"] == pytest.approx(2 / 3)
    assert mentions["boundary_f1"] == pytest.approx(2 / 3)
    assert "nested_recall" not in mentions
    relations = TASKS["relations"].scores([gold], Answers([gold]))
    assert relations["f1"] == 1.0
    assert "ign_f1" not in relations
    seen = TASKS["relations"].scores([gold], Answers([gold]), {("Ada", "London", "born")})
    assert seen["ign_f1"] == 0.0


def test_nested_recall_is_watched_where_something_is_nested() -> None:
    nested = Document("abcd", "n", mentions=(Mention(0, 4, "A"), Mention(1, 2, "B")))
    found = nested.replace(mentions=nested.mentions[:1])
    assert TASKS["mentions"].scores([nested], Answers([found]))["nested_recall"] == 0.5


def test_a_document_without_labels_has_nothing_of_them_left(gold: Document) -> None:
    without = TASKS["mentions"].unlabelled(gold)
    assert without == Document(gold.text, gold.id, gold.sentences)
    assert TASKS["relations"].unlabelled(gold) == gold.replace(relations=())
    assert TASKS["end-to-end"].unlabelled(gold) == Document(gold.text, gold.id)


def test_the_less_confident_are_left_out(gold: Document) -> None:
    scored = gold.replace(
        mentions=(Mention(0, 3, "PER", 0.9), Mention(16, 22, "LOC", 0.4), Mention(4, 7, "X")),
        relations=(Relation(0, 1, "born", 0.2), Relation(1, 0, "born", 0.7)),
    )
    kept = TASKS["relations"].confident(scored, 0.5)
    assert [relation.score for relation in kept.relations] == [0.7]
    assert TASKS["end-to-end"].confident(scored, 0.5) == kept
    alone = scored.replace(entities=(), relations=(), candidates=None)
    assert [m.score for m in TASKS["mentions"].confident(alone, 0.4).mentions] == [0.9, 0.4, None]
    assert [m.score for m in TASKS["mentions"].confident(alone, 0.5).mentions] == [0.9, None]


@pytest.mark.parametrize(
    ("task", "to_be_found"), [("relations", 1), ("mentions", 2), ("end-to-end", 1)]
)
def test_a_file_of_predictions_measures_like_its_documents(
    gold: Document, task: str, to_be_found: int, tmp_path: Path
) -> None:
    predicted = gold.replace(relations=(Relation(0, 1, "born", 0.9), Relation(1, 0, "born", 0.8)))
    formats.write([predicted], tmp_path / "predicted.jsonl")
    by_documents = TASKS[task].measure([gold], Answers([predicted]), samples=10)
    by_file = TASKS[task].measure_file([gold], tmp_path / "predicted.jsonl", samples=10)
    assert by_file.numbers == by_documents.numbers
    assert by_file.picture == by_documents.picture
    assert by_documents.picture.gold == to_be_found
    assert by_documents.warnings == []


@pytest.mark.parametrize("task", TASKS)
def test_another_text_is_refused(gold: Document, task: str, tmp_path: Path) -> None:
    other = gold.replace(text=gold.text.replace("was", "is:"))
    formats.write([other], tmp_path / "predicted.jsonl")
    with pytest.raises(InputError) as raised:
        TASKS[task].measure_file([gold], tmp_path / "predicted.jsonl", samples=0)
    assert raised.value.code == "another-text"


# brat has no questions, and this gold no links
@pytest.mark.parametrize("task", sorted(TASKS.keys() - {"answers", "retrieval", "linking"}))
def test_predictions_may_be_a_folder_of_brat(gold: Document, task: str, tmp_path: Path) -> None:
    formats.write([gold, gold.replace(id="other")], tmp_path / "found", "brat")
    measured = TASKS[task].measure_file([gold], tmp_path / "found", samples=0)
    f1 = measured.numbers["relation_f1" if task == "end-to-end" else "f1"]
    assert f1 == pytest.approx(2 / 3)
    assert measured.warnings == ["predictions name documents that the gold does not have: 1"]


# Both names of the gold's text, then one of them: two documents that have no id.
WITHOUT_IDS = {
    "conll": "Ada B-PER\nwas O\nborn O\nin O\nLondon B-LOC\n. O\n\n"
    "Ada B-PER\nwas O\nborn O\nin O\nLondon O\n. O\n\n",
    "genia": '{"tokens": ["Ada", "was", "born", "in", "London", "."], "entity_mentions": '
    '[{"start": 0, "end": 1, "entity_type": "PER"}, '
    '{"start": 4, "end": 5, "entity_type": "LOC"}]}\n'
    '{"tokens": ["Ada", "was", "born", "in", "London", "."], "entity_mentions": '
    '[{"start": 0, "end": 1, "entity_type": "PER"}]}\n',
    "cluener": '{"text": "Ada was born in London .", "label": '
    '{"PER": {"Ada": [[0, 2]]}, "LOC": {"London": [[16, 21]]}}}\n'
    '{"text": "Ada was born in London .", "label": {"PER": {"Ada": [[0, 2]]}}}\n',
    "cmeee": '[{"text": "Ada was born in London .", "entities": '
    '[{"start_idx": 0, "end_idx": 2, "type": "PER"}, '
    '{"start_idx": 16, "end_idx": 21, "type": "LOC"}]}, '
    '{"text": "Ada was born in London .", "entities": '
    '[{"start_idx": 0, "end_idx": 2, "type": "PER"}]}]',
}


@pytest.mark.parametrize("format", WITHOUT_IDS)
def test_files_without_ids_are_matched_by_their_order(
    gold: Document, format: str, tmp_path: Path
) -> None:
    (tmp_path / "found").write_text(WITHOUT_IDS[format], encoding="utf-8")
    task, wanted = TASKS["mentions"], [gold, gold.replace(id="again")]
    measured = task.measure_file(wanted, tmp_path / "found", samples=0)
    assert (measured.numbers["precision"], measured.numbers["recall"]) == (1.0, 0.75)
    assert measured.warnings == []
    with pytest.raises(InputError) as raised:
        task.measure_file(wanted[:1], tmp_path / "found", samples=0)
    assert raised.value.code == "unmatched-number"


@pytest.mark.parametrize("task", [name for name, task in TASKS.items() if task.picture])
def test_a_picture_can_be_drawn_for_every_task_that_has_one(
    gold: Document, task: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    TASKS[task].measure([gold], Answers([gold]), samples=0).picture.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("task", TASKS)
def test_without_gold_no_task_has_a_measure(gold: Document, task: str) -> None:
    bare = gold.replace(mentions=(), entities=(), relations=(), candidates=None)
    measured = TASKS[task].measure([bare], Answers([bare]), samples=5)
    floats = [n for n in measured.numbers.values() if isinstance(n, float | list)]
    assert floats == []
    scores = TASKS[task].scores([bare], Answers([bare]))
    main = {"answers": ("f1",), "retrieval": ()}.get(task, ("f1", "precision", "recall"))
    assert scores == dict.fromkeys(main, 0.0)  # training needs them


def test_what_is_not_the_model_s_fault_is_said(gold: Document) -> None:
    bare = TASKS["mentions"].unlabelled(gold)
    elsewhere = gold.replace(id="elsewhere")
    warnings = TASKS["mentions"].measure([bare], Answers([elsewhere]), samples=0).warnings
    assert len(warnings) == 2
    assert "no mentions" in warnings[0]
    assert "1" in warnings[1]


def test_the_gold_tells_what_a_file_can_be_measured_on(gold: Document) -> None:
    assert task_of_documents([gold]) is TASKS["relations"]
    names = gold.replace(relations=())
    assert task_of_documents([names]) is TASKS["mentions"]
    assert task_of_documents([names.replace(questions=(Question("Who?"),))]) is TASKS["answers"]


class FakeModel:
    """Remembers what it was shown, and answers with what it was made with."""

    def __init__(self, task: str, predicted: Document, related: Document | None = None) -> None:
        self.task, self._predicted, self._related = task, predicted, related
        self.shown: list[Document] = []

    def predict(self, documents: list[Document]) -> list[Document]:
        self.shown += documents
        return [self._predicted]

    def relate(self, documents: list[Document]) -> list[Document]:
        assert self._related is not None, "only an end-to-end model relates"
        self.shown += documents
        return [self._related]


@pytest.fixture
def reader(gold: Document) -> FakeModel:
    """Finds everything but one of the two mentions in the text; then a wrong relation more."""
    half = gold.without_mentions().replace(
        mentions=gold.mentions[:1], entities=gold.entities[:1], sentences=()
    )
    both = gold.replace(relations=(Relation(0, 1, "born", 0.9), Relation(1, 0, "born", 0.8)))
    return FakeModel("end-to-end", half, both)


def test_an_end_to_end_model_sees_the_text_alone_and_then_the_entities(
    gold: Document, reader: FakeModel
) -> None:
    answers = TASKS["end-to-end"].ask(reader, [gold])
    assert reader.shown == [Document(gold.text, gold.id), gold.replace(relations=())]
    scores = TASKS["end-to-end"].scores([gold], answers, {("Ada", "London", "born")})
    assert scores["mention_f1"] == scores["entity_f1"] == pytest.approx(2 / 3)
    assert scores["f1"] == scores["ign_f1"] == 0.0
    assert scores["gold_entities_f1"] == pytest.approx(2 / 3)


def test_an_end_to_end_model_can_be_measured_step_by_step(
    gold: Document, reader: FakeModel
) -> None:
    relations = TASKS["relations"].ask(reader, [gold])
    assert TASKS["relations"].scores([gold], relations)["precision"] == 0.5
    mentions = TASKS["mentions"].ask(reader, [gold])
    assert TASKS["mentions"].scores([gold], mentions)["recall"] == 0.5
    assert reader.shown == [gold.replace(relations=()), gold.without_mentions()]


@pytest.mark.parametrize(
    ("of_model", "asked"),
    [
        ("relations", "mentions"),
        ("relations", "end-to-end"),
        ("mentions", "relations"),
        ("mentions", "end-to-end"),
    ],
)
def test_a_model_is_not_asked_for_what_it_cannot_find(
    gold: Document, of_model: str, asked: str
) -> None:
    with pytest.raises(ModelError, match=f"{of_model} cannot be measured on the task {asked}"):
        TASKS[asked].ask(FakeModel(of_model, gold), [gold])


def test_what_only_a_model_can_tell_is_left_open_for_a_file(gold: Document, tmp_path: Path) -> None:
    formats.write([gold], tmp_path / "predicted.jsonl")
    task = TASKS["end-to-end"]
    measured = task.measure_file([gold], tmp_path / "predicted.jsonl", samples=0)
    assert measured.numbers["relation_f1"] == 1.0
    assert measured.numbers["relation_f1_gold_entities"] is None
    assert "gold_entities_f1" not in task.scores([gold], Answers([gold]))


def loss_report(losses: list[float], _: int) -> Report:
    mean = sum(losses) / len(losses)
    return Report(
        documents=len(losses),
        unknown_documents=0,
        found={"documents": Counts(gold=len(losses))},
        rows=[],
        others={"loss": mean, "negative_loss": -mean},
        tallies={"loss": {"mean": f"{mean:.3f}"}},
    )


def test_a_task_may_have_answers_and_measures_of_another_kind(gold: Document) -> None:
    task = Task(
        name="loss",
        finds="documents",
        unlabelled=lambda document: document,
        asked={"loss": lambda _, documents: documents},
        asked_beside=lambda model, documents: [model.loss(document) for document in documents],
        compare=lambda _, answers, __: answers.beside,
        report=loss_report,
        watched={"score": "negative_loss"},
    )

    class Model:
        task = "loss"

        def loss(self, document: Document) -> float:
            return len(document.text) / 8

    answers = task.ask(Model(), [gold])
    assert task.scores([gold], answers) == {"score": -3.0}
    measured = task.measure([gold], answers)
    assert measured.numbers == {
        "documents": 1,
        "unknown_documents": 0,
        "loss": 3.0,
        "negative_loss": -3.0,
    }
    assert [column.header for column in measured.tables[1].columns] == ["loss", "value"]
    assert list(measured.tables[1].columns[1].cells) == ["3.000"]
    assert measured.picture is None
