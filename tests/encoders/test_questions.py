"""A question in front of a text: as each family's own class reads the pair, in every window."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from families import FAMILIES, POSITIONS, save_family
from numpy.typing import NDArray
from tokenizers import Tokenizer, processors
from torch import Tensor, nn
from transformers import AutoModel

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError

QUESTIONS = ("Where was she born?", "Which company did Mara found in 1956")
TEXTS = (
    "Mara Velden was born in Torvik.",
    "马云出生于杭州",
    "She founded Quillmark Ltd in 1956; it has",
)
SEGMENTS = {"BERT": True, "RoBERTa": False, "ALBERT": True, "ELECTRA": True, "MPNet": False}
SEGMENTS |= {"DeBERTa-v2": False, "XLNet": True, "ModernBERT": False}


@dataclass(frozen=True)
class Case:
    name: str
    encoder: Encoder
    reference: nn.Module  # the family's own class with plain attention


@pytest.fixture(scope="module", params=FAMILIES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    path = tmp_path_factory.mktemp("encoders") / request.param
    save_family(request.param, path)
    encoder = Encoder.load(str(path), overlap=8).eval()
    reference = AutoModel.from_pretrained(path, attn_implementation="eager").eval()
    return Case(request.param, encoder, reference)


def tokens_of(encoder: Encoder, text: str) -> NDArray[np.int64]:
    return encoder.tokenize([text])[0].ids


@torch.no_grad()
def expected(case: Case, question: str, text: str) -> Tensor:
    """(length, width) of the family's class, for the pair as its tokenizer writes it."""
    pair = case.encoder.tokenizer(question, text, return_tensors="pt", return_token_type_ids=True)
    inputs = {name: pair[name] for name in ("input_ids", "attention_mask")}
    if SEGMENTS[case.name]:
        inputs["token_type_ids"] = pair["token_type_ids"]
    return case.reference(**inputs).last_hidden_state[0]


def test_states_are_those_of_the_huggingface_class_for_the_pair(case: Case) -> None:
    for question in QUESTIONS:
        for text in TEXTS:
            around = case.encoder.question(question)
            batch = case.encoder.batch([tokens_of(case.encoder, text)], special=[around])
            pair = case.encoder.tokenizer(question, text)["input_ids"]
            assert batch.token_ids[0].tolist() == pair
            with torch.no_grad():
                found = case.encoder(batch).states[0]
            torch.testing.assert_close(found, expected(case, question, text), rtol=1e-4, atol=2e-5)


def test_a_padded_batch_of_questions_equals_each_by_itself(case: Case) -> None:
    pairs = [(question, text) for question in QUESTIONS for text in TEXTS]
    special = [case.encoder.question(question) for question, _ in pairs]
    tokens = [tokens_of(case.encoder, text) for _, text in pairs]
    with torch.no_grad():
        found = case.encoder(case.encoder.batch(tokens, special=special)).states
    for row, (question, text) in enumerate(pairs):
        alone = expected(case, question, text)
        torch.testing.assert_close(found[row, : len(alone)], alone, rtol=1e-4, atol=2e-5)


def test_segments_are_told_where_the_family_reads_them(case: Case) -> None:
    around = case.encoder.question(QUESTIONS[0])
    batch = case.encoder.batch([tokens_of(case.encoder, TEXTS[0])] * 2, special=[around] * 2)
    if not SEGMENTS[case.name]:
        assert batch.token_types is None
        return
    assert batch.token_types is not None
    pair = case.encoder.tokenizer(QUESTIONS[0], TEXTS[0], return_token_type_ids=True)
    types = pair["token_type_ids"]
    assert batch.token_types.tolist() == [types] * 2
    assert len(set(types)) > 1
    assert case.encoder.batch([tokens_of(case.encoder, TEXTS[0])]).token_types is None


def test_the_first_token_of_the_text_stands_behind_question_and_separator(case: Case) -> None:
    around = case.encoder.question(QUESTIONS[0])
    pair = case.encoder.tokenizer(QUESTIONS[0], TEXTS[0])
    assert pair.sequence_ids(0).index(1) == len(around.before)


@torch.no_grad()
def test_every_window_of_a_long_document_carries_the_question(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), window=32, overlap=6).eval().double()
    reference = AutoModel.from_pretrained(tiny_encoder_path, attn_implementation="eager")
    reference = reference.eval().double()
    documents = [np.random.default_rng(n).integers(10, 150, n) for n in (70, 5, 45)]
    special = [encoder.question(QUESTIONS[index]) for index in (0, 1, 1)]
    found = encoder(encoder.batch(documents, special=special)).states
    for row, (tokens, around) in enumerate(zip(documents, special, strict=True)):
        front, behind = len(around.before), len(around.after)
        size = 32 - front - behind
        slots: list[list[Tensor]] = [[] for _ in range(front + len(tokens) + behind)]
        start = 0
        while True:
            content = tokens[start : start + size].tolist()
            ids = [*around.before, *content, *around.after]
            types = [0] * front + [1] * (len(content) + behind)
            states = reference(
                torch.tensor([ids]), token_type_ids=torch.tensor([types])
            ).last_hidden_state[0]
            places = [*range(front), *range(front + start, front + start + len(content))]
            for state, place in zip(states, [*places, len(slots) - 1], strict=True):
                slots[place].append(state)
            if start + size >= len(tokens):
                break
            start = min(start + size - 6, len(tokens) - size)
        expected = torch.stack([sum(states) / len(states) for states in slots])
        torch.testing.assert_close(found[row, : len(slots)], expected)


def test_a_question_that_leaves_no_room_is_refused(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), window=POSITIONS, overlap=16)
    fits = "born " * 44  # with three special tokens, 17 are left: one more than overlap
    assert encoder.question(fits).count == 47
    with pytest.raises(ModelError) as caught:
        encoder.question(fits + "born")
    assert caught.value.code == "question-too-long"
    assert "45 tokens" in str(caught.value)
    assert "born born" in str(caught.value)


def test_a_long_document_with_a_question_is_an_error_where_that_was_asked_for(
    tiny_encoder_path: Path,
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), window=40, overlap=4, long_documents="error")
    around = encoder.question("born born")
    encoder.batch([np.full(35, 20)], special=[around])
    with pytest.raises(ModelError, match="36 tokens and one window holds 35") as caught:
        encoder.batch([np.full(5, 20), np.full(36, 20)], special=[around] * 2)
    assert caught.value.code == "document-too-long"


def test_a_tokenizer_that_knows_no_pairs_is_refused(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    inner: Tokenizer = encoder.tokenizer.backend_tokenizer
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    with pytest.raises(ModelError) as caught:
        encoder.question("Where?")
    assert caught.value.code == "no-separator"
