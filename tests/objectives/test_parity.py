"""The losses of BERT, ALBERT and ELECTRA are those of the Hugging Face classes, to rounding."""

from pathlib import Path

import numpy as np
import pytest
import torch
from objective_checks import enlarge, randomness, stretch_of
from torch import Tensor
from transformers import (
    AlbertConfig,
    AlbertForPreTraining,
    AlbertModel,
    AutoTokenizer,
    BertForPreTraining,
    ElectraConfig,
    ElectraForPreTraining,
    ElectraModel,
)

from factloom.encoders.encoder import Encoder
from factloom.objectives import Corrupted, Stretch
from factloom.objectives.albert import Albert, AlbertSettings
from factloom.objectives.batch import lay_out
from factloom.objectives.bert import Bert
from factloom.objectives.electra import Electra, ElectraSettings
from factloom.objectives.masking import MaskSettings
from factloom.objectives.network import Network
from factloom.objectives.pretraining import Pretraining
from factloom.objectives.sentence_pairs import PairHead

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32} | {
    "intermediate_size": 64,
    "embedding_size": 16,
}


def labels_of(corrupted: Corrupted) -> Tensor:
    labels = torch.full((1, len(corrupted.tokens)), -100)
    labels[0, corrupted.slots] = torch.from_numpy(corrupted.wanted)
    return labels


def give(theirs: torch.nn.Linear, mine: torch.nn.Linear) -> None:
    theirs.load_state_dict(mine.state_dict())


def our_loss(model: Pretraining, corrupted: Corrupted) -> float:
    return float(model.eval()(lay_out([[corrupted]], 0)).loss)


def loaded(tiny: Path, family: type, config: type, path: Path) -> Network:
    """A tiny network of another family, with the same tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    tokenizer.save_pretrained(path)
    family(config(vocab_size=len(tokenizer), **SIZES)).save_pretrained(path)
    network = Network(Encoder.load(str(path), overlap=0))
    enlarge(network)
    return network


def with_other(stretch: Stretch, network: Network) -> Stretch:
    return Stretch(stretch.ids, stretch.marks, stretch_of(network.encoder, "One token stands."))


@pytest.mark.parametrize("draw", range(4))
@torch.no_grad()
def test_bert(draw: int, network: Network, stretch: Stretch, tmp_path: Path) -> None:
    model = Pretraining(network, "bert", MaskSettings())
    model.save_pretrained(tmp_path)
    theirs = BertForPreTraining.from_pretrained(tmp_path).eval()
    assert isinstance(model.objective, Bert)
    head: PairHead = model.objective.next_sentence
    enlarge(head)
    give(theirs.bert.pooler.dense, head.dense)
    give(theirs.cls.seq_relationship, head.classifier)
    corrupted = model.objective.corrupt(with_other(stretch, network), randomness(draw))
    assert corrupted.types is not None
    expected = theirs(
        input_ids=torch.from_numpy(corrupted.tokens)[None],
        token_type_ids=torch.from_numpy(corrupted.types)[None],
        labels=labels_of(corrupted),
        next_sentence_label=torch.tensor([corrupted.label]),
    ).loss
    assert our_loss(model, corrupted) == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("draw", range(4))
@torch.no_grad()
def test_albert(draw: int, tiny_encoder_path: Path, tmp_path: Path, stretch: Stretch) -> None:
    network = loaded(tiny_encoder_path, AlbertModel, AlbertConfig, tmp_path / "encoder")
    model = Pretraining(network, "albert", AlbertSettings())
    model.save_pretrained(tmp_path / "saved")
    theirs = AlbertForPreTraining.from_pretrained(tmp_path / "saved").eval()
    assert isinstance(model.objective, Albert)
    enlarge(model.objective.order)
    give(theirs.albert.pooler, model.objective.order.dense)
    give(theirs.sop_classifier.classifier, model.objective.order.classifier)
    corrupted = model.objective.corrupt(stretch, randomness(draw))
    assert corrupted.types is not None
    assert corrupted.label is not None
    expected = theirs(
        input_ids=torch.from_numpy(corrupted.tokens)[None],
        token_type_ids=torch.from_numpy(corrupted.types)[None],
        labels=labels_of(corrupted),
        sentence_order_label=torch.tensor([corrupted.label]),
    ).loss
    assert our_loss(model, corrupted) == pytest.approx(float(expected), rel=1e-5)


@torch.no_grad()
def test_electra(tiny_encoder_path: Path, tmp_path: Path, stretch: Stretch) -> None:
    network = loaded(tiny_encoder_path, ElectraModel, ElectraConfig, tmp_path / "encoder")
    model = Pretraining(network, "electra", ElectraSettings())
    objective = model.eval().objective
    assert isinstance(objective, Electra)
    enlarge(objective)
    model.save_pretrained(tmp_path / "saved")
    theirs = ElectraForPreTraining.from_pretrained(tmp_path / "saved").eval()
    give(theirs.discriminator_predictions.dense, objective.dense)
    give(theirs.discriminator_predictions.dense_prediction, objective.prediction)
    corrupted = objective.corrupt(stretch, randomness(1))
    batch = lay_out([[corrupted]], 0)
    states = objective.generator.states(batch.windows)[batch.slots]
    drawn = objective._drawn(objective.generator.logits(states), batch)
    shown = torch.from_numpy(corrupted.tokens)[None].clone()
    shown[0, corrupted.slots] = drawn
    replaced = torch.zeros_like(shown)
    replaced[0, corrupted.slots] = (drawn != batch.wanted).long()
    assert replaced.any()
    expected = theirs(input_ids=shown, attention_mask=torch.ones_like(shown), labels=replaced).loss
    (found,) = objective.losses(network, batch).further.values()
    assert float(found) == pytest.approx(50 * float(expected), rel=1e-5)


def test_draws_of_the_generator_follow_its_probabilities(network: Network) -> None:
    model = Pretraining(network, "electra", ElectraSettings())
    assert isinstance(model.objective, Electra)
    stretch = Stretch(np.full(400, 20), np.ones(400, np.uint8))
    batch = lay_out([[model.objective.corrupt(stretch, randomness(n))] for n in range(50)], 0)
    logits = torch.tensor([0.1, 0.2, 0.3, 0.4]).log().expand(batch.weight, 4)
    drawn = torch.bincount(model.objective._drawn(logits, batch), minlength=4) / batch.weight
    assert drawn.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.025)
