"""FLAT: the lattice of a sentence, the wiring of the network, and all that every model does."""

from pathlib import Path

import pytest
import torch
from lexicon_examples import check_logits_are_emissions, documents, write_vectors, write_words
from model_checks import check_model
from pydantic import ValidationError

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError, RecipeError
from factloom.models.flat import Flat, FlatSettings
from factloom.modules.lattice_attention import span_pairs


def make_model(folder: Path, encoder: Encoder | None = None, **settings: object) -> Flat:
    chosen = FlatSettings.model_validate(
        {
            "vectors": str(write_vectors(folder)),
            "words": ["vectors", str(write_words(folder))],
            "width": 32,
            "heads": 4,
            "inner": 48,
            "input_dropout": 0.1,
            "dropout": 0.1,
        }
        | settings
    )
    with torch.random.fork_rng():
        torch.manual_seed(2)
        return Flat.from_documents(encoder, documents(), chosen, names={"PER": "person"})


@pytest.mark.parametrize(
    ("with_encoder", "settings"),
    [
        pytest.param(False, {}, id="characters alone"),
        pytest.param(False, {"bigrams": True, "layers": 2}, id="bigrams, two layers"),
        pytest.param(True, {}, id="with a pretrained encoder"),
    ],
)
def test_flat_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, tmp_path: Path, with_encoder: bool, settings: dict[str, object]
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16) if with_encoder else None
    model = make_model(tmp_path, encoder, **settings)
    model.provenance = {"seed": 3}
    check_model(model, documents(), tmp_path)
    loaded = Flat.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.vocabularies == model.vocabularies
    assert loaded.types == ("LOC", "ORG", "PER")
    assert (loaded.encoder is not None) is with_encoder
    assert (tmp_path / "model" / "encoder").exists() is with_encoder


def test_a_trained_flat_finds_the_names(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    batch = model.collate(model.prepare(documents()))
    model.train()
    for _ in range(60):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    predicted = model.predict(documents())
    for gold, found in zip(documents(), predicted, strict=True):
        names = [(mention.start, mention.end, mention.type) for mention in gold.mentions]
        assert [(m.start, m.end, m.type) for m in found.mentions] == names
        assert all(m.score is not None and m.score > 0.5 for m in found.mentions)


def test_the_lattice_holds_characters_and_all_longer_words_where_they_stand(
    tmp_path: Path,
) -> None:
    model = make_model(tmp_path)
    batch = model.collate(model.prepare(documents()[1:3]))
    known = ("", *model.vocabularies.words.known)
    for row, text in enumerate(("南京市长江大桥很长", "李娜在武汉大学读书")):
        length = batch.characters.characters.shape[1]
        spans = [
            (int(head), int(tail))
            for head, tail, inside in zip(
                batch.heads[row], batch.tails[row], batch.mask[row], strict=True
            )
            if inside
        ]
        assert spans[: len(text)] == [(place, place) for place in range(len(text))]
        found = {text[head : tail + 1] for head, tail in spans[len(text) :]}
        words = {
            text[a:b]
            for a in range(len(text))
            for b in range(a + 2, len(text) + 1)
            if text[a:b] in model.vocabularies.words.words
        }
        assert found == words
        assert len(words) >= 4
        inside = batch.mask[row, length:]
        rows = batch.words[row][inside].tolist()
        for number, (head, tail) in zip(rows, spans[len(text) :], strict=True):
            assert known[number] in ("", text[head : tail + 1])


@torch.no_grad()
def test_the_network_is_put_together_as_the_paper_says(tmp_path: Path) -> None:
    model = make_model(tmp_path).double().eval()
    batch = model.collate(model.prepare(documents()[1:2]))
    vectors = model.characters.characters(batch.characters.characters)
    characters = model.character_projection(vectors)
    words = model.word_projection(model.words(batch.words))
    pairs = span_pairs(batch.heads, batch.tails)
    states = model.layers[0](
        torch.cat([characters, words], 1), model.relative(pairs.distances), pairs, batch.mask
    )
    expected = model.classifier(states[:, : characters.shape[1]])
    torch.testing.assert_close(model.emissions(batch), expected)
    tags = batch.characters.tags
    likelihood = model.field.log_likelihood(expected, tags, batch.lengths)
    assert float(model(batch).loss) == pytest.approx(-float(likelihood) / tags.shape[1])


def test_logits_are_the_emissions_of_all_characters_without_padding(tmp_path: Path) -> None:
    check_logits_are_emissions(make_model(tmp_path))


def test_a_word_changes_what_its_characters_look_like(tmp_path: Path) -> None:
    model = make_model(tmp_path).eval()
    without = make_model(tmp_path, words=[]).eval()
    assert without.vocabularies.words.words == ()
    example = documents()[1:2]
    shared = {k: v for k, v in model.state_dict().items() if not k.startswith("words.")}
    without.load_state_dict(shared, strict=False)
    one, other = (m.emissions(m.collate(m.prepare(example))) for m in (model, without))
    assert one.shape == other.shape
    assert (one - other).abs().max() > 1e-3


def test_words_that_training_did_not_see_have_their_vector_at_prediction(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    words = model.vocabularies.words
    assert "北京大学" in words.known[words.learned :]
    (example,) = model.prepare([Document("我在北京大学")])
    rows = dict(zip(["北京", "北京大学", "京大", "大学"], [1, 1, 0, 1], strict=True))
    named = {tuple(span): row for row, *span in example.words.tolist()}
    assert {place: bool(row) for place, row in named.items()} == {
        (2, 3): bool(rows["北京"]),
        (2, 5): bool(rows["北京大学"]),
        (3, 4): bool(rows["京大"]),
        (4, 5): bool(rows["大学"]),
    }


def test_raw_text_is_read_character_by_character_like_tokens(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    with_tokens, without = model.prepare(documents()), model.prepare(documents(tokens=False))
    for one, other in zip(with_tokens, without, strict=True):
        assert one.characters.characters.tolist() == other.characters.characters.tolist()
        assert one.characters.tags.tolist() == other.characters.tags.tolist()
        assert one.words.tolist() == other.words.tolist()


def test_long_sentences_are_read_to_their_end(tiny_encoder_path: Path, tmp_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), window=32, overlap=8)
    model = make_model(tmp_path, encoder).eval()
    document = Document("马云在杭州" * 30)
    batch = model.collate(model.prepare([document]))
    assert model.emissions(batch).shape[1] == 150
    assert batch.characters.windows is not None
    assert len(batch.characters.windows.token_ids) > 1


def test_empty_documents_and_white_space_pass_through(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    asked = [Document("", id="a"), Document(" \n", id="b"), documents()[3]]
    assert [len(document.text) for document in model.predict(asked)] == [0, 2, 5]
    assert model.predict([]) == []


def test_words_of_vectors_that_nobody_named_are_told() -> None:
    with pytest.raises(RecipeError) as caught:
        Flat.from_documents(None, documents(), FlatSettings())
    assert caught.value.code == "lexicon-no-vectors"


def test_heads_that_do_not_share_the_width_are_refused() -> None:
    with pytest.raises(ValidationError, match="width 30 is no multiple of heads 4"):
        FlatSettings(width=30, heads=4)


def test_documents_without_mentions_are_refused(tmp_path: Path) -> None:
    settings = FlatSettings(words=[str(write_words(tmp_path))])
    with pytest.raises(ModelError) as caught:
        Flat.from_documents(None, [Document("马云")], settings)
    assert caught.value.code == "no-mentions-to-learn"
