"""Documents that are annotated in parts: words of type "?" may be anything, and teach nothing."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from lexicon_examples import documents as chinese_documents
from lexicon_examples import write_vectors, write_words

from factloom.document import Document, Mention
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models.coreference import Coreference, CoreferenceSettings
from factloom.models.flat import Flat, FlatSettings
from factloom.models.joint import Joint, JointSettings
from factloom.models.mrc import Mrc, MrcSettings
from factloom.models.positive_unlabelled import PositiveUnlabelled, PositiveUnlabelledSettings
from factloom.models.sequence_decoding import calibrate_mentions
from factloom.models.soft_lexicon import SoftLexicon, SoftLexiconSettings
from factloom.models.tagger import Tagger, TaggerSettings
from factloom.text.tokens import join_tokens

TEXT = "Mara Velden was born in Torvik ."
PERSON, PLACE, UNKNOWN = (0, 11, "PER"), (24, 30, "LOC"), (24, 30, "?")


def document(*mentions: tuple[int, int, str]) -> Document:
    text, sentences = join_tokens([TEXT.split()])
    found = tuple(Mention(*mention) for mention in mentions)
    return Document(text, sentences=sentences, mentions=found)


def tagger(path: Path, _: Path, documents: list[Document], **settings: object) -> Tagger:
    chosen = TaggerSettings.model_validate({"dropout": 0.0, **settings})
    return Tagger.from_documents(Encoder.load(str(path)), documents, chosen)


def softmax_tagger(path: Path, folder: Path, documents: list[Document]) -> Tagger:
    return tagger(path, folder, documents, output="softmax")


def lexicon_settings(folder: Path) -> dict[str, object]:
    return {
        "vectors": str(write_vectors(folder)),
        "words": [str(write_words(folder))],
        "width": 16,
        "heads": 4,
        "input_dropout": 0.0,
        "dropout": 0.0,
    }


def soft_lexicon(_: Path, folder: Path, documents: list[Document]) -> SoftLexicon:
    settings = SoftLexiconSettings.model_validate(lexicon_settings(folder))
    return SoftLexicon.from_documents(None, documents, settings)


def flat(_: Path, folder: Path, documents: list[Document]) -> Flat:
    known = lexicon_settings(folder)
    settings = {key: known[key] for key in known.keys() & FlatSettings.model_fields.keys()}
    return Flat.from_documents(None, documents, FlatSettings.model_validate(settings))


MAKERS = [
    pytest.param(tagger, id="random field"),
    pytest.param(softmax_tagger, id="softmax"),
    pytest.param(soft_lexicon, id="SoftLexicon"),
    pytest.param(flat, id="FLAT"),
]
Maker = Callable[[Path, Path, list[Document]], Any]


def log_probability(model: Any, found: Document) -> float:
    """Of what the document says about its words."""
    batch = model.collate(model.prepare([found]))
    with torch.no_grad():
        return -float(model(batch).loss) * batch.weight


@pytest.mark.parametrize("make", MAKERS)
def test_an_unknown_word_is_as_likely_as_all_that_it_may_be(
    make: Maker, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = make(tiny_encoder_path, tmp_path, [document(PERSON, PLACE)]).double().eval()
    every = [document(PERSON), document(PERSON, PLACE), document(PERSON, (24, 30, "PER"))]
    together = sum(math.exp(log_probability(model, one)) for one in every)
    found = math.exp(log_probability(model, document(PERSON, UNKNOWN)))
    if make is softmax_tagger:  # which also knows tags that cannot stand alone
        assert found > together
    else:
        assert found == pytest.approx(together, rel=1e-9)
    assert log_probability(model, document((0, 32, "?"))) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("make", MAKERS)
def test_unknown_is_no_type_to_learn(make: Maker, tiny_encoder_path: Path, tmp_path: Path) -> None:
    model = make(tiny_encoder_path, tmp_path, [document(PERSON, UNKNOWN)])
    assert model.types == ("PER",)
    assert all(mention.type == "PER" for mention in model.predict([document()])[0].mentions)


def test_a_tagger_learns_names_beside_unknown_words(tiny_encoder_path: Path) -> None:
    torch.manual_seed(0)
    model = tagger(tiny_encoder_path, tiny_encoder_path, [document(PERSON, UNKNOWN)])
    batch = model.collate(model.prepare([document(PERSON, UNKNOWN)]))
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    (found,) = model.predict([document()])
    assert (0, 11, "PER") in [(m.start, m.end, m.type) for m in found.mentions]


def test_to_learning_from_marks_unknown_words_are_unlabelled(tiny_encoder_path: Path) -> None:
    settings = PositiveUnlabelledSettings(priors={"PER": 0.3}, width=16)
    encoder = Encoder.load(str(tiny_encoder_path))
    model = PositiveUnlabelled.from_documents(encoder, [document(PERSON, UNKNOWN)], settings)
    assert model.types == ("PER",)
    assert model.collate(model.prepare([document(PERSON, UNKNOWN)])).kind.tolist() == [
        *(0, 0),
        *[-1] * 5,
    ]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(Mrc, MrcSettings()), (Coreference, CoreferenceSettings()), (Joint, JointSettings())],
)
def test_models_that_cannot_pass_over_words_refuse_them(
    kind: Any, settings: Any, tiny_encoder_path: Path
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    with pytest.raises(ModelError) as caught:
        kind.from_documents(encoder, [document(PERSON, UNKNOWN)], settings)
    assert caught.value.code == "partly-annotated"


def test_what_is_found_in_unknown_words_says_nothing_about_scores() -> None:
    found = document().replace(mentions=(Mention(0, 11, "PER", 0.8), Mention(12, 15, "PER", 0.7)))
    beside = found.replace(mentions=(*found.mentions, Mention(24, 30, "LOC", 0.99)))
    gold = document(PERSON, UNKNOWN)
    assert calibrate_mentions([gold], [beside]) == calibrate_mentions([gold], [found])


# --- what a model is sure of -------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_words_whose_type_is_less_probable_are_unknown(
    make: Maker, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    texts = [document(PERSON, PLACE), *chinese_documents()]
    model = make(tiny_encoder_path, tmp_path, texts).double().eval()
    torch.nn.init.normal_(model.classifier.weight, std=0.5)
    for text in texts:
        (example,) = model.prepare([text])
        (plain,) = model.predict([text])
        batch = model.collate([example])
        lengths = torch.tensor(example.lengths)
        with torch.no_grad():
            emissions = model.emissions(batch)
        marginals = model.field.marginals(emissions, lengths)
        paths = model.field.decode(emissions, lengths)
        for least in (0.3, 0.5, 0.9):
            doubts: set[int] = set()  # characters of words that are not sure
            word = 0
            for row, length in enumerate(example.lengths):
                for place in range(length):
                    kind = model.tags[paths[row, place]][2:]
                    probability = sum(
                        float(marginals[row, place, number])
                        for number, tag in enumerate(model.tags)
                        if tag[2:] == kind
                    )
                    if probability < least:
                        doubts.update(range(*example.offsets[word]))
                    word += 1
            (sure,) = model.predict_sure([text], least)
            unknown = {
                place
                for mention in sure.mentions
                if mention.type == "?"
                for place in range(mention.start, mention.end)
            }
            assert doubts <= unknown
            kept = [mention for mention in sure.mentions if mention.type != "?"]
            assert all(mention in plain.mentions for mention in kept)
            for mention in kept:
                assert not doubts & set(range(mention.start, mention.end))
    assert model.predict_sure(texts, 0.0) == model.predict(texts)
    (nothing,) = model.predict_sure([document()], 1.0)
    assert [mention.type for mention in nothing.mentions] == ["?"]
