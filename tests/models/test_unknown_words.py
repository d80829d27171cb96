"""Documents that are annotated in parts: words of type "?" may be anything, and teach nothing."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from lexicon_examples import documents as chinese_documents
from lexicon_examples import write_vectors, write_words

from factloom.document import Document, Entity, Mention, Relation
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.coreference import Coreference, CoreferenceSettings
from factloom.models.docre_sd import DocreSd, DocreSdSettings
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
    [
        (Mrc, MrcSettings()),
        (Coreference, CoreferenceSettings()),
        (Joint, JointSettings()),
        (Atlop, AtlopSettings()),
        (DocreSd, DocreSdSettings()),
        (Tagger, TaggerSettings(scheme="BIO")),  # ends are not marked: what goes on is unknown
    ],
)
def test_models_that_cannot_pass_over_words_refuse_them(
    kind: Any, settings: Any, tiny_encoder_path: Path
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    with pytest.raises(ModelError) as caught:
        kind.from_documents(encoder, [document(PERSON, UNKNOWN)], settings)
    assert caught.value.code == "partly-annotated"


SETTINGS_OF = {
    Joint: JointSettings(block_size=8),
    Atlop: AtlopSettings(block_size=8),
    DocreSd: DocreSdSettings(),
}


@pytest.mark.parametrize("kind", [Joint, Atlop, DocreSd])
def test_what_is_unknown_of_relations_teaches_nothing(kind: Any, tiny_encoder_path: Path) -> None:
    """The loss is that of the known cells alone: other labels of unknown ones change nothing."""
    whole = document(PERSON, PLACE).replace(
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P19"), Relation(0, 1, "P20"), Relation(1, 0, "P20")),
    )
    settings = SETTINGS_OF[kind]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = Encoder.load(str(tiny_encoder_path))
        model = kind.from_documents(encoder, [whole], settings).eval()

    def loss(known: Document) -> float:
        return model(model.collate(model.prepare([known]))).loss.item()

    stated = whole.replace(relations=whole.relations[:1], annotated=("P19",))
    same = whole.replace(relations=whole.relations[:1], denied=(), unknown=((0, 1), (1, 0)))
    denied = Relation(0, 1, "P20")
    assert loss(stated) < loss(whole.replace(relations=whole.relations[:1]))
    assert loss(same) < loss(stated)  # that (1, 0) is not P19 was known there
    assert loss(same.replace(denied=(denied,))) > loss(same)
    assert loss(stated.replace(unknown=((1, 0),), annotated=())) == pytest.approx(loss(same))


def test_models_of_names_alone_take_relations_annotated_in_parts(tiny_encoder_path: Path) -> None:
    partly = document(PERSON, PLACE).replace(annotated=())
    assert tagger(tiny_encoder_path, tiny_encoder_path, [partly]).types == ("LOC", "PER")


def test_what_is_found_in_unknown_words_says_nothing_about_scores() -> None:
    found = document().replace(mentions=(Mention(0, 11, "PER", 0.8), Mention(12, 15, "PER", 0.7)))
    beside = found.replace(mentions=(*found.mentions, Mention(24, 30, "LOC", 0.99)))
    gold = document(PERSON, UNKNOWN)
    assert calibrate_mentions([gold], [beside]) == calibrate_mentions([gold], [found])


# --- what a model is sure of -------------------------------------------------------------------


@torch.no_grad()
def doubtful_characters(model: Any, text: Document, least: float) -> set[int]:
    """Of words whose type is less probable, and of names that are: by plain sums over tags."""
    (example,) = model.prepare([text])
    lengths = torch.tensor(example.lengths)
    emissions = model.emissions(model.collate([example]))
    marginals = model.field.marginals(emissions, lengths).tolist()
    paths = model.field.decode(emissions, lengths).tolist()
    found: set[int] = set()
    places = [(row, place) for row, length in enumerate(lengths) for place in range(length)]
    for (row, place), (start, end) in zip(places, example.offsets.tolist(), strict=True):
        kind = model.tags[paths[row][place]][2:]
        of_tags = zip(model.tags, marginals[row][place], strict=True)
        if sum(probability for tag, probability in of_tags if tag[2:] == kind) < least:
            found.update(range(start, end))
    for mention in model.predict([text])[0].mentions:  # the temperature is still 1
        if mention.score < least:
            found.update(range(mention.start, mention.end))
    return found


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("least", [0.3, 0.5, 0.9])
def test_words_and_names_that_are_less_probable_are_unknown(
    make: Maker, tiny_encoder_path: Path, tmp_path: Path, least: float
) -> None:
    torch.manual_seed(1)
    texts = [document(PERSON, PLACE), *chinese_documents()]
    model = make(tiny_encoder_path, tmp_path, texts).double().eval()
    torch.nn.init.normal_(model.classifier.weight, std=0.5)
    for text in texts:
        (plain,), (sure,) = model.predict([text]), model.predict_sure([text], least)
        doubts = doubtful_characters(model, text, least)
        unknown = [mention for mention in sure.mentions if mention.type == "?"]
        covered = {place for mention in unknown for place in range(mention.start, mention.end)}
        assert doubts <= covered
        assert all(doubts & set(range(mention.start, mention.end)) for mention in unknown)
        kept = [mention for mention in sure.mentions if mention.type != "?"]
        assert kept == [
            mention
            for mention in plain.mentions
            if not covered & set(range(mention.start, mention.end))
        ]


@pytest.mark.parametrize("make", MAKERS)
def test_who_asks_for_no_certainty_gets_everything(
    make: Maker, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    texts = [document(PERSON, PLACE), *chinese_documents()]
    model = make(tiny_encoder_path, tmp_path, texts).eval()
    assert model.predict_sure(texts, 0.0) == model.predict(texts)
    (nothing,) = model.predict_sure([document()], 1.0)
    assert [(m.start, m.end, m.type) for m in nothing.mentions] == [(0, len(TEXT), "?")]


def test_a_name_whose_edges_are_unsure_is_unknown(tiny_encoder_path: Path) -> None:
    torch.manual_seed(1)
    model = tagger(tiny_encoder_path, tiny_encoder_path, [document(PERSON)]).double().eval()
    outside, begin, inside, end, single = range(5)
    logits = torch.full((7, 5), -30.0, dtype=torch.float64)
    logits[:, outside] = 0.0
    logits[0, begin], logits[0, single], logits[1, end], logits[1, single] = 30.3, 30.0, 30.0, 30.0
    model._logits = lambda _: logits  # one name, or two of the same type: 57 to 43
    (found,) = model.predict([document()])
    assert [(m.start, m.end) for m in found.mentions] == [(0, 11)]
    (sure,) = model.predict_sure([document()], 0.9)
    assert [(m.start, m.end, m.type) for m in sure.mentions] == [(0, 11, "?")]
    assert inside < end


def test_learning_from_marks_says_what_is_sure_by_words(tiny_encoder_path: Path) -> None:
    settings = PositiveUnlabelledSettings(priors={"PER": 0.3, "LOC": 0.2}, width=16)
    encoder = Encoder.load(str(tiny_encoder_path))
    model = PositiveUnlabelled.from_documents(encoder, [document(PERSON, PLACE)], settings)
    # LOC and PER: sure of PER, sure of PER, none, doubtful, none, LOC beside PER
    scores = [[-9.0, 9.0], [-9.0, 9.0], [-9.0, -9.0], [-9.0, 0.5], [-9.0, -9.0], [9.0, -9.0]]
    logits = torch.tensor([*scores, [-9.0, 9.0]])[..., None]
    model._scores = lambda _: logits
    (sure,) = model.predict_sure([document()], 0.9)
    assert [(m.start, m.end, m.type) for m in sure.mentions] == [
        (0, 11, "PER"),
        (16, 20, "?"),
        (24, 32, "?"),
    ]
