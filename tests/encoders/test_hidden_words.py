"""Hidden words are masks to the encoder, in every window; nothing else changes."""

from pathlib import Path

import pytest
import torch

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.word_documents import WordBatch, make_batch, make_examples
from factloom.layouts.word_shapes import hide_words

TEXT = "Mara Velden was born in Torvik on 3 May 1931."
LONG = " ".join([TEXT] * 12)


@pytest.fixture
def encoder(tiny_encoder_path: Path) -> Encoder:
    return Encoder.load(str(tiny_encoder_path), window=64, overlap=8)


def batch_of(encoder: Encoder, *texts: str) -> WordBatch:
    documents = [Document(text) for text in texts]
    examples = make_examples(documents, encoder, ["O"], "BIO")
    return make_batch(examples, encoder, whole_words=True).to("cpu")


def pieces(encoder: Encoder, word: str) -> list[int]:
    return list(encoder.tokenize([word])[0].ids)


def test_tokens_of_hidden_words_are_masks(encoder: Encoder) -> None:
    batch = batch_of(encoder, TEXT, "Torvik")
    hidden = torch.zeros(batch.words, dtype=torch.bool)
    hidden[[1, 11]] = True  # Velden; Torvik of the second document
    windows = hide_words(batch, hidden, encoder.mask_token)
    mara, velden = pieces(encoder, "Mara"), pieces(encoder, "Velden")
    expected = batch.windows.token_ids.clone()
    start = 1 + len(mara)
    expected[0, start : start + len(velden)] = encoder.mask_token
    expected[1, 1 : 1 + len(pieces(encoder, "Torvik"))] = encoder.mask_token
    assert encoder.mask_token == encoder.tokenizer.mask_token_id
    assert torch.equal(windows.token_ids, expected)
    assert not torch.equal(windows.token_ids, batch.windows.token_ids)


def test_only_what_looks_like_a_name_is_hidden(encoder: Encoder) -> None:
    text = "Mara was 3 , 北 京 NATO mRNA 1931"
    batch = batch_of(encoder, text)
    windows = hide_words(batch, torch.ones(batch.words, dtype=torch.bool), encoder.mask_token)
    kept = windows.token_ids[0] != encoder.mask_token
    seen = batch.windows.token_ids[0][kept].tolist()
    readable = [token for word in ("was", "3", ",", "1931") for token in pieces(encoder, word)]
    assert seen == [*encoder.special.before, *readable, *encoder.special.after]


def test_a_word_is_hidden_in_every_window_that_has_it(encoder: Encoder) -> None:
    batch = batch_of(encoder, LONG)
    assert batch.windows.token_ids.shape[0] > 1
    windows = hide_words(batch, torch.ones(batch.words, dtype=torch.bool), encoder.mask_token)
    for token in pieces(encoder, "Torvik"):
        assert (batch.windows.token_ids == token).any(1).all()
        assert not (windows.token_ids == token).any()
    assert torch.equal(windows.slots, batch.windows.slots)


def test_without_hidden_words_nothing_changes(encoder: Encoder) -> None:
    batch = batch_of(encoder, TEXT)
    windows = hide_words(batch, torch.zeros(batch.words, dtype=torch.bool), encoder.mask_token)
    assert torch.equal(windows.token_ids, batch.windows.token_ids)
