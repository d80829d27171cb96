"""REALM's pretraining: the likelihood of what is hidden, by a loop over passages and tokens."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from model_checks import check_every_parameter_gets_a_gradient, check_learns
from open_examples import TEXTS, corpus_file, documents, far_apart
from open_loops import best, shares, vector, vector_of_ids

from factloom.answers.realm_pretraining import RealmPretraining, RealmPretrainingSettings
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.modules.passage_marginals import log_marginal


def make_model(path: Path, folder: Path, **settings: object) -> RealmPretraining:
    encoder = Encoder.load(str(path), overlap=16)
    given = {"corpus": [corpus_file(folder)], "vector_width": 16, "passages": 2, **settings}
    chosen = RealmPretrainingSettings.model_validate(given)
    return RealmPretraining.from_documents(encoder, documents(), chosen)


@torch.no_grad()
@pytest.mark.parametrize("way", ["whole", "token"])
def test_the_loss_equals_a_loop_over_passages_and_hidden_tokens(
    tiny_encoder_path: Path, tmp_path: Path, way: str
) -> None:
    model = make_model(tiny_encoder_path, tmp_path, marginal=way)
    far_apart(model)
    tokenizer, losses, several = model.encoder.tokenizer, [], 0
    names, texts = list(TEXTS), list(TEXTS.values())
    for example in model.prepare(documents()):
        shown, wanted = example.token_ids.copy(), example.token_ids
        shown[example.first : example.last + 1] = tokenizer.mask_token_id
        ids = [tokenizer.cls_token_id, *shown.tolist(), tokenizer.sep_token_id]
        query = vector_of_ids(model.retriever.questions, ids)
        scores = [float(query @ vector(model.retriever.passages, text)) for text in texts]
        rows = best(scores, 2, without=(names.index(example.id),))
        chances = shares([float(query @ model.null), *(scores[row] for row in rows)])
        places = range(example.first, example.last + 1)
        told = []
        for text in ("", *(texts[row] for row in rows)):
            behind = tokenizer(text, add_special_tokens=False)["input_ids"]
            ids = [tokenizer.cls_token_id, *shown, tokenizer.sep_token_id]
            types = [0] * len(ids) + [1] * (len(behind) + 1)
            ids += [*behind, tokenizer.sep_token_id]
            output: Any = model.encoder.backbone(
                input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])
            )
            said = model.network.logits(output.last_hidden_state[0]).softmax(-1)
            told.append([float(said[1 + place, wanted[place]]) for place in places])
        several += len(places) > 1
        losses.append(-math.log(likelihood(told, chances, way)))
    assert several
    output = model(model.collate(model.prepare(documents())))
    assert float(output.loss) == pytest.approx(np.mean(losses), rel=1e-4)


def likelihood(told: list[list[float]], chances: list[float], way: str) -> float:
    if way == "whole":
        return sum(c * math.prod(tokens) for c, tokens in zip(chances, told, strict=True))
    each = zip(*told, strict=True)
    return math.prod(sum(c * p for c, p in zip(chances, of, strict=True)) for of in each)


def test_both_encoders_and_the_reader_learn(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = make_model(tiny_encoder_path, tmp_path)
    check_every_parameter_gets_a_gradient(model, documents())
    check_learns(model, documents(), steps=30)


def test_a_passage_comes_nearer_where_it_helps_more_than_the_others() -> None:
    """The gradient of the paper's appendix: r(z) = (p(y|z,x) / p(y|x) - 1) p(z|x)."""
    torch.manual_seed(1)
    scores = torch.randn(1, 4, dtype=torch.double, requires_grad=True)
    tokens = torch.randn(1, 4, 3, dtype=torch.double).log_softmax(-1)
    likely = log_marginal(tokens, scores.log_softmax(1), "whole")
    likely.sum().backward()
    whole = tokens.sum(-1).exp()
    share = scores.detach().softmax(1)
    expected = (whole / (whole * share).sum() - 1) * share
    torch.testing.assert_close(scores.grad, expected)


def test_the_own_document_is_never_found(tiny_encoder_path: Path, tmp_path: Path) -> None:
    model = make_model(tiny_encoder_path, tmp_path, passages=9)
    far_apart(model)
    examples = model.prepare(documents())
    rows, chances = model._retrieved(model.collate(examples))
    for example, found, shares_ in zip(examples, rows.tolist(), chances.exp(), strict=True):
        own = list(TEXTS).index(example.id)
        place = found.index(own)
        assert float(shares_[1 + place]) == 0.0
        assert float(shares_.sum()) == pytest.approx(1.0)


def test_it_is_kept_and_tells_the_passages_of_questions(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    model = make_model(tiny_encoder_path, tmp_path, found=3)
    model.eval().save_pretrained(tmp_path / "kept")
    loaded = RealmPretraining.from_pretrained(tmp_path / "kept")
    batch = model.collate(model.prepare(documents()))
    assert loaded(batch).loss.equal(model(batch).loss)
    found = model.predict(documents())
    assert found == loaded.predict(documents())
    told = found[0].questions[0].attributes["passages"]
    assert len(told) == 3
    assert sum(one["score"] for one in told) == pytest.approx(1.0, abs=1e-3)


def test_without_mentions_there_is_nothing_to_hide(tiny_encoder_path: Path) -> None:
    with pytest.raises(ModelError, match="no-mentions-to-hide"):
        RealmPretraining.from_documents(
            Encoder.load(str(tiny_encoder_path)),
            [Document("Mara left.")],
            RealmPretrainingSettings(corpus=["c"]),
        )
