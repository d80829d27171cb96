"""The inverse cloze task: what is taken out of which passage, and the loss by a plain loop."""

import math
from pathlib import Path

import pytest
import torch
from model_checks import check_every_parameter_gets_a_gradient, check_learns
from open_examples import TEXTS, corpus_file, documents, far_apart
from open_loops import vector_of_ids

from factloom.answers.inverse_cloze import InverseCloze, InverseClozeSettings
from factloom.encoders.encoder import Encoder


def make_model(path: Path, folder: Path, **settings: object) -> InverseCloze:
    given = {"corpus": [corpus_file(folder)], "vector_width": 16, **settings}
    encoder = Encoder.load(str(path), overlap=16)
    return InverseCloze(encoder, InverseClozeSettings.model_validate(given))


@torch.no_grad()
@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_the_loss_equals_a_loop_over_the_passages_of_the_batch(
    tiny_encoder_path: Path, tmp_path: Path, pooling: str
) -> None:
    model = make_model(tiny_encoder_path, tmp_path, pooling=pooling)
    far_apart(model)
    examples = [one for one in model.prepare(documents()) if one.terms]
    assert len(examples) == 3  # one text has a single sentence
    tokenizer, sentences, passages = model.encoder.tokenizer, [], []
    for text in list(TEXTS.values())[:3]:
        first, second = text.split(". ")
        for target, part in ((passages, f"{first}."), (sentences, second)):
            target.append(tokenizer(part)["input_ids"])
    losses = []
    for number, sentence in enumerate(sentences):
        query = vector_of_ids(model.retriever.questions, sentence)
        scores = [float(query @ vector_of_ids(model.retriever.passages, z)) for z in passages]
        losses.append(math.log(sum(map(math.exp, scores))) - scores[number])
    assert float(model(model.collate(examples)).loss) == pytest.approx(sum(losses) / 3, rel=1e-6)


def test_a_sentence_stays_in_its_passage_in_a_tenth_of_the_draws(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    model = make_model(tiny_encoder_path, tmp_path).train()
    (example,) = [one for one in model.prepare(documents()) if one.id == "mara"]
    whole, kept, drawn = example.token_ids.tolist(), 0, set()
    torch.manual_seed(0)
    for _ in range(1000):
        sentence, passage = (part.tolist() for part in model._drawn(example))
        drawn.add(tuple(sentence))
        kept += passage == whole
        if passage != whole:
            begin = whole.index(sentence[0]) if whole[: len(sentence)] == sentence else len(passage)
            assert passage[:begin] + sentence + passage[begin:] == whole
    assert len(drawn) == 2
    assert 70 < kept < 130


def test_every_part_learns_and_is_kept(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = make_model(tiny_encoder_path, tmp_path, pooling="mean")
    check_every_parameter_gets_a_gradient(model, documents())
    check_learns(model, documents()[:3])
    model.save_pretrained(tmp_path / "kept")
    loaded = InverseCloze.from_pretrained(tmp_path / "kept")
    assert loaded.predict(documents()) == model.predict(documents())


def test_vectors_follow_the_weights(tiny_encoder_path: Path, tmp_path: Path) -> None:
    model = make_model(tiny_encoder_path, tmp_path)
    embedder = model.retriever.passages
    before = model.corpus.vectors(embedder, fresh=True)
    assert model.corpus.vectors(embedder, fresh=True) is before or before.equal(
        model.corpus.vectors(embedder)
    )
    with torch.no_grad():
        embedder.projection.weight.mul_(2)
    assert model.corpus.vectors(embedder).equal(before)  # searched by what was made before
    torch.testing.assert_close(model.corpus.vectors(embedder, fresh=True), 2 * before)


def test_means_keep_their_order_when_training_begins(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    """As wide as the encoder, the projection is a rotation: products are cosines times a number."""
    model = make_model(tiny_encoder_path, tmp_path, pooling="mean", vector_width=32)
    vectors = model.retriever.passages.encode(model.corpus.tokens(model.retriever.passages))
    lengths = (vectors**2).sum(1)
    assert lengths == pytest.approx([20.0] * len(lengths), rel=1e-3)
