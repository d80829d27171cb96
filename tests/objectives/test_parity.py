"""The losses are those of the Hugging Face classes, to rounding: where there is one.

BERT, ALBERT, ELECTRA; perm_mask and target_mapping of XLNet; what T5, BART and Pegasus write.
"""

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
    BartConfig,
    BartForConditionalGeneration,
    BertForPreTraining,
    ElectraConfig,
    ElectraForPreTraining,
    ElectraModel,
    PegasusConfig,
    PegasusForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
    XLNetConfig,
    XLNetLMHeadModel,
)

from factloom.encoders.encoder import Encoder
from factloom.objectives import Corrupted, Stretch, objective_settings
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


# --- XLNet ---------------------------------------------------------------------------------------


def by_rows(theirs: XLNetLMHeadModel, corrupted: Corrupted) -> Tensor:
    """(targets, tokens) logits of XLNet's layers by hand: text and queries are rows of one table,
    with the positions and the visibility that the objective gives."""
    assert corrupted.positions is not None
    assert corrupted.visible is not None
    network = theirs.transformer
    count = len(corrupted.tokens) - len(corrupted.slots)
    words = network.word_embedding(torch.from_numpy(corrupted.tokens[:count]))
    queries = network.mask_emb[0].expand(len(corrupted.slots), -1)
    states = torch.cat([words, queries])  # (rows, width)
    places = torch.from_numpy(corrupted.positions)
    apart = (places[:, None] - places[None]).flatten()
    frequency = 1 / 10000 ** (torch.arange(0, states.shape[1], 2.0) / states.shape[1])
    table = network.positional_embedding(apart, frequency)[:, 0]  # (rows * rows, width)
    seen = torch.from_numpy(corrupted.visible.copy())
    seen[count:, count:] = False  # a query of the class does not see its own mask
    for layer in network.layer:
        attention = layer.rel_attn
        query, key, value = (
            torch.einsum("ih,hnd->nid", states, weights)
            for weights in (attention.q, attention.k, attention.v)
        )
        distance = torch.einsum("rh,hnd->nrd", table, attention.r)
        distance = distance.view(len(distance), len(states), len(states), -1)
        scores = (query + attention.r_w_bias[:, None]) @ key.transpose(1, 2)
        scores = scores + torch.einsum(
            "nid,nijd->nij", query + attention.r_r_bias[:, None], distance
        )
        weights = (scores * attention.scale).masked_fill(~seen, -1e30).softmax(-1)
        mixed = torch.einsum("nid,hnd->ih", weights @ value, attention.o)
        states = layer.ff(attention.layer_norm(mixed + states))
    return theirs.lm_loss(states[torch.from_numpy(corrupted.slots)])


@pytest.mark.parametrize("draw", range(3))
@torch.no_grad()
def test_xlnet(draw: int, network: Network, stretch: Stretch) -> None:
    objective = Pretraining(network, "xlnet", objective_settings("xlnet")(rate=0.4)).objective
    corrupted = objective.corrupt(stretch, randomness(draw))
    assert corrupted.visible is not None
    assert corrupted.positions is not None
    count = len(corrupted.tokens) - len(corrupted.slots)
    told = corrupted.positions[corrupted.slots]
    # who may not see whom, of the text alone; content sees itself in the class whatever is said
    hidden = ~corrupted.visible[:count, :count] | np.eye(count, dtype=bool)
    assert (hidden[told] == ~corrupted.visible[count:, :count]).all()
    sizes = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}
    theirs = XLNetLMHeadModel(XLNetConfig(vocab_size=len(network.embeddings), **sizes)).eval()
    enlarge(theirs)
    expected = theirs(
        input_ids=torch.from_numpy(corrupted.tokens[:count])[None],
        perm_mask=torch.from_numpy(hidden[None] * np.float32(1)),
        target_mapping=torch.eye(count)[told][None],
        labels=torch.from_numpy(corrupted.wanted)[None],
    ).loss
    logits = by_rows(theirs, corrupted)
    found = torch.nn.functional.cross_entropy(logits, torch.from_numpy(corrupted.wanted))
    assert float(found) == pytest.approx(float(expected), rel=1e-4)


# --- encoder-decoders ----------------------------------------------------------------------------

WRITERS = {
    "t5": (T5ForConditionalGeneration, T5Config, {"d_kv": 8, "d_ff": 64, "num_layers": 2}),
    "bart": (BartForConditionalGeneration, BartConfig, {"encoder_layers": 2, "decoder_layers": 2}),
    "pegasus": (
        PegasusForConditionalGeneration,
        PegasusConfig,
        {"encoder_layers": 2, "decoder_layers": 2},
    ),
}


@pytest.mark.parametrize("kind", sorted(WRITERS))
@torch.no_grad()
def test_what_is_written_is_what_their_classes_make_of_the_targets(
    kind: str, network: Network, stretch: Stretch
) -> None:
    """Given `labels` alone they shift them and begin with their start token: as we do."""
    model = Pretraining(network, kind, objective_settings(kind)())
    family, config, sizes = WRITERS[kind]
    theirs = family(
        config(
            vocab_size=len(network.embeddings),
            d_model=32,
            decoder_start_token_id=model.vocabulary.start,
            pad_token_id=0,
            eos_token_id=model.vocabulary.end,
            **sizes,
        )
    ).eval()
    enlarge(theirs)
    for draw in range(3):
        corrupted = model.objective.corrupt(stretch, randomness(draw))
        assert corrupted.written is not None
        read = torch.from_numpy(corrupted.tokens)[None]
        wanted = torch.from_numpy(corrupted.wanted)
        expected = theirs(input_ids=read, labels=wanted[None]).loss
        begun = torch.from_numpy(corrupted.written.tokens)[None]
        logits = theirs(input_ids=read, decoder_input_ids=begun).logits[0, corrupted.slots]
        found = torch.nn.functional.cross_entropy(logits, wanted)
        assert float(found) == pytest.approx(float(expected), rel=1e-5)
        assert corrupted.written.positions.tolist() == list(range(len(wanted)))
