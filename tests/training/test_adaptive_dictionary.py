"""The loop: what grows, what people veto, what a kill leaves."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_dictionary import WORDS, documents, small_recipe

from factloom.document import Document, Mention
from factloom.errors import InputError, RecipeError
from factloom.models.storage import load
from factloom.training import adaptive_dictionary, reporting
from factloom.training.adaptive_dictionary import AdaptiveDictionary, Round, word_shares
from factloom.training.corpus import recipe_dictionary
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe
from tiny_bert import save_tiny_bert

PROGRAM = Path(__file__).parent / "killed_adaptation.py"


# --- with real trainings ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("loop")
    encoder = save_tiny_bert(folder / "encoder", WORDS)
    loop = AdaptiveDictionary(small_recipe(folder, encoder), folder / "out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reporting, "draw_curves", lambda *_: None)
        return folder / "out", loop.run()


def test_the_dictionary_grows_until_nothing_is_new(finished: tuple[Path, dict[str, Any]]) -> None:
    output, results = finished
    names = [done["names"] for done in results["rounds"]]
    new = [done["new"] for done in results["rounds"]]
    assert (names[0], names[-1], new[-1]) == (4, 7, 0)
    assert [before + added for before, added in zip(names, new, strict=True)] == [*names[1:], 7]
    assert all(added > 0 for added in new[:-1])
    grown = (output / "dictionary.tsv").read_text(encoding="utf-8")
    assert {line.split("\t")[0] for line in grown.splitlines()} == {
        "Mara", "Tove", "Nils", "Olga", "Torvik", "Ashmere", "Halden"
    }  # fmt: skip


def test_the_last_round_s_model_is_the_result(finished: tuple[Path, dict[str, Any]]) -> None:
    output, results = finished
    weights = Path("best") / "model.safetensors"
    last = output / f"round-{len(results['rounds']):02d}"
    assert (output / weights).read_bytes() == (last / "training" / weights).read_bytes()
    assert json.loads((output / "results.json").read_text(encoding="utf-8")) == results
    found = load(output / "best").predict(documents())
    assert [len(document.mentions) for document in found] == [2] * 12
    assert results["development"]["f1"] == 1.0


def test_a_model_tells_the_dictionary_that_it_was_made_with(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    output, results = finished
    path = output / f"round-{len(results['rounds']):02d}" / "dictionary.tsv"
    made = load(output / "best").provenance
    assert made["recipe"]["dictionary"]["files"] == [str(path)]
    assert made["data_sha256"][str(path)] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert path.read_bytes() == (output / "dictionary.tsv").read_bytes()


def test_train_and_adapt_leave_each_other_s_results_alone(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    recipe = small_recipe(tmp_path, tmp_path / "encoder")
    training = finished[0] / "round-01" / "training"
    cleared = tmp_path / "cleared"  # checkpoints are large, and of no use any more
    shutil.copytree(training, cleared, ignore=shutil.ignore_patterns("checkpoints"))
    for resume in (False, True):
        with pytest.raises(InputError) as caught:
            train_recipe(recipe, finished[0], resume=resume)
        assert caught.value.code == "output-of-adapt"
        for folder in (training, cleared):
            with pytest.raises(InputError) as caught:
                AdaptiveDictionary(recipe, folder, resume=resume)
            assert caught.value.code == "output-of-train"


@pytest.mark.usefixtures("trained")
def test_a_loop_goes_on_where_a_training_lies_beside_it(tmp_path: Path) -> None:
    recipe, output = small_recipe(tmp_path, Path("none")), tmp_path / "out"
    first = AdaptiveDictionary(recipe, output).run()
    (output / "checkpoints").mkdir()
    assert AdaptiveDictionary(recipe, output, resume=True).run() == first


def test_a_loop_that_is_killed_ends_as_one_that_is_not(
    tmp_path: Path, tiny_encoder_path: Path
) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), str(tiny_encoder_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 4
    compared = ("*.tsv", "shares.json", "best/model.safetensors", "best/config.json")
    one, other = (
        {
            # a model's recipe names the folder that it was made in
            str(path.relative_to(folder)): path.read_bytes().replace(bytes(folder), b"")
            for pattern in compared
            for path in folder.rglob(pattern)
        }
        for folder in (tmp_path / "undisturbed", tmp_path / "killed")
    )
    assert one == other
    assert "round-02/entries.tsv" in one


# --- with trainings that are made up ---------------------------------------------------------


class Finder:
    """A model that finds all names; the texts have them all marked."""

    types = ("LOC", "PER")

    def predict_training(self, texts: list[Document]) -> list[Document]:
        return texts


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the loop gives to each training, none of which takes place."""
    calls: list[dict[str, Any]] = []

    def train(recipe: Recipe, output: Path, **options: Any) -> dict[str, Any]:
        calls.append({"recipe": recipe, "output": output, **options})
        output.mkdir()
        (output / "best").mkdir()
        results: dict[str, Any] = {"development": {"f1": 0.5}, "report": {}}
        (output / "results.json").write_text(json.dumps(results), encoding="utf-8")
        return results

    monkeypatch.setattr(adaptive_dictionary, "train_recipe", train)
    monkeypatch.setattr(adaptive_dictionary, "load", lambda _: Finder())
    return calls


def known(call: dict[str, Any]) -> set[str]:
    return {entry.name for entry in recipe_dictionary(call["recipe"].dictionary).entries}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_vetoes_are_respected_for_ever(tmp_path: Path, trained: list[dict[str, Any]]) -> None:
    recipe, output = small_recipe(tmp_path, Path("none")), tmp_path / "out"
    paused = AdaptiveDictionary(recipe, output, pause=True).run()
    entries = Path(paused["paused"])
    assert entries == output / "round-01" / "entries.tsv"
    edit(entries, "add\tHalden", "veto\tHalden")
    text = entries.read_text(encoding="utf-8")
    without_olga = [line for line in text.splitlines(keepends=True) if "\tOlga\t" not in line]
    entries.write_text("".join(without_olga), encoding="utf-8")

    results = AdaptiveDictionary(recipe, output, resume=True, pause=True).run()
    assert "paused" not in results, "everything new is vetoed: the loop has come to its end"
    assert [known(call) for call in trained] == [
        {"Mara", "Tove", "Torvik", "Ashmere"},
        {"Mara", "Tove", "Torvik", "Ashmere", "Nils"},
    ]
    assert results["rounds"][1]["new"] == 0


def test_a_veto_takes_out_what_was_there_from_the_beginning(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe, output = small_recipe(tmp_path, Path("none"), rounds=2), tmp_path / "out"
    paused = AdaptiveDictionary(recipe, output, pause=True).run()
    with Path(paused["paused"]).open("a", encoding="utf-8") as file:
        file.write("veto\tTorvik\tLOC\n")
    AdaptiveDictionary(recipe, output, resume=True).run()
    assert "Torvik" not in known(trained[1])
    assert "Torvik" not in Round(output / "round-02").proposed.read_text(encoding="utf-8")


def test_a_veto_of_what_was_there_is_followed_also_where_nothing_is_new(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe, output = small_recipe(tmp_path, Path("none"), rounds=2), tmp_path / "out"
    paused = AdaptiveDictionary(recipe, output, pause=True).run()
    Path(paused["paused"]).write_text("veto\tTorvik\tLOC\n", encoding="utf-8")
    AdaptiveDictionary(recipe, output, resume=True).run()
    assert known(trained[1]) == {"Mara", "Tove", "Ashmere"}
    assert "Torvik" not in (output / "dictionary.tsv").read_text(encoding="utf-8")


def test_a_type_whose_names_are_all_vetoed_has_no_prior_any_more(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe, output = small_recipe(tmp_path, Path("none"), rounds=2), tmp_path / "out"
    recipe = recipe.model_copy(update={"model": {**recipe.model, "priors": "estimated"}})
    paused = AdaptiveDictionary(recipe, output, pause=True).run()
    vetoes = "".join(f"veto\t{name}\tLOC\n" for name in ("Torvik", "Ashmere"))
    Path(paused["paused"]).write_text(vetoes, encoding="utf-8")
    AdaptiveDictionary(recipe, output, resume=True).run()
    assert list(trained[1]["recipe"].model["priors"]) == ["PER"]


def test_what_the_recipe_says_about_a_type_is_forgotten_with_all_of_its_names(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe = small_recipe(tmp_path, Path("none"), rounds=2, parts={"LOC": "any", "PER": "first"})
    paused = AdaptiveDictionary(recipe, tmp_path / "out", pause=True).run()
    vetoes = "".join(f"veto\t{name}\tLOC\n" for name in ("Torvik", "Ashmere"))
    Path(paused["paused"]).write_text(vetoes, encoding="utf-8")
    AdaptiveDictionary(recipe, tmp_path / "out", resume=True).run()
    assert trained[1]["recipe"].dictionary.parts == {"PER": "first"}
    assert trained[1]["recipe"].model["priors"] == {"PER": 0.4}


def test_initials_are_names_of_the_first_round_s_dictionary(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe = small_recipe(tmp_path, Path("none"), rounds=1, initials=["LOC"])
    (tmp_path / "names" / "LOC.txt").write_text("Torvik\nUpper Soke\n", encoding="utf-8")
    AdaptiveDictionary(recipe, tmp_path / "out").run()
    names = (tmp_path / "out" / "round-01" / "dictionary.tsv").read_text(encoding="utf-8")
    assert [line.split("\t")[0] for line in names.splitlines()].count("U.S.") == 1
    assert trained[0]["recipe"].dictionary.initials == []


@pytest.mark.usefixtures("trained")
def test_something_has_to_be_left(tmp_path: Path) -> None:
    recipe, output = small_recipe(tmp_path, Path("none"), rounds=2), tmp_path / "out"
    entries = Path(AdaptiveDictionary(recipe, output, pause=True).run()["paused"])
    base = (("Torvik", "LOC"), ("Ashmere", "LOC"), ("Mara", "PER"), ("Tove", "PER"))
    entries.write_text("".join(f"veto\t{name}\t{kind}\n" for name, kind in base))
    with pytest.raises(InputError, match="no name") as caught:
        AdaptiveDictionary(recipe, output, resume=True).run()
    assert str(entries) in str(caught.value)
    entries.write_text("add\tHalden\tLOC\n")  # second thoughts are possible
    AdaptiveDictionary(recipe, output, resume=True).run()


def test_a_veto_is_for_all_spellings_that_the_dictionary_takes_for_one(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe = small_recipe(tmp_path, Path("none"), rounds=2, case="ignore")
    paused = AdaptiveDictionary(recipe, tmp_path / "out", pause=True).run()
    Path(paused["paused"]).write_text("veto\tTORVIK\tLOC\n", encoding="utf-8")
    AdaptiveDictionary(recipe, tmp_path / "out", resume=True).run()
    assert known(trained[1]) == {"Mara", "Tove", "Ashmere"}


@pytest.mark.parametrize("case", ["exact", "headlines", "ignore"])
def test_a_name_may_be_mended(tmp_path: Path, trained: list[dict[str, Any]], case: str) -> None:
    recipe = small_recipe(tmp_path, Path("none"), rounds=2, case=case)
    paused = AdaptiveDictionary(recipe, tmp_path / "out", pause=True).run()
    edit(Path(paused["paused"]), "add\tHalden", "add\tHALDEN")
    edit(Path(paused["paused"]), "add\tOlga", "add\tO lga")
    AdaptiveDictionary(recipe, tmp_path / "out", resume=True).run()
    assert known(trained[1]) == {"Mara", "Tove", "Torvik", "Ashmere", "HALDEN", "Nils", "O lga"}


def test_a_round_that_has_begun_keeps_its_dictionary(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe, output = small_recipe(tmp_path, Path("none"), rounds=2), tmp_path / "out"
    AdaptiveDictionary(recipe, output, pause=True).run()
    loop = AdaptiveDictionary(recipe, output, resume=True)
    loop._begin(loop.rounds[1], loop.rounds[:1])
    edit(output / "round-01" / "entries.tsv", "add\tHalden", "veto\tHalden")
    loop.run()
    assert "Halden" in known(trained[1])


def test_estimated_priors_become_the_parts_that_are_predicted(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe = small_recipe(tmp_path, Path("none"), rounds=2)
    model = {**recipe.model, "priors": "estimated"}
    AdaptiveDictionary(recipe.model_copy(update={"model": model}), tmp_path / "out").run()
    priors = [call["recipe"].model["priors"] for call in trained]
    assert priors == ["estimated", {"LOC": 0.2, "PER": 0.2}]


def test_given_priors_stay(tmp_path: Path, trained: list[dict[str, Any]]) -> None:
    recipe = small_recipe(tmp_path, Path("none"), rounds=2)
    AdaptiveDictionary(recipe, tmp_path / "out").run()
    assert [call["recipe"].model["priors"] for call in trained] == [recipe.model["priors"]] * 2


def test_rounds_that_are_over_are_not_trained_again(
    tmp_path: Path, trained: list[dict[str, Any]]
) -> None:
    recipe, output = small_recipe(tmp_path, Path("none")), tmp_path / "out"
    first = AdaptiveDictionary(recipe, output).run()
    count = len(trained)
    assert AdaptiveDictionary(recipe, output, resume=True).run() == first
    assert len(trained) == count == 2


@pytest.mark.usefixtures("trained")
def test_an_output_that_is_there_is_left_alone(tmp_path: Path) -> None:
    recipe, output = small_recipe(tmp_path, Path("none")), tmp_path / "out"
    AdaptiveDictionary(recipe, output).run()
    with pytest.raises(InputError) as caught:
        AdaptiveDictionary(recipe, output)
    assert caught.value.code == "training-exists"


def test_other_recipes_cannot_be_adapted(tmp_path: Path) -> None:
    recipe = small_recipe(tmp_path, Path("none"))
    for changes in ({"dictionary": None}, {"model": {"kind": "tagger"}}):
        with pytest.raises(RecipeError) as caught:
            AdaptiveDictionary(recipe.model_copy(update=changes), tmp_path / "out")
        assert caught.value.code == "cannot-adapt"


def test_several_processes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RecipeError) as caught:
        AdaptiveDictionary(small_recipe(tmp_path, Path("none")), tmp_path / "out")
    assert caught.value.code == "adapts-alone"


def test_the_code_of_the_page_runs(
    tmp_path: Path,
    trained: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = small_recipe(tmp_path, Path("none"))
    monkeypatch.setattr("factloom.training.recipe.read_recipe", lambda _: recipe)
    page = (Path(__file__).parents[2] / "docs" / "dictionary.md").read_text(encoding="utf-8")
    (block,) = (block.split("```")[0] for block in page.split("```python\n")[1:])
    names: dict[str, Any] = {}
    exec(compile(block, "docs/dictionary.md", "exec"), names)
    assert sum(len(document.mentions) for document in names["marked"]) == 2 * 3 + 2 * 4
    assert capsys.readouterr().out == "runs/grown/round-01/entries.tsv\n"
    assert len(trained) == 1


def test_shares_are_words_inside_mentions_over_all_words() -> None:
    text = "Ada Byron saw Oslo ."
    marked = Document(text, mentions=(Mention(0, 9, "PER"), Mention(14, 18, "LOC")))
    shares = word_shares([marked, Document("No one saw it there .")])
    assert shares == {"PER": 2 / 11, "LOC": 1 / 11}
    assert shares["ORG"] == 0
