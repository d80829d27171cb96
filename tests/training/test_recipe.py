"""Recipes: every shipped one is valid, and every mistake is told with the name of its key."""

from pathlib import Path

import pytest

from factloom.errors import Place, RecipeError
from factloom.files.data_path import data_path
from factloom.models.storage import model_settings
from factloom.training.recipe import Recipe, read_recipe, validated

CONFIGS = Path(__file__).parents[2] / "configs"
TRAINED = sorted(path for path in CONFIGS.glob("*.toml") if not path.stem.startswith("pretrain-"))

SMALLEST = """
[model]
kind = "atlop"
[data]
train = ["train.json"]
hold_out = 0.1
"""


def recipe(tmp_path: Path, content: str = SMALLEST, *overrides: str) -> Recipe:
    path = tmp_path / "recipe.toml"
    path.write_text(content, encoding="utf-8")
    return read_recipe(path, overrides)


def mistake(tmp_path: Path, content: str = SMALLEST, *overrides: str) -> RecipeError:
    with pytest.raises(RecipeError) as caught:
        recipe(tmp_path, content, *overrides)
    return caught.value


@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_every_shipped_recipe_is_valid_and_says_how_it_is_run(path: Path) -> None:
    found = read_recipe(path)
    validated(model_settings(found.kind), found.model_settings, Place(file=str(path)))
    data = found.data
    for file in (*data.train, *data.development, *data.report):
        assert "$" not in data_path(file)
    comment = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    assert any(f"factloom train configs/{path.name}" in line for line in comment)


def test_there_are_recipes_to_check() -> None:
    assert {"atlop-redocred", "atlop-cdr"} <= {path.stem for path in TRAINED}


def test_a_recipe_needs_no_more_than_a_model_and_data(tmp_path: Path) -> None:
    found = recipe(tmp_path)
    assert (found.kind, found.model_settings) == ("atlop", {})
    assert found.encoder.name == "all-MiniLM-L6-v2"
    assert found.training.epochs == 10


def test_a_length_in_steps_takes_the_place_of_epochs(tmp_path: Path) -> None:
    found = recipe(tmp_path, SMALLEST + "[training]\nsteps = 9")
    assert (found.training.epochs, found.training.steps) == (None, 9)
    assert Recipe.model_validate(found.model_dump()) == found


def test_model_settings_are_what_stands_beside_the_kind(tmp_path: Path) -> None:
    found = recipe(tmp_path, SMALLEST.replace('"atlop"', '"atlop"\nblock_size = 32'))
    assert found.model_settings == {"block_size": 32}


@pytest.mark.parametrize(
    ("added", "named"),
    [
        ("[training]\nepoch = 3", "training.epoch"),
        ("[training]\nepochs = 'many'", "training.epochs"),
        ("[training]\nepochs = 0", "training.epochs"),
        ("[training]\nepochs = 3\nsteps = 9", "either training.epochs or training.steps"),
        ("[training]\nlearning_rates = { '' = inf }", "training.learning_rates"),
        ("[training]\nlearning_rates = { encoder = 1e-4 }", "learning_rates"),
        ("[encoder]\nlong_documents = 'cut'", "encoder.long_documents"),
        ("[encoder]\noverlap = -1", "encoder.overlap"),
        ("[encoders]\nname = 'x'", "encoders"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, added: str, named: str) -> None:
    error = mistake(tmp_path, SMALLEST + added)
    assert error.code == "recipe-setting"
    assert named in str(error)
    assert "recipe.toml" in str(error)


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("[training]\nepoch = 3", "training.epoch: there is no such setting; spelled much like it"),
        ("[training]\nepoch = 3", "epochs"),
        ("[training]\nbatch_pairs = 9", "spelled much like it: batch_terms"),
        ("[encoders]\nname = 'x'", "spelled much like it: encoder"),
        ("[dictionary]\nfiles = ['x']\nround = 3", "dictionary.round: there is no such setting; s"),
        ("[encoder]\nqqq = 1", "there are: name, window, overlap"),
    ],
)
def test_a_setting_that_is_not_there_names_those_near(
    tmp_path: Path, added: str, said: str
) -> None:
    assert said in str(mistake(tmp_path, SMALLEST + added))


@pytest.mark.parametrize(
    ("value", "code", "said"),
    [
        ("9" * 30, "recipe-setting", "training.epochs: whole numbers have at most 64 bits"),
        (str(2**40), "recipe-setting", "training.epochs"),
        ("9" * 5000, "recipe-override", "training.epochs=999"),
        ("[" * 50_000 + "]" * 50_000, "recipe-override", "training.epochs=[[["),
        ("[" * 50 + "]" * 50, "recipe-setting", "at most 20 deep"),
    ],
    ids=["30 digits", "41 bits", "5000 digits", "50000 deep", "50 deep"],
)
def test_values_without_measure_are_told(tmp_path: Path, value: str, code: str, said: str) -> None:
    error = mistake(tmp_path, SMALLEST, f"training.epochs={value}")
    assert error.code == code
    assert said in str(error)
    in_file = mistake(tmp_path, f"{SMALLEST}[training]\nepochs = {value}")
    assert in_file.code in ("recipe-setting", "recipe-not-toml")
    assert len(str(in_file)) < 1000


def test_a_key_of_thousands_of_parts_is_told(tmp_path: Path) -> None:
    deep = ".".join(["model", *["x"] * 50_000])
    assert "at most 20 deep" in str(mistake(tmp_path, SMALLEST, f"{deep}=1"))


def test_a_path_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    error = mistake(tmp_path, SMALLEST, "data.train=['a\udcff.json']")
    assert "data.train.0: the text is not UTF-8" in str(error)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    error = mistake(tmp_path, SMALLEST + "[training]\nepoch = 3\nseed = -1\n[encoder]\nnam = 'x'")
    for name in ("training.epoch", "training.seed", "encoder.nam"):
        assert name in str(error)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (SMALLEST.replace("hold_out = 0.1", ""), "data.development or data.hold_out"),
        (SMALLEST + 'development = ["dev.json"]', "data.development or data.hold_out"),
        (SMALLEST.replace('["train.json"]', "[]"), "data.train"),
        (SMALLEST.replace('["train.json"]', '"train.json"'), "data.train"),
        (SMALLEST.replace("0.1", "1.0"), "data.hold_out"),
        (SMALLEST.replace('kind = "atlop"', ""), "model.kind"),
        (SMALLEST.replace('"atlop"', "3"), "model.kind"),
        ('[model]\nkind = "atlop"', "data"),
        ("", "model"),
    ],
)
def test_a_missing_or_contradicting_part_is_named(tmp_path: Path, content: str, named: str) -> None:
    error = mistake(tmp_path, content)
    assert error.code == "recipe-setting"
    assert named in str(error)


def test_a_wrong_setting_of_the_model_is_named() -> None:
    with pytest.raises(RecipeError) as caught:
        validated(model_settings("atlop"), {"block_sise": 32, "pooling": "max"}, Place(file="x"))
    assert "block_sise" in str(caught.value)
    assert "pooling" in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        read_recipe(tmp_path / "none.toml")
    assert caught.value.code == "recipe-not-found"
    assert "none.toml" in str(caught.value)


@pytest.mark.parametrize("content", [b"[model\n", b"a = \xff"])
def test_a_file_that_is_no_toml_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(RecipeError) as caught:
        read_recipe(path)
    assert caught.value.code == "recipe-not-toml"
    assert "broken.toml" in str(caught.value)


def test_a_directory_is_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        read_recipe(tmp_path)
    assert caught.value.code == "recipe-not-found"


# --- overrides -------------------------------------------------------------------------------


def test_overrides_change_add_and_keep_settings(tmp_path: Path) -> None:
    found = recipe(
        tmp_path,
        SMALLEST,
        "training.epochs=3",
        "encoder.name=bert-base-cased",
        'data.train=["a.json", "b.json"]',
        "model.context=false",
        "training.learning_rates.encoder=2e-5",
        "training.learning_rates.=1e-3",
    )
    assert found.training.epochs == 3
    assert found.encoder.name == "bert-base-cased"
    assert found.data.train == ["a.json", "b.json"]
    assert found.data.hold_out == 0.1
    assert found.model_settings == {"context": False}
    assert found.training.learning_rates == {"encoder": 2e-5, "": 1e-3}


@pytest.mark.parametrize("text", ["training.epochs", "=3", " =3", "model.kind.deeper=3"])
def test_an_override_that_says_nothing_is_refused(tmp_path: Path, text: str) -> None:
    error = mistake(tmp_path, SMALLEST, text)
    assert error.code == "recipe-override"
    assert text in str(error)


def test_a_wrong_override_is_told_like_a_wrong_setting(tmp_path: Path) -> None:
    error = mistake(tmp_path, SMALLEST, "training.epochs=few")
    assert error.code == "recipe-setting"
    assert "training.epochs" in str(error)


# --- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$CORPORA/train.json", "/data/train.json"),
        ("${CORPORA}x/train.json", "/datax/train.json"),
        ("$CORPORA", "/data"),
        ("plain/train.json", "plain/train.json"),
        ("$FACTLOOM_DATA/train.json", "../shared/data/train.json"),
    ],
)
def test_variables_in_paths_are_filled_in(
    monkeypatch: pytest.MonkeyPatch, path: str, expected: str
) -> None:
    monkeypatch.setenv("CORPORA", "/data")
    monkeypatch.delenv("FACTLOOM_DATA", raising=False)
    assert data_path(path) == expected


def test_the_environment_goes_before_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTLOOM_DATA", "/my data")
    assert data_path("$FACTLOOM_DATA/train.json") == "/my data/train.json"


@pytest.mark.parametrize("path", ["$NOT_SET_ANYWHERE/train.json", "${NOT_SET_ANYWHERE}", "a/$"])
def test_a_variable_that_is_not_set_is_named(path: str) -> None:
    with pytest.raises(RecipeError) as caught:
        data_path(path)
    assert caught.value.code == "recipe-variable"
    assert path in str(caught.value)
