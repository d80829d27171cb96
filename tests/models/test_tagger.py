"""The tagger: logits, losses, mentions and scores against plain loops and enumeration."""

import itertools
import math
from pathlib import Path

import pytest
import torch
from model_checks import check_model
from transformers import BertModel

from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import DocumentError, ModelError
from factloom.layouts.word_documents import SHAPES
from factloom.models.tagger import Tagger, TaggerSettings
from factloom.text.shapes import Case, Digits, Place, Signs, places, shape
from factloom.text.tags import TypedSpan, allowed_transitions, spans_of, tags_of
from factloom.text.tokens import join_tokens

TYPES = ("LOC", "ORG", "PER")


def document(name: str, sentences: list[str], *mentions: tuple[str, str]) -> Document:
    """Mentions as (text, type), each where its text stands first."""
    text, found = join_tokens([sentence.split() for sentence in sentences])
    spans = [(text.index(words), text.index(words) + len(words), kind) for words, kind in mentions]
    return Document(
        text, id=name, sentences=found, mentions=tuple(Mention(*span) for span in spans)
    )


DOCUMENTS = [
    document(
        "velden",
        ["Mara Velden was born in Torvik on 3 May 1931 .", "She studied at Halden College ."],
        ("Mara Velden", "PER"),
        ("Torvik", "LOC"),
        ("Halden College", "ORG"),
    ),
    document("quillmark", ["Quillmark Ltd has headquarters in Ashmere , Norvania ."],
             ("Quillmark Ltd", "ORG"), ("Ashmere", "LOC"), ("Norvania", "LOC")),
    document("nobody", ["The company has its headquarters ."]),
    document("short", ["MARA"], ("MARA", "PER")),
]  # fmt: skip

VARIANTS = [
    pytest.param({}, id="random field"),
    pytest.param({"output": "softmax"}, id="softmax"),
    pytest.param({"word": "mean"}, id="mean of tokens"),
    pytest.param({"shapes": False}, id="no shapes"),
    pytest.param({"scheme": "BIO", "output": "softmax", "word": "mean"}, id="BIO"),
]


def make_model(
    path: Path, window: int = 512, types: tuple[str, ...] = TYPES, **settings: object
) -> Tagger:
    """An untrained model in double precision whose weights are far from nothing."""
    chosen = TaggerSettings.model_validate(settings)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = Tagger(Encoder.load(str(path), window=window, overlap=8), types, chosen)
        for weights in (*model.classifier.parameters(), *model.field.parameters()):
            torch.nn.init.normal_(weights, std=0.5)
        if model.shape is not None:
            torch.nn.init.normal_(model.shape.weight, std=0.2)
    return model.double().eval()


def features_by_hand(text: str, sentence: Sentence, word: int, piece: str) -> list[int]:
    """The numbers of the shapes of a token."""
    words = [text[start:end] for start, end in sentence.tokens]
    found = [*shape(words[word]), places(words)[word], shape(piece)[0]]
    sizes = [len(Case), len(Digits), len(Signs), len(Place), len(Case)]
    return [number + sum(sizes[:index]) for index, number in enumerate(found)]


@torch.no_grad()
def logits_by_loops(model: Tagger, found: Document) -> list[list[list[float]]]:
    """Sentence by sentence, word by word: the Hugging Face class on one document."""
    backbone = model.encoder.backbone
    reference = BertModel(backbone.config, add_pooling_layer=False).double().eval()
    reference.set_attn_implementation("eager")
    reference.load_state_dict(backbone.state_dict())
    tokens = model.encoder.tokenizer(found.text)
    embedded = reference.embeddings.word_embeddings(torch.tensor(tokens["input_ids"]))
    pieces: dict[tuple[int, int], list[int]] = {}
    for token in range(len(tokens["input_ids"])):
        span = tokens.token_to_chars(token)
        for number, sentence in enumerate(found.sentences):
            for word, (start, end) in enumerate(sentence.tokens):
                if span is not None and start <= span.start < end:
                    pieces.setdefault((number, word), []).append(token)
                    if model.shape is not None:
                        piece = found.text[span.start : span.end]
                        for index in features_by_hand(found.text, sentence, word, piece):
                            embedded[token] += model.shape.weight[:, index]
    states = reference(inputs_embeds=embedded[None]).last_hidden_state[0]
    logits = []
    for number, sentence in enumerate(found.sentences):
        rows = []
        for word in range(len(sentence.tokens)):
            used = (
                pieces[number, word] if model.settings.word == "mean" else pieces[number, word][:1]
            )
            state = sum(states[token] for token in used) / len(used)
            rows.append((model.classifier.weight @ state + model.classifier.bias).tolist())
        logits.append(rows)
    return logits


def log_likelihood_by_loops(model: Tagger, logits: list[list[float]], gold: list[int]) -> float:
    """log p of one sentence's tags: softmax a word, or the forward algorithm tag by tag."""
    tags = range(len(model.tags))
    if model.settings.output == "softmax":
        return sum(
            row[tag] - math.log(sum(map(math.exp, row)))
            for row, tag in zip(logits, gold, strict=True)
        )
    field = model.field
    legal = allowed_transitions(model.tags, model.settings.scheme)
    start = [field.start[t].item() if legal.start[t] else -math.inf for t in tags]
    end = [field.end[t].item() if legal.end[t] else -math.inf for t in tags]
    between = [
        [field.transitions[a, b].item() if legal.between[a, b] else -math.inf for b in tags]
        for a in tags
    ]
    score = start[gold[0]] + end[gold[-1]] + sum(r[t] for r, t in zip(logits, gold, strict=True))
    score += sum(between[a][b] for a, b in itertools.pairwise(gold))
    weights = [math.exp(start[tag] + logits[0][tag]) for tag in tags]
    for row in logits[1:]:
        weights = [
            sum(weights[a] * math.exp(between[a][b]) for a in tags) * math.exp(row[b]) for b in tags
        ]
    return score - math.log(sum(w * math.exp(e) for w, e in zip(weights, end, strict=True)))


@pytest.mark.parametrize("settings", VARIANTS)
def test_logits_and_loss_are_those_of_plain_loops(
    tiny_encoder_path: Path, settings: dict[str, object]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    output = model(model.collate(model.prepare(DOCUMENTS)))
    expected, likelihood = [], 0.0
    for found in DOCUMENTS:
        logits = logits_by_loops(model, found)
        for rows, sentence in zip(logits, found.sentences, strict=True):
            spans = [
                TypedSpan(
                    [start for start, _ in sentence.tokens].index(mention.start),
                    [end for _, end in sentence.tokens].index(mention.end) + 1,
                    mention.type,
                )
                for mention in found.mentions
                if sentence.start <= mention.start < sentence.end
            ]
            tags = tags_of(spans, len(sentence.tokens), model.settings.scheme)
            gold = [model.tags.index(tag) for tag in tags]
            likelihood += log_likelihood_by_loops(model, rows, gold)
            expected += rows
    torch.testing.assert_close(output.logits, torch.tensor(expected, dtype=torch.float64))
    assert output.loss.item() == pytest.approx(-likelihood / len(expected))


@pytest.mark.parametrize("settings", VARIANTS)
def test_the_tagger_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, tmp_path: Path, settings: dict[str, object]
) -> None:
    torch.manual_seed(0)
    chosen = TaggerSettings.model_validate({"dropout": 0.0, **settings})
    encoder = Encoder.load(str(tiny_encoder_path))
    model = Tagger.from_documents(encoder, DOCUMENTS, chosen, names={"PER": "person"})
    assert model.types == TYPES
    check_model(model, DOCUMENTS, tmp_path)
    assert Tagger.from_pretrained(tmp_path / "model").types == TYPES


@pytest.fixture(scope="module")
def trained(tiny_encoder_path: Path) -> Tagger:
    """A model that knows the documents by heart."""
    torch.manual_seed(0)
    model = Tagger.from_documents(
        Encoder.load(str(tiny_encoder_path)), DOCUMENTS, TaggerSettings(dropout=0.0)
    )
    learn(model, DOCUMENTS)
    return model


def learn(model: Tagger, documents: list[Document], steps: int = 60) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batch = model.collate(model.prepare(documents))
    for _ in range(steps):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    model.eval()


def found_in(predicted: Document) -> list[tuple[str, str]]:
    return [
        (predicted.mention_text(index), mention.type)
        for index, mention in enumerate(predicted.mentions)
    ]


def test_what_was_learned_is_found_again(trained: Tagger) -> None:
    for gold, predicted in zip(DOCUMENTS, trained.predict(DOCUMENTS), strict=True):
        assert found_in(predicted) == found_in(gold)


def test_raw_text_needs_neither_sentences_nor_words(trained: Tagger) -> None:
    text = "Mara Velden was born in Torvik on 3 May 1931.\n\nShe studied at Halden College."
    (predicted,) = trained.predict([Document(text, "raw")])
    assert ("Mara Velden", "PER") in found_in(predicted)
    assert predicted.text == text
    assert trained.predict([Document("", "empty"), Document(" \n ", "blank")]) == [
        Document("", "empty"),
        Document(" \n ", "blank"),
    ]


def test_known_entities_and_relations_make_room(trained: Tagger) -> None:
    gold = DOCUMENTS[0]
    known = gold.replace(
        entities=tuple(Entity((index,), "X") for index in range(3)), candidates=((0, 1),)
    )
    assert trained.predict([known]) == trained.predict([gold])


def test_without_transitions_illegal_tags_may_come_and_with_them_never(
    tiny_encoder_path: Path,
) -> None:
    legal = {}
    for output in ("softmax", "crf"):
        model = make_model(tiny_encoder_path, output=output)
        with torch.no_grad():
            model.classifier.weight.mul_(20)  # the field's weights are small beside these
        batch = model.collate(model.prepare(DOCUMENTS))
        paths = model.field.decode(model.emissions(batch), batch.lengths)
        sequences = [
            [model.tags[tag] for tag in path[:length]]
            for path, length in zip(paths.tolist(), batch.lengths.tolist(), strict=True)
        ]
        legal[output] = [
            tags == tags_of(spans_of(tags, "BIOES"), len(tags), "BIOES") for tags in sequences
        ]
    assert not all(legal["softmax"])
    assert all(legal["crf"])


@pytest.mark.parametrize("output", ["crf", "softmax"])
def test_scores_are_the_probability_of_the_mention_s_tags(
    tiny_encoder_path: Path, output: str
) -> None:
    model = make_model(tiny_encoder_path, types=("X",), output=output)
    short = document("short", ["Mara Velden studied .", "Halden College"])
    logits = logits_by_loops(model, short)
    (predicted,) = model.predict([short])
    assert predicted.mentions, "nothing to compare"
    for mention in predicted.mentions:
        number = short.sentence_at(mention.start)
        sentence = short.sentences[number]
        first = [start for start, _ in sentence.tokens].index(mention.start)
        last = [end for _, end in sentence.tokens].index(mention.end)
        rows = logits[number]
        probabilities = {
            path: math.exp(log_likelihood_by_loops(model, rows, list(path)))
            for path in itertools.product(range(len(model.tags)), repeat=len(rows))
            if legal_path(model, path)
        }
        emissions = torch.tensor([rows], dtype=torch.float64)
        decoded = model.field.decode(emissions, torch.tensor([len(rows)]))[0].tolist()
        expected = sum(
            probability
            for path, probability in probabilities.items()
            if list(path[first : last + 1]) == decoded[first : last + 1]
        )
        assert mention.score == pytest.approx(expected)


def legal_path(model: Tagger, path: tuple[int, ...]) -> bool:
    if model.settings.output == "softmax":
        return True
    legal = allowed_transitions(model.tags, "BIOES")
    steps = all(legal.between[a, b] for a, b in itertools.pairwise(path))
    return bool(legal.start[path[0]] and legal.end[path[-1]] and steps)


def test_fitted_scores_are_tempered_and_keep_their_order(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    before = [m.score for found in model.predict(DOCUMENTS) for m in found.mentions]
    fitted = model.fit_scores(DOCUMENTS)  # nearly all is wrong: a high temperature
    after = [m.score for found in model.predict(DOCUMENTS) for m in found.mentions]
    assert fitted["temperature"] == model.temperature.item() != 1
    assert sorted(range(len(before)), key=before.__getitem__) == sorted(
        range(len(after)), key=after.__getitem__
    )
    odds = [math.log(p / (1 - p)) for p in before]
    expected = [1 / (1 + math.exp(-odd / fitted["temperature"])) for odd in odds]
    assert after == pytest.approx(expected, rel=1e-5)


def test_a_document_longer_than_a_window_is_read_to_its_end(tiny_encoder_path: Path) -> None:
    filler = "The company has its headquarters in the company ."
    sentences = [filler] * 12 + ["Mara Velden was born in Torvik ."]
    long = document("long", sentences, ("Mara Velden", "PER"), ("Torvik", "LOC"))
    torch.manual_seed(0)
    model = Tagger.from_documents(
        Encoder.load(str(tiny_encoder_path), window=24, overlap=8),
        [long],
        TaggerSettings(dropout=0),
    )
    (example,) = model.prepare([long])
    assert example.tokens > 4 * 24
    learn(model, [long])
    assert found_in(model.predict([long])[0]) == [("Mara Velden", "PER"), ("Torvik", "LOC")]


def test_words_that_the_tokenizer_drops_are_still_words(trained: Tagger) -> None:
    odd = document("odd", ["Mara Velden \u200b was born", "\u200b"], ("Mara Velden", "PER"))
    (example,) = trained.prepare([odd])
    assert example.terms == 6
    output = trained(trained.collate([example]))
    assert output.logits.shape[0] == 6
    assert output.loss.isfinite()
    assert found_in(trained.predict([odd])[0])[:1] == [("Mara Velden", "PER")]


def test_of_nested_mentions_the_outermost_is_learned(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    nested = document(
        "nested", ["Halden College of Torvik"],
        ("Halden College of Torvik", "ORG"), ("Torvik", "LOC"), ("Halden", "PER"),
    )  # fmt: skip
    (example,) = model.prepare([nested])
    assert [model.tags[tag] for tag in example.tags] == ["B-ORG", "I-ORG", "I-ORG", "E-ORG"]


def test_types_that_were_not_trained_are_outside(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, types=("PER",))
    (example,) = model.prepare(DOCUMENTS[:1])
    assert [model.tags[tag] for tag in example.tags[:3]] == ["B-PER", "E-PER", "O"]
    assert set(example.tags[2:].tolist()) == {0}


def test_shapes_begin_without_an_effect(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    model = Tagger(encoder, TYPES).eval()
    batch = model.collate(model.prepare(DOCUMENTS))
    assert batch.shapes.shape[2] == SHAPES
    with torch.no_grad():
        assert torch.equal(
            encoder.states(batch.windows, model.shape(batch.shapes.float())),
            encoder(batch.windows).states,
        )


def test_words_are_hidden_in_training_alone(tiny_encoder_path: Path) -> None:
    hiding = make_model(tiny_encoder_path, word="mean", hidden_words=0.99, dropout=0.0)
    plain = make_model(tiny_encoder_path, word="mean", dropout=0.0)
    batch = plain.collate(plain.prepare(DOCUMENTS))
    assert torch.equal(hiding(batch).logits, plain(batch).logits)
    for model in (hiding, plain):
        model.train()
        model.encoder.eval()  # so that nothing else is random
    assert torch.equal(plain(batch).logits, plain.eval()(batch).logits)
    assert not torch.allclose(hiding(batch).logits, plain(batch).logits)


def test_words_are_hidden_as_a_whole_or_not_at_all() -> None:
    with pytest.raises(ValueError, match="word has to be 'mean'"):
        TaggerSettings(hidden_words=0.3)


def test_documents_without_mentions_cannot_be_learned(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    with pytest.raises(ModelError) as caught:
        Tagger.from_documents(encoder, [DOCUMENTS[2]], TaggerSettings())
    assert caught.value.code == "no-mentions-to-learn"


def test_a_mention_across_sentences_is_told_with_its_document(trained: Tagger) -> None:
    across = document("across", ["Mara", "Velden"]).replace(mentions=(Mention(0, 11, "PER"),))
    with pytest.raises(DocumentError, match="across") as caught:
        trained.prepare([across])
    assert caught.value.code == "mention-across-sentences"
