"""The example documents are what their generator makes, sound, and fit to learn from."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from factloom import formats
from factloom.document import Document

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


def test_demo_reads_the_texts_and_leaves_a_page_and_a_store(
    demo: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo.main(tmp_path / "demo")
    shown = capsys.readouterr().out
    assert "Marisol Devane" in shown
    assert "What to try next" in shown
    assert "factloom serve --store" in shown
    assert "http://127.0.0.1:8765" in shown
    page = (tmp_path / "demo" / "graph.html").read_text(encoding="utf-8")
    found = list(formats.read(tmp_path / "demo" / "found.jsonl"))
    assert len(found) == 10
    for document in found:
        assert document.entities
        assert document.relations
        assert document.id in page
    assert (tmp_path / "demo" / "graph").is_dir()
