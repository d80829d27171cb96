"""The documents of a recipe."""

from pathlib import Path

import pytest
from small_relations import changed

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError, RecipeError
from factloom.evaluation.facts import facts_of
from factloom.text.references import has_references
from factloom.training.corpus import hold_out, read_corpus
from factloom.training.provenance import provenance
from factloom.training.recipe import DataRecipe, Recipe
from factloom.training.run import train_recipe
from referring_documents import referring_documents


def test_documents_are_held_out_by_seed_and_keep_their_order(profiles: list[Document]) -> None:
    kept, held = hold_out(profiles, 0.25, seed=1)
    assert (len(kept), len(held)) == (6, 2)
    assert [document for document in profiles if document in kept] == kept
    assert [document for document in profiles if document in held] == held
    assert {document.id for document in kept + held} == {document.id for document in profiles}
    assert hold_out(profiles, 0.25, seed=1) == (kept, held)
    assert any(hold_out(profiles, 0.25, seed=seed)[1] != held for seed in range(2, 6))


@pytest.mark.parametrize("part", [0.01, 0.99])
def test_too_few_documents_to_hold_out_are_told(profiles: list[Document], part: float) -> None:
    with pytest.raises(RecipeError, match=f"8 documents .* {part}") as caught:
        hold_out(profiles, part, seed=1)
    assert caught.value.code == "too-few-documents"


def test_held_out_documents_are_not_trained_on(recipe: Recipe, profiles: list[Document]) -> None:
    held = changed(recipe, data={"development": [], "hold_out": 0.25})
    corpus = read_corpus(held)
    assert (len(corpus.train), len(corpus.development)) == (3, 1)
    assert corpus.development[0] not in corpus.train
    assert corpus.train_facts == facts_of(corpus.train)
    assert corpus.report == {recipe.data.report[0]: profiles[6:]}


def test_names_only_documents_are_trained_on_without_relations_and_never_measured_ones(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    other = profiles[0].replace(text=profiles[0].text.replace(".", "!"), id="other")
    formats.write([*profiles, other], tmp_path / "names.jsonl")
    names = changed(recipe, data={"names_only": [str(tmp_path / "names.jsonl")]})
    before, after = read_corpus(recipe), read_corpus(names)
    assert after.train[: len(before.train)] == before.train
    *_, added = after.train
    assert added == other.replace(relations=(), candidates=())
    assert len(after.train) == len(before.train) + 1
    assert after.train_facts == before.train_facts
    assert names.data.names_only[0] in provenance(names)["data_sha256"]


def test_train_facts_come_from_their_own_file_where_one_is_given(
    recipe: Recipe, tmp_path: Path
) -> None:
    path = tmp_path / "facts.json"
    path.write_text('[["Ada", "London", "P19"]]')
    corpus = read_corpus(changed(recipe, data={"train_facts": str(path)}))
    assert corpus.train_facts == {("Ada", "London", "P19")}


def test_documents_that_cannot_be_told_apart_are_found_before_training(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write([profiles[4], profiles[4]], tmp_path / "twice.jsonl")
    with pytest.raises(InputError) as caught:
        read_corpus(changed(recipe, data={"development": [str(tmp_path / "twice.jsonl")]}))
    assert caught.value.code == "duplicate-document"


def test_of_incomplete_documents_nothing_is_known_but_what_they_state(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    other = profiles[0].replace(text=profiles[0].text.replace(".", "!"), id="other")
    formats.write([*profiles, other], tmp_path / "incomplete.jsonl")
    partly = changed(recipe, data={"incomplete": [str(tmp_path / "incomplete.jsonl")]})
    *before, added = read_corpus(partly).train
    assert before == read_corpus(recipe).train
    assert added == other.replace(annotated=())
    assert partly.data.incomplete[0] in provenance(partly)["data_sha256"]


def test_pronouns_and_nominals_are_not_learned(recipe: Recipe, tmp_path: Path) -> None:
    loom = "=== a-1\n[Ada Brook|PER ada] left [Oslo|LOC oslo].\n{She|ada} was born there.\n--\n"
    loom += "ada | place of birth | oslo | 2\n"
    (tmp_path / "a.loom").write_text(loom, encoding="utf-8")
    corpus = read_corpus(changed(recipe, data={"train": [str(tmp_path / "a.loom")], "hold_out": 0}))
    (document,) = corpus.train
    assert [document.mention_text(index) for index in range(2)] == ["Ada Brook", "Oslo"]
    assert len(document.mentions) == 2
    assert [(r.head, r.tail, r.type) for r in document.relations] == [(0, 1, "P19")]


def test_a_relation_that_no_document_of_a_training_file_has_is_unknown_there_on_request(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    kind = profiles[0].relations[0].type
    few = [
        document.replace(relations=tuple(r for r in document.relations if r.type == kind))
        for document in profiles[:2]
    ]
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    formats.write(profiles[2:4], whole)
    formats.write(few, part)
    asked = changed(recipe, data={"train": [str(whole), str(part)], "relations_by_file": True})
    types = {relation.type for document in profiles[2:4] for relation in document.relations}
    assert [document.annotated for document in read_corpus(asked).train] == [
        tuple(sorted(types))
    ] * 2 + [(kind,)] * 2
    silent = changed(recipe, data={"train": [str(whole), str(part)]})
    assert [document.annotated for document in read_corpus(silent).train] == [None] * 4


def test_general_documents_are_mixed_in_and_held_out(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    lesson = profiles[0].replace(annotated=())
    formats.write([lesson], tmp_path / "lessons.jsonl")
    formats.write(profiles, tmp_path / "general.jsonl")
    data = {
        "train": [str(tmp_path / "lessons.jsonl")],
        "general": [str(tmp_path / "general.jsonl")],
        "general_documents": 4,
        "development": [],
        "hold_out": 0.25,
    }
    mixed = changed(recipe, data=data)
    corpus = read_corpus(mixed)
    assert corpus.train[0] == lesson
    assert (len(corpus.train), len(corpus.development)) == (4, 1)
    general = [*corpus.train[1:], *corpus.development]
    assert all(document in profiles[1:] for document in general)  # no text is there twice
    assert set(provenance(mixed)["data_sha256"]) >= {*data["train"], *data["general"]}
    assert read_corpus(mixed) == corpus


def test_lessons_are_read_several_times_beside_general_documents_of_unknown_relations(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    lessons = [document.replace(annotated=()) for document in profiles[:2]]
    formats.write(lessons, tmp_path / "lessons.jsonl")
    formats.write(profiles, tmp_path / "general.jsonl")
    data = {
        "train": [str(tmp_path / "lessons.jsonl")],
        "train_times": 3,
        "general": [str(tmp_path / "general.jsonl")],
        "general_documents": 4,
        "general_relations": "unknown",
        "development": [],
        "hold_out": 0.25,
    }
    corpus = read_corpus(changed(recipe, data=data))
    assert corpus.train[:6] == lessons * 3
    for document in corpus.train[6:]:
        [annotated] = [each for each in profiles if each.text == document.text]
        assert document == annotated.replace(relations=(), denied=(), annotated=())
    assert len(corpus.train) == 9
    assert all(document in profiles for document in corpus.development)  # as annotated


def test_scores_of_a_model_that_goes_on_are_not_fitted_to_general_documents(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write(profiles[:1], tmp_path / "mine.jsonl")
    formats.write(profiles[1:], tmp_path / "general.jsonl")
    data = {
        "train": [str(tmp_path / "mine.jsonl")],
        "general": [str(tmp_path / "general.jsonl")],
        "development": [],
        "hold_out": 0.5,
    }
    new = changed(recipe, data=data)
    goes_on = new.model_copy(update={"start": "factloom-en-small"})
    corpus = read_corpus(goes_on)
    assert corpus.development == read_corpus(new).development == read_corpus(new).fitting
    assert corpus.development
    assert corpus.fitting == []


def test_documents_are_read_again_with_other_names_and_in_parts_but_not_held_out_ones(
    recipe: Recipe, tmp_path: Path
) -> None:
    path = tmp_path / "letter.loom"
    path.write_text(
        "".join(
            f"=== letter-{number:03}\n"
            f"[Ada {name}|PER ada] left.\n[Bo {name}son|PER bo] came.\n"
            "[Ada|ada] met {him|bo}.\n"
            f"[Ada|ada] won.\n--\nada | child | bo | 2 3\n"
            for number, name in enumerate(["Brook", "Lind", "Marsh", "Tarn", "Vale"])
        ),
        encoding="utf-8",
    )
    data = {"train": [str(path)], "varied": [str(path)], "other_names": 2, "parts": 1}
    varied = recipe.model_copy(update={"data": DataRecipe(**data, hold_out=0.2)})
    corpus = read_corpus(varied)
    [held_out] = corpus.development
    ids = [document.id for document in corpus.train]
    assert not any(held_out.id in name for name in ids)
    assert sum("with other names" in name for name in ids) == 2 * 4
    assert sum("sentences" in name for name in ids) == 4


def test_documents_are_read_again_with_what_is_not_so(recipe: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "letter.loom"
    path.write_text(
        "=== letter-001\n[Ada Brook|PER ada] married [Bo Lind|PER bo].\n"
        "--\nada | spouse | bo | 1\n",
        encoding="utf-8",
    )
    data = {"train": [str(path)], "varied": [str(path)], "other_names": 0, "parts": 0, "turned": 3}
    corpus = read_corpus(recipe.model_copy(update={"data": DataRecipe(**data)}))
    plain, *turned = corpus.train
    assert plain.relations
    assert turned
    assert all(document.denied and not document.relations for document in turned)


def test_references_are_read_from_their_files_alone(recipe: Recipe, tmp_path: Path) -> None:
    letters = referring_documents(tmp_path)
    others = [letter.replace(text=letter.text.replace(".", "!")) for letter in letters]
    formats.write(others, tmp_path / "others.jsonl")
    formats.write([letters[2].named()], tmp_path / "dev.jsonl")  # as an earlier training wrote it
    data = {
        "train": [str(tmp_path / "letters.loom"), str(tmp_path / "others.jsonl")],
        "left_out": [str(tmp_path / "dev.jsonl")],
        "development": [str(tmp_path / "dev.jsonl")],
        "report": [str(tmp_path / "letters.loom")],
    }
    named = [document.named() for document in (*letters[:2], *others)]
    corpus = read_corpus(changed(recipe, data=data))
    assert corpus.train == named
    assert corpus.development == [letters[2].named()]
    with_them = changed(recipe, data={**data, "references": [str(tmp_path / "letters.loom")]})
    corpus = read_corpus(with_them)
    assert corpus.train == [*letters[:2], *named[2:]]
    assert corpus.development == letters[2:]
    assert list(corpus.report.values()) == [letters]
    assert set(provenance(with_them)["data_sha256"]) >= set(with_them.data.references)


def test_a_document_whose_names_have_changed_since_gets_no_references(
    recipe: Recipe, tmp_path: Path
) -> None:
    letters = referring_documents(tmp_path)
    older = letters[0].keeping(range(1, len(letters[0].mentions))).named()
    formats.write([older], tmp_path / "dev.jsonl")
    file = str(tmp_path / "letters.loom")
    data = {"train": [file], "references": [file], "development": [str(tmp_path / "dev.jsonl")]}
    assert read_corpus(changed(recipe, data=data)).development == [older]


def test_variants_have_the_references_whose_entity_they_name(
    recipe: Recipe, tmp_path: Path
) -> None:
    referring_documents(tmp_path)
    file = str(tmp_path / "letters.loom")
    data = {"train": [file], "varied": [file], "references": [file], "parts": 9, "turned": 3}
    chosen = changed(recipe, data={**data, "development": [], "hold_out": 0.34})
    plain = changed(chosen, data={"references": []})
    variants, without = (read_corpus(each).train[2:] for each in (chosen, plain))
    assert [document.named() for document in variants] == without
    assert {part for one in variants if has_references(one) for part in one.id.split()} >= {
        "names",
        "sentences",
    }
    assert not any(has_references(document) for document in variants if "turned" in document.id)
    for document in variants:
        for entity in document.entities:
            assert "name" in {document.mentions[index].kind for index in entity.mentions}


def test_only_models_of_raw_text_learn_references(recipe: Recipe, tmp_path: Path) -> None:
    wrong = changed(recipe, data={"references": recipe.data.train})
    with pytest.raises(RecipeError, match="references") as caught:
        train_recipe(wrong, tmp_path / "run")
    assert caught.value.code == "cannot-resolve"
