"""CogQA: both systems against plain loops, what it concludes, and what it abstains from."""

import math
from pathlib import Path
from typing import cast

import pytest
import torch
from cogqa_examples import COGNITIVE
from model_checks import check_model

from factloom.answers.answer import Proof
from factloom.answers.cogqa import CogQa, CogQaSettings
from factloom.answers.fact_hops import FactHop, FactHops
from factloom.answers.titled_texts import Library, titled_texts
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError

BRIDGE, TITLE, EITHER, YES, NONE = COGNITIVE


def make_model(path: Path, **settings: object) -> CogQa:
    """An untrained model in double precision whose scores are far apart."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        encoder = Encoder.load(str(path), overlap=8)
        model = CogQa(encoder, CogQaSettings.model_validate(settings))
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.3)
    return model.double().eval()


def test_cogqa_passes_the_checks_of_every_model(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = CogQa.from_documents(encoder, COGNITIVE, CogQaSettings(dropout=0.0))
    model.provenance = {"seed": 3, "data": {"a.json": "0123"}}
    check_model(model, COGNITIVE, tmp_path)
    assert CogQa.from_pretrained(tmp_path / "model").settings == model.settings


def test_the_gold_graph_has_the_proof_the_answer_and_what_is_none(tiny_encoder_path: Path) -> None:
    bridge, title, either, yes, none = make_model(tiny_encoder_path).prepare(COGNITIVE)
    assert [one.kind for one in (bridge, title, either, yes, none)] == [
        *["special"] * 2,
        "either",
        "yes/no",
        "special",
    ]
    assert (0, 1) in bridge.edges  # Quillmark Ltd says the name of Mara Velden
    assert bridge.target is not None
    assert bridge.target >= bridge.texts  # a leaf, told of by the second text
    assert (1, bridge.target) in bridge.edges
    hop = bridge.readings[0]
    first, last = hop.hops[0]
    start, end = hop.asked.words[first, 0], hop.asked.words[last, 1]
    assert BRIDGE.text[start:end] == "Mara Velden"  # the first text begins where the document does
    assert len(bridge.readings[1].answers) == 1
    assert title.target is not None
    assert (either.pair, either.first) == ((0, 1), True)
    assert (yes.pair, yes.first) == ((0, 1), False)
    assert none.target == -1
    (unknown,) = make_model(tiny_encoder_path).prepare([BRIDGE.without_answers()])
    assert unknown.terms == 0


def log_softmax(values: list[float]) -> list[float]:
    total = math.log(sum(map(math.exp, values)))
    return [value - total for value in values]


@pytest.mark.parametrize("number", range(5))
@torch.no_grad()
def test_loss_equals_plain_loops(tiny_encoder_path: Path, number: int) -> None:
    model = make_model(tiny_encoder_path)
    (asked,) = model.prepare([COGNITIVE[number]])
    batch = model.collate([asked])
    pointed, vectors = model._read(batch.readings)
    expected = 0.0
    for row, reading in enumerate(asked.readings[: asked.texts]):
        columns = len(reading.asked.words) + 1
        for pointer, gold in ((0, reading.hops), (2, reading.answers)):
            start = log_softmax(pointed[pointer, row, :columns].tolist())
            end = log_softmax(pointed[pointer + 1, row, :columns].tolist())
            spans = [(a + 1, b + 1) for a, b in gold.tolist()] or [(0, 0)]
            mean = sum(start[a] + end[b] for a, b in spans) / len(spans)
            expected -= mean / 2 / asked.texts
    states = model._reason(vectors, batch.edges)
    if asked.kind == "special":
        chances = log_softmax([0.0, *model.node(states)[:, 0].tolist()])
        assert asked.target is not None
        expected -= chances[asked.target + 1]
    else:
        net = model.yes_no if asked.kind == "yes/no" else model.either
        logit = float(net(states[:1] - states[1:2]))
        expected += math.log(1 + math.exp(-logit if asked.first else logit))
    assert float(model(batch).loss) == pytest.approx(expected, rel=1e-6)


def test_the_systems_are_trained_apart(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    batch = model.collate(model.prepare(COGNITIVE))
    _, vectors = model._read(batch.readings)
    states = model._reason(vectors.detach(), batch.edges)
    (model._node_loss(states, batch) + model._pair_loss(states, batch)).backward()
    assert all(weights.grad is None for weights in model.encoder.parameters())
    assert model.pointers.weight.grad is None


def test_names_and_answers_are_inside_one_sentence_and_short(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, longest_answer=3)
    library = Library(titled_texts([BRIDGE]))
    graph, _ = model._explore("Where was the founder of Quillmark Ltd born?", library, 4096)
    placed = [node for node in graph.nodes if node.place is not None]
    assert placed
    for node in placed:
        assert node.place is not None
        number, (start, end) = node.place
        text = library.texts[number]
        assert text.sentence_at(start)[1] >= end
        assert len(text.text[start:end].split()) <= 3


class Founding:
    """One fact, of which the texts hold the sentence."""

    def names_in(self, question: str) -> list[str]:  # noqa: ARG002
        return ["Quillmark Ltd"]

    def of(self, name: str) -> list[FactHop]:
        proof = Proof("bridge", "She studied at Halden College.")
        return [FactHop("Halden College", "founded at", proof)] * (name == "Quillmark Ltd")


def test_a_fact_leads_where_system_1_points_to_nothing(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    with torch.no_grad():
        model.pointers.weight.zero_()  # no start is better than [CLS]
    question, facts = "Where was the founder of Quillmark Ltd born?", cast(FactHops, Founding())
    assert model.ask(question, [BRIDGE]) == []
    (found,) = model.ask(question, [BRIDGE], facts=facts)
    assert BRIDGE.text[found.start : found.end] == "Halden College"
    assert found.path == "Quillmark Ltd — founded at → Halden College"


def test_a_comparison_answers_one_of_both_and_yes_or_no_stands_nowhere(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    best, other = model.ask(EITHER.questions[0].text, [EITHER], top=2)
    names = {EITHER.text[span.start : span.end] for span in (best, other)}
    assert names == {"Quillmark Ltd", "Ashmere"}
    assert best.margin == -other.margin > 0
    (said,) = model.ask(YES.questions[0].text, [YES])
    assert said.word in ("yes", "no")
    model.threshold.fill_(-1e6)
    (found,) = model.predict([YES])
    (answer,) = found.questions[0].answers or ()
    assert (answer.text, answer.start) == (said.word, None)
    assert found.questions[0].evidence == (1, 9)


def test_without_a_name_to_point_to_there_is_no_answer(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    with torch.no_grad():
        model.pointers.weight.zero_()  # no start is better than [CLS]
    (found,) = model.predict([NONE.replace(attributes={})])
    assert (found.questions[0].answers, found.questions[0].no_answer) == ((), 1.0)
    assert model.ask("Who?", []) == []
    assert model.ask("Who?", [Document(" \n")]) == []


def test_without_an_answer_to_learn_it_is_told(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    with pytest.raises(ModelError, match="no-answers-to-learn"):
        CogQa.from_documents(encoder, [NONE], CogQaSettings())
