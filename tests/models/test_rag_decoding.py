"""What RAG writes, against all sequences that there are, and against Hugging Face's classes."""

import itertools
import math
from typing import Any

import pytest
import torch
from tiny_generators import KINDS, generator, network
from transformers import (
    BertConfig,
    BertModel,
    RagConfig,
    RagSequenceForGeneration,
    RagTokenForGeneration,
)

from factloom.answers.generators import Generator
from factloom.answers.rag_decoding import FromAll, FromEach, sequence_marginals
from factloom.modules.beam_search import Sequenced, beam_search
from factloom.modules.passage_marginals import log_marginal

PROMPTS = [[2, 4, 5, 3], [2, 6, 3], [2, 5, 5, 4, 6, 3]]
SCORES = torch.tensor([0.3, 1.1, -0.4], dtype=torch.double)
SHARES = SCORES.log_softmax(0)
LONGEST, END = 3, 3


def all_sequences(tokens: int = 7) -> list[tuple[int, ...]]:
    """Every one that ends within the longest length."""
    inner = [token for token in range(tokens) if token != END]
    return [
        (*front, END)
        for length in range(LONGEST)
        for front in itertools.product(inner, repeat=length)
    ]


@torch.no_grad()
def likelihoods(made: Generator) -> dict[tuple[int, ...], list[list[float]]]:
    """By sequence, p(y_i | x, z, y_<i) for each z, from one pass over the whole sequence alone."""
    return {
        sequence: [made([prompt], [sequence])[0].exp().tolist() for prompt in PROMPTS]
        for sequence in all_sequences()
    }


def marginal(of_passages: list[list[float]], way: str) -> float:
    shares = SHARES.exp().tolist()
    if way == "sequence":
        return sum(s * math.prod(tokens) for s, tokens in zip(shares, of_passages, strict=True))
    each = zip(*of_passages, strict=True)
    return math.prod(sum(s * p for s, p in zip(shares, of, strict=True)) for of in each)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_beams_as_wide_as_all_sequences_find_the_likeliest_of_all(kind: str) -> None:
    made = generator(kind)
    chances = likelihoods(made)
    expected = {y: math.log(marginal(of, "token")) for y, of in chances.items()}
    (found,) = beam_search(FromAll(made.begin(PROMPTS), SHARES), 400, LONGEST, [END])
    told = {one.tokens: one.logarithm for one in found if one.ended}
    assert told == pytest.approx(expected, abs=1e-9)
    assert found[0].tokens == max(expected, key=expected.__getitem__)

    groups = beam_search(FromEach(made.begin(PROMPTS)), 400, LONGEST, [END])
    expected = {y: math.log(marginal(of, "sequence")) for y, of in chances.items()}
    for decoding in ("thorough", "fast"):  # where every z has found every y they are one
        ended = [[one for one in group if one.ended] for group in groups]
        found = sequence_marginals(made, PROMPTS, SHARES, ended, decoding)
        told = {one.tokens: one.logarithm for one in found}
        assert told == pytest.approx(expected, abs=1e-9)
        assert found[0].tokens == max(expected, key=expected.__getitem__)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_narrow_beams_differ_by_what_fast_decoding_leaves_out(kind: str) -> None:
    made = generator(kind)
    chances = likelihoods(made)
    groups = beam_search(FromEach(made.begin(PROMPTS)), 2, LONGEST, [END])
    groups = [[one for one in group if one.ended] for group in groups]
    assert all(0 < len(group) <= 2 for group in groups)
    found = {one.tokens for group in groups for one in group}
    assert len(found) > 2, "the passages give different sequences"
    thorough = sequence_marginals(made, PROMPTS, SHARES, groups, "thorough")
    expected = {y: math.log(marginal(chances[y], "sequence")) for y in found}
    assert {one.tokens: one.logarithm for one in thorough} == pytest.approx(expected, abs=1e-9)
    fast = sequence_marginals(made, PROMPTS, SHARES, groups, "fast")
    parts = {
        y: sum(
            math.exp(float(SHARES[z])) * math.prod(chances[y][z])
            for z, group in enumerate(groups)
            if y in {one.tokens for one in group}
        )
        for y in found
    }
    assert {one.tokens: one.logarithm for one in fast} == pytest.approx(
        {y: math.log(part) for y, part in parts.items()}, abs=1e-9
    )


@torch.no_grad()
def test_what_does_not_end_is_told_and_comes_last() -> None:
    made = generator("llama")
    (found,) = beam_search(FromAll(made.begin(PROMPTS), SHARES), 3, 1, [END])
    assert [one.ended for one in found] == [True, False, False]
    assert found[0].tokens == (END,)
    (found,) = beam_search(FromAll(made.begin(PROMPTS), SHARES), 1, 2, [END])
    assert len(found) == 1


def hugging_face(family: Any) -> tuple[Any, Generator]:
    """The class around a tiny generator, and ours around the same."""
    bart = network("bart", 12).double()
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    encoder = BertModel(BertConfig(vocab_size=12, num_attention_heads=2, **sizes))
    config = RagConfig.from_question_encoder_generator_configs(
        encoder.config, bart.config, n_docs=3
    )
    whole = family(config=config, question_encoder=encoder, generator=bart).double().eval()
    return whole, Generator(bart, generator("bart").tokenizer)


CONTEXT = torch.tensor([[2, 4, 5, 6, 3], [2, 6, 7, 8, 3], [2, 11, 9, 4, 3]])
ANSWERS = [[7, 8, 3], [9, 10, 11, 5, 3]]  # behind a BOS, with at least three tokens


@pytest.mark.parametrize(
    ("family", "way"), [(RagSequenceForGeneration, "whole"), (RagTokenForGeneration, "token")]
)
@torch.no_grad()
def test_losses_are_those_of_hugging_face(family: Any, way: Any) -> None:
    theirs, ours = hugging_face(family)
    prompts = CONTEXT.tolist()
    for answer in ANSWERS:
        output = theirs(
            context_input_ids=CONTEXT,
            context_attention_mask=torch.ones_like(CONTEXT),
            doc_scores=SCORES[None],
            labels=torch.tensor([[2, *answer]]),
            n_docs=3,
        )
        likely = log_marginal(ours(prompts, [answer] * 3)[None], SHARES[None], way)
        assert float(output.loss) == pytest.approx(-float(likely), rel=1e-9)
    # several of unlike lengths in one batch: padding changes nothing
    tokens = ours(prompts * 2, [ANSWERS[0]] * 3 + [ANSWERS[1]] * 3).view(2, 3, -1)
    together = log_marginal(tokens, SHARES.expand(2, 3), way)
    assert float(together[0]) == pytest.approx(
        float(log_marginal(tokens[:1, :, :3], SHARES[None], way)), rel=1e-12
    )


@torch.no_grad()
def test_marginals_of_the_next_token_are_those_of_hugging_face() -> None:
    theirs, ours = hugging_face(RagTokenForGeneration)
    steps = FromAll(ours.begin(CONTEXT.tolist()), SHARES)
    output = theirs.rag.generator(
        input_ids=CONTEXT, decoder_input_ids=torch.tensor([[2, 7, 8]] * 3)
    )
    expected = theirs.marginalize(output.logits, SCORES[None], n_docs=3)[0]  # (3, tokens)
    zero = torch.tensor([0])
    found = [steps.begin(), steps.advance(zero, torch.tensor([7]))]
    found.append(steps.advance(zero, torch.tensor([8])))
    torch.testing.assert_close(torch.cat(found), expected, rtol=1e-9, atol=1e-10)


@torch.no_grad()
def test_thorough_decoding_chooses_as_hugging_face_does() -> None:
    theirs, ours = hugging_face(RagSequenceForGeneration)
    ours.network.final_logits_bias[0, END] = 1.5  # some sequences end before the longest length
    options: Any = {"num_beams": 3, "max_length": 8, "do_sample": False}
    chosen = theirs.generate(
        context_input_ids=CONTEXT,
        context_attention_mask=torch.ones_like(CONTEXT),
        doc_scores=SCORES[None],
        n_docs=3,
        **options,
    )[0].tolist()
    written = ours.network.generate(CONTEXT, num_return_sequences=3, **options).tolist()
    candidates = [[token for token in row[1:] if token != 0] for row in written]
    groups = [
        [
            Sequenced(tuple(y), float(ours([CONTEXT[z].tolist()], [y]).sum()))
            for y in candidates[3 * z : 3 * z + 3]
        ]
        for z in range(3)
    ]
    found = sequence_marginals(ours, CONTEXT.tolist(), SHARES, groups, "thorough")
    assert list(found[0].tokens) == [token for token in chosen[1:] if token != 0]
    assert len({one.tokens for group in groups for one in group}) > 3
