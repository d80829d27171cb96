"""What a model adds to the word embeddings of any family, and which tokens its words have."""

import pytest
import torch
from families import FAMILIES, save_family

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.word_documents import make_batch, make_examples
from factloom.text.tokens import join_tokens

WORDS = [["Mara", "Velden", "was", "born", "in", "Torvik", "."], ["She", "left", "马", "云"]]


@pytest.fixture(scope="module", params=FAMILIES)
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    path = tmp_path_factory.mktemp("encoders") / request.param
    save_family(request.param, path)
    return Encoder.load(str(path), overlap=16).eval()


@torch.no_grad()
def test_states_alone_are_those_with_attention(encoder: Encoder) -> None:
    batch = encoder.batch([tokens.ids for tokens in encoder.tokenize(["Mara left.", "She"])])
    inside = batch.mask.bool()
    assert torch.equal(encoder.states(batch)[inside], encoder(batch).states[inside])


@torch.no_grad()
def test_adding_the_difference_of_two_words_exchanges_them(encoder: Encoder) -> None:
    (tokens,) = encoder.tokenize(["Mara Velden was born in Torvik"])
    one, other = tokens.ids, tokens.ids[::-1].copy()
    table = encoder.backbone.get_input_embeddings()
    first, second = encoder.batch([one]), encoder.batch([other])
    difference = table(second.token_ids) - table(first.token_ids)
    assert difference.shape[2] == encoder.embedding_width
    torch.testing.assert_close(
        encoder.states(first, difference), encoder.states(second), rtol=1e-4, atol=1e-5
    )
    assert torch.equal(encoder.states(first), encoder.states(encoder.batch([one])))  # taken back


def test_the_tokens_of_a_word_are_those_over_its_characters(encoder: Encoder) -> None:
    text, sentences = join_tokens(WORDS)
    document = Document(text, "d", sentences)
    (example,) = make_examples([document], encoder, ["O"], "BIO")
    (tokens,) = encoder.tokenize([text])
    for (start, end), first, last in zip(example.offsets, example.first, example.last, strict=True):
        covering = [
            number for number, (a, b) in enumerate(tokens.offsets) if max(a, start) < min(b, end)
        ]
        assert list(range(first, last + 1)) == covering
    pieces = sum(last - first + 1 for first, last in zip(example.first, example.last, strict=True))
    for whole_words, expected in ((False, len(example.tags)), (True, pieces)):
        batch = make_batch([example, example], encoder, whole_words=whole_words).to("cpu")
        assert len(batch.piece_slot) == 2 * expected
        assert batch.weight == 22


def test_every_token_of_a_word_has_five_shapes_and_special_ones_none(encoder: Encoder) -> None:
    text, sentences = join_tokens(WORDS)
    examples = make_examples([Document(text, "d", sentences)], encoder, ["O"], "BIO")
    batch = make_batch(examples, encoder, whole_words=False).to("cpu")
    counts = batch.shapes.sum(2)[0]
    before, after = len(encoder.special.before), len(encoder.special.after)
    assert (counts[:before] == 0).all()
    assert (counts[len(counts) - after :] == 0).all()
    tokens = counts[before : len(counts) - after]
    assert len(tokens) == examples[0].tokens
    assert set(tokens.tolist()) <= {0, 5}
    for first, last in zip(examples[0].first, examples[0].last, strict=True):
        assert (tokens[first : last + 1] == 5).all()
