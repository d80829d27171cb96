"""The example documents are what their generator makes, sound, and fit to learn from."""

import importlib
import io
import json
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence

EXAMPLES = Path(__file__).parent.parent / "examples"
FILES = [EXAMPLES / f"profiles-{split}.jsonl" for split in ("train", "dev", "unseen")]


@pytest.fixture
def make_profiles(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("make_profiles")


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("demo")


def read(split: str) -> list[Document]:
    return list(formats.read(EXAMPLES / f"profiles-{split}.jsonl"))


def names(documents: list[Document]) -> set[str]:
    """All names but times, which every document takes from the same calendar."""
    return {
        name
        for document in documents
        for index, entity in enumerate(document.entities)
        if entity.type != "TIME"
        for name in document.names(index)
    }


def test_shipped_files_are_what_the_generator_makes(
    make_profiles: ModuleType, tmp_path: Path
) -> None:
    make_profiles.main(["--output", str(tmp_path)])
    for shipped in FILES:
        assert (tmp_path / shipped.name).read_bytes() == shipped.read_bytes(), shipped.name


def test_another_seed_makes_other_documents(make_profiles: ModuleType) -> None:
    first, second = (list(make_profiles.documents("dev", seed)) for seed in (1, 2))
    assert len(first) == len(second)
    assert not {document.text for document in first} & {document.text for document in second}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shipped_files_have_no_flaw(path: Path) -> None:
    assert list(formats.check(path)) == []


@pytest.mark.parametrize("split", ["train", "dev", "unseen"])
def test_mentions_are_whole_words_of_one_sentence_and_do_not_overlap(split: str) -> None:
    for document in read(split):
        last_end = 0
        for mention in document.mentions:
            around = document.text[max(mention.start - 1, 0) : mention.end + 1]
            inside = document.text[mention.start : mention.end]
            assert mention.start >= last_end
            assert document.sentence_at(mention.start) == document.sentence_at(mention.end - 1)
            assert not around.replace(inside, "", 1).strip(" .,()").isalnum(), around
            last_end = mention.end


@pytest.mark.parametrize("split", ["train", "dev"])
def test_evidence_names_both_ends_of_every_relation(split: str) -> None:
    for document in read(split):
        for relation in document.relations:
            for entity in (relation.head, relation.tail):
                assert document.entity_sentences(entity) & set(relation.evidence)


@pytest.mark.parametrize("split", ["train", "dev"])
def test_relations_are_named_and_every_kind_occurs(split: str) -> None:
    known = json.loads((EXAMPLES / "relations.json").read_text(encoding="utf-8"))
    used = {relation.type for document in read(split) for relation in document.relations}
    assert used == known.keys()


def test_some_relations_need_more_than_one_sentence() -> None:
    apart = [
        relation
        for document in read("train")
        for relation in document.relations
        if not document.entity_sentences(relation.head) & document.entity_sentences(relation.tail)
    ]
    assert len(apart) > 50


@pytest.mark.parametrize("types", [("PER", "LOC"), ("PER", "ORG"), ("PER", "PER"), ("ORG", "LOC")])
def test_entities_of_related_types_also_share_a_sentence_without_a_relation(
    types: tuple[str, str],
) -> None:
    unrelated = [
        pair
        for document in read("train")
        for pair in document.pairs()
        if tuple(document.entities[entity].type for entity in pair) == types
        and document.entity_sentences(pair[0]) & document.entity_sentences(pair[1])
        and not any({r.head, r.tail} == set(pair) for r in document.relations)
    ]
    assert len(unrelated) >= 10


def test_unseen_documents_have_no_relations_and_no_known_names() -> None:
    unseen = read("unseen")
    assert not any(document.relations for document in unseen)
    assert not names(unseen) & names(read("train"))
    assert not names(unseen) & names(read("dev"))


def test_demo_shows_a_relation_with_its_score_and_marked_evidence(demo: ModuleType) -> None:
    text = "Ada Lovelace lived long ago. Lovelace was born in London."
    document = Document(
        text=text,
        sentences=(Sentence(0, 28), Sentence(29, 57)),
        mentions=(Mention(0, 12, "PER"), Mention(29, 37, "PER"), Mention(50, 56, "LOC")),
        entities=(Entity((0, 1), "PER"), Entity((2,), "LOC")),
        relations=(Relation(head=0, tail=1, type="P19", score=0.973, evidence=(1,)),),
    )
    console = Console(record=True, width=100, file=io.StringIO())
    demo.show(document, {"P19": "was born in"}, console)
    shown = console.export_text()
    assert "Ada Lovelace -> was born in -> London  0.97" in shown
    assert "[1] Lovelace was born in London." in shown
    (line,) = demo.evidence(document, document.relations[0])
    marked = {line.plain[span.start : span.end] for span in line.spans}
    assert {"Lovelace", "London"} < marked


def test_demo_trains_a_model_and_reads_the_unseen_documents(
    demo: ModuleType,
    tiny_encoder_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo, "OUTPUT", tmp_path / "demo")
    demo.main(["--set", "training.epochs=1", "--set", f"encoder.name={tiny_encoder_path}"])
    shown = capsys.readouterr().out
    assert (tmp_path / "demo" / "best" / "config.json").is_file()
    for document in read("unseen"):
        assert document.id in shown
    assert "What to try next" in shown


def test_demo_says_that_nothing_was_found(demo: ModuleType) -> None:
    console = Console(record=True, file=io.StringIO())
    demo.show(Document(text="Rain."), {}, console)
    assert "no relations found" in console.export_text()
