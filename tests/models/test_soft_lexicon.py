"""Soft-Lexicon: every feature and layer, and all that every model does."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from lexicon_examples import check_logits_are_emissions, documents, write_vectors, write_words
from model_checks import check_model

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.soft_lexicon import SoftLexicon, SoftLexiconSettings


def make_model(folder: Path, encoder: Encoder | None = None, **settings: object) -> SoftLexicon:
    chosen = SoftLexiconSettings.model_validate(
        {
            "vectors": str(write_vectors(folder)),
            "words": [str(write_words(folder))],
            "width": 16,
            "heads": 4,
            "input_dropout": 0.1,
            "dropout": 0.1,
        }
        | settings
    )
    with torch.random.fork_rng():
        torch.manual_seed(2)
        return SoftLexicon.from_documents(encoder, documents(), chosen, names={"PER": "person"})


@pytest.mark.parametrize(
    ("with_encoder", "settings"),
    [
        pytest.param(False, {}, id="SoftLexicon"),
        pytest.param(False, {"lexicon": "none"}, id="no lexicon"),
        pytest.param(False, {"lexicon": "softword"}, id="Softword"),
        pytest.param(False, {"lexicon": "exsoftword", "bigrams": True}, id="ExSoftword, bigrams"),
        pytest.param(False, {"layer": "transformer"}, id="Transformer"),
        pytest.param(False, {"layers": 2, "vectors": None}, id="two layers, no vectors"),
        pytest.param(True, {"layer": "none"}, id="pretrained encoder alone"),
        pytest.param(True, {}, id="pretrained encoder below an LSTM"),
    ],
)
def test_soft_lexicon_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, tmp_path: Path, with_encoder: bool, settings: dict[str, object]
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16) if with_encoder else None
    model = make_model(tmp_path, encoder, **settings)
    model.provenance = {"seed": 3}
    check_model(model, documents(), tmp_path, steps=100)
    loaded = SoftLexicon.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.vocabularies == model.vocabularies
    assert loaded.frequencies == model.frequencies
    assert loaded.types == ("LOC", "ORG", "PER")
    assert (loaded.encoder is not None) is with_encoder


def test_the_features_of_a_character_stand_at_its_place_in_the_batch(tmp_path: Path) -> None:
    model = make_model(tmp_path, layer="none").double().eval()
    assert model.words is not None
    assert model.word_features is not None
    found = model.emissions(model.collate(model.prepare(documents())))
    sentences = [
        document.sentence_text(number)
        for document in documents()
        for number in range(len(document.sentences))
    ]
    assert len(sentences) == len(found) == 6
    for row, text in enumerate(sentences):
        features = model.word_features.rows([text])[0]
        for place, character in enumerate(text):
            (number,) = model.vocabularies.characters.rows([character])
            vectors = [model.characters.characters(torch.tensor(number))]
            for chosen in range(4):
                total = torch.zeros(6, dtype=torch.float64)
                for entry in range(len(features.row)):
                    if (features.character[entry], features.set[entry]) == (place, chosen):
                        vector = model.words.table(torch.tensor(features.row[entry]))
                        total = total + float(features.weight[entry]) * vector
                vectors.append(total)
            expected = model.classifier(torch.cat(vectors))
            torch.testing.assert_close(found[row, place], expected, rtol=1e-6, atol=1e-8)


def test_logits_are_the_emissions_of_all_characters_without_padding(tmp_path: Path) -> None:
    check_logits_are_emissions(make_model(tmp_path))


def test_frequencies_count_words_that_no_longer_word_covers(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    words = model.vocabularies.words.words
    expected: Counter[str] = Counter()
    for document in documents():
        for number in range(len(document.sentences)):
            text = document.sentence_text(number)
            spans = [
                (a, b)
                for a in range(len(text))
                for b in range(a + 1, len(text) + 1)
                if text[a:b] in words
            ]
            expected.update(
                text[a:b]
                for a, b in spans
                if not any(c <= a and b <= d and (c, d) != (a, b) for c, d in spans)
            )
    assert model.frequencies == expected
    assert expected["南京市"] == 1
    assert "南京" not in expected


def test_the_network_without_a_lexicon_differs_only_by_what_is_told(tmp_path: Path) -> None:
    with_words, without = make_model(tmp_path), make_model(tmp_path, lexicon="none")
    shapes, other = (
        {name: tuple(weights.shape) for name, weights in model.named_parameters()}
        for model in (with_words, without)
    )
    assert set(shapes) - set(other) == {"words.table.learned.weight"}
    wider = {name for name in other if shapes[name] != other[name]}
    assert wider == {"layer.onward.0.weight_ih_l0", "layer.back.0.weight_ih_l0"}
    assert without.vocabularies.words.words == ()


def test_the_vectors_decide_the_width(tmp_path: Path) -> None:
    model = make_model(tmp_path, character_width=9, word_width=9)
    assert (model.settings.character_width, model.settings.word_width) == (6, 6)
    plain = make_model(tmp_path, vectors=None, character_width=9, word_width=11)
    assert plain.characters.width == 9
    assert plain.words is not None
    assert plain.words.width == 44


def test_characters_begin_with_the_vectors_of_single_characters(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    known = model.vocabularies.characters
    assert "京" in known.known
    assert "学" in known.known
    lines = write_vectors(tmp_path).read_text(encoding="utf-8").splitlines()
    numbers = next(line.split(" ")[1:] for line in lines if line.startswith("京 "))
    vector = torch.tensor([float(number) for number in numbers])
    found = model.characters.characters(torch.from_numpy(known.rows(["京"])))[0]
    torch.testing.assert_close(found, vector / vector.norm(), rtol=1e-3, atol=1e-4)


def test_new_characters_and_words_are_no_hindrance(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    (found,) = model.predict([Document("龘靐齉😀在北京大学。")])
    assert found.text == "龘靐齉😀在北京大学。"


@pytest.mark.parametrize("lexicon", ["softword", "exsoftword"])
def test_positions_do_not_get_the_vectors_of_letters(tmp_path: Path, lexicon: str) -> None:
    vectors = write_vectors(tmp_path)
    first, *lines = vectors.read_text(encoding="utf-8").splitlines()
    count, width = map(int, first.split())
    letters = [f"{letter} " + " ".join(["1.0"] * width) for letter in "BMES"]
    content = "\n".join([f"{count + 4} {width}", *lines, *letters])
    (tmp_path / "letters.txt").write_text(content + "\n", encoding="utf-8")
    settings = {"lexicon": lexicon, "word_width": width}
    plain = make_model(tmp_path, vectors=None, **settings)
    other = make_model(tmp_path, vectors=str(tmp_path / "letters.txt"), **settings)
    for model in (plain, other):
        assert model.words is not None
        rows = model.words.table(torch.arange(1, 5))
        assert rows.unique(dim=0).shape[0] == 4
        assert not any(row.unique().numel() == 1 for row in rows)
