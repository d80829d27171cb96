"""Every family of encoders gives what its Hugging Face class gives, padded or not."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from families import FAMILIES, POSITIONS, Family, save_family
from torch import Tensor, nn
from transformers import AutoModel

from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoded, Encoder
from factloom.layouts.marked_documents import make_examples
from factloom.models.atlop import Atlop, AtlopSettings

TEXTS = (
    "Mara Velden was born in * Torvik * on 3 May.",
    "马云出生于杭州",
    "She founded Quillmark in 1956; it has its headquarters in Ashmere.",
)


@dataclass(frozen=True)
class Case:
    family: Family
    path: Path
    encoder: Encoder
    reference: nn.Module  # the family's own class with plain attention


@pytest.fixture(scope="module", params=FAMILIES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    path = tmp_path_factory.mktemp("encoders") / request.param
    save_family(request.param, path)
    encoder = Encoder.load(str(path), overlap=16).eval()
    reference = AutoModel.from_pretrained(path, attn_implementation="eager").eval()
    return Case(FAMILIES[request.param], path, encoder, reference)


@torch.no_grad()
def encode(encoder: Encoder, texts: tuple[str, ...]) -> Encoded:
    """With the attention of every token."""
    ids = [tokens.ids for tokens in encoder.tokenize(texts)]
    return encoder(encoder.batch(ids, [np.arange(len(tokens)) for tokens in ids]))


@torch.no_grad()
def expected(case: Case, text: str) -> tuple[Tensor, Tensor]:
    """States (length, width) and last attention (tokens, heads, length) of the family's class."""
    inputs = case.encoder.tokenizer(text, return_tensors="pt")
    output = case.reference(**inputs, output_attentions=True)
    before, after = len(case.family.before), len(case.family.after)
    attention = output.attentions[-1][0].transpose(0, 1)  # (length, heads, length)
    return output.last_hidden_state[0], attention[before : len(attention) - after]


def test_states_and_attention_are_those_of_the_huggingface_class(case: Case) -> None:
    for text in TEXTS:
        found = encode(case.encoder, (text,))
        states, attention = expected(case, text)
        torch.testing.assert_close(found.states[0], states, rtol=1e-4, atol=2e-5)
        torch.testing.assert_close(found.attention, attention, rtol=1e-4, atol=2e-5)
        assert states.std() > 0.1
        assert attention.std() > 0.01, "the reference is too uniform to tell anything"


def test_a_padded_batch_equals_the_documents_one_by_one(case: Case) -> None:
    found = encode(case.encoder, TEXTS)
    row = 0
    for index, text in enumerate(TEXTS):
        alone = encode(case.encoder, (text,))
        rows, length = len(alone.attention), alone.states.shape[1]
        states, attention = found.states[index], found.attention[row : row + rows]
        torch.testing.assert_close(states[:length], alone.states[0], rtol=1e-4, atol=2e-5)
        torch.testing.assert_close(attention[..., :length], alone.attention, rtol=1e-4, atol=2e-5)
        assert attention[..., length:].sum() < 1e-6, "padding is attended to"
        row += rows
    assert row == len(found.attention)


def test_attention_rows_sum_to_one(case: Case) -> None:
    sums = encode(case.encoder, TEXTS).attention.sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_special_tokens_are_those_of_the_tokenizer(case: Case) -> None:
    encoder, names = case.encoder, case.encoder.tokenizer.convert_ids_to_tokens
    assert tuple(names(encoder.special.before)) == case.family.before
    assert tuple(names(encoder.special.after)) == case.family.after
    assert encoder.special.padding == encoder.tokenizer.pad_token_id
    (tokens,) = encoder.tokenize([TEXTS[0]])
    whole = [*encoder.special.before, *tokens.ids.tolist(), *encoder.special.after]
    assert whole == encoder.tokenizer(TEXTS[0])["input_ids"]


def test_fused_kernel_runs_where_the_family_takes_kernels(case: Case) -> None:
    assert case.encoder.records_attention == case.family.records_attention


def test_a_window_uses_all_positions_that_the_encoder_has_learned(case: Case) -> None:
    if not case.family.learned_positions:
        assert case.encoder.window == 512
        return
    assert case.encoder.window == POSITIONS
    content = case.encoder.tokenize([TEXTS[0]])[0].ids[:1]
    full = np.repeat(content, case.encoder.capacity)
    with torch.no_grad():
        assert case.encoder(case.encoder.batch([full])).states.shape == (1, POSITIONS, 32)


def test_saving_keeps_weights_tokenizer_and_outputs_bit_for_bit(case: Case, tmp_path: Path) -> None:
    case.encoder.save(tmp_path)
    assert not list(tmp_path.glob("*.safetensors")), "weights belong to the model's own file"
    loaded = Encoder.from_directory(tmp_path, overlap=16).eval()
    loaded.load_state_dict(case.encoder.state_dict())
    found, before = encode(loaded, TEXTS), encode(case.encoder, TEXTS)
    assert torch.equal(found.states, before.states)
    assert torch.equal(found.attention, before.attention)
    assert loaded.records_attention == case.encoder.records_attention
    assert (loaded.window, loaded.special) == (case.encoder.window, case.encoder.special)


def test_mentions_are_found_by_their_markers_also_at_the_ends_of_the_text(case: Case) -> None:
    text = "Mara met 马云 in Torvik"
    document = Document(
        text=text,
        sentences=(Sentence(0, 11), Sentence(12, len(text))),
        mentions=(Mention(0, 4, "PER"), Mention(9, 11, "PER"), Mention(15, 21, "LOC")),
        entities=tuple(Entity((index,), "x") for index in range(3)),
    )
    padded = document.replace(text=text + " \n ")  # behind the last sentence
    for found in make_examples([document, padded], case.encoder, [], "*"):
        tokens = case.encoder.tokenizer.convert_ids_to_tokens(found.token_ids)
        assert [tokens[index].strip("▁Ġ") for index in found.mention_token] == ["*"] * 3
        assert found.sentence[found.mention_token].tolist() == [0, 0, 1]
        assert set(found.sentence[: found.mention_token[1]].tolist()) == {0}
        assert set(found.sentence[found.mention_token[2] :].tolist()) <= {1, -1}
        letters = [index for index, token in enumerate(tokens) if token.strip("▁ĠĊ")]
        assert set(found.sentence[letters].tolist()) == {0, 1}  # only white space is outside


def test_a_relation_model_on_top_is_saved_and_loaded_bit_for_bit(
    case: Case, profiles: list[Document], tmp_path: Path
) -> None:
    model = Atlop(case.encoder, ["P19", "P27", "P159"], AtlopSettings(block_size=8)).eval()
    model.save_pretrained(tmp_path)
    loaded = Atlop.from_pretrained(tmp_path)
    assert loaded.predict(profiles[:1]) == model.predict(profiles[:1])
    batch = model.collate(model.prepare(profiles[:1]))
    with torch.no_grad():
        assert torch.equal(loaded(batch).logits, model(batch).logits)


def test_training_reaches_the_encoder_through_states_and_attention(case: Case) -> None:
    case.encoder.train()
    ids = case.encoder.tokenize([TEXTS[0]])[0].ids
    found = case.encoder(case.encoder.batch([ids], [np.arange(3)]))
    words = case.encoder.backbone.get_input_embeddings().weight
    for output in (found.states, found.attention):
        (gradient,) = torch.autograd.grad(output.square().sum(), words, retain_graph=True)
        assert gradient[torch.from_numpy(ids)].abs().sum() > 0
    case.encoder.eval()
