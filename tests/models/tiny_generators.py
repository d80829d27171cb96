"""Random generators of both kinds, with the tokenizer of the tiny encoder."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    LlamaConfig,
    LlamaForCausalLM,
)

from factloom.answers.generators import Generator

KINDS = ("bart", "llama")


def network(kind: str, tokens: int, width: int = 16) -> Any:
    """Token 0 is padding, 2 begins, 3 ends; random, and far from certain of anything."""
    special = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    with torch.random.fork_rng():
        torch.manual_seed(5)
        if kind == "llama":
            sizes = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": 2}
            config = LlamaConfig(vocab_size=tokens, num_attention_heads=2, **sizes, **special)
            found: Any = LlamaForCausalLM(config)
        else:
            layers = {"encoder_layers": 1, "decoder_layers": 2, "d_model": width}
            heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
            wide = {"encoder_ffn_dim": 2 * width, "decoder_ffn_dim": 2 * width}
            config = BartConfig(
                vocab_size=tokens,
                max_position_embeddings=512,
                decoder_start_token_id=2,
                forced_eos_token_id=None,
                dropout=0.0,
                **layers,
                **heads,
                **wide,
                **special,
            )
            found = BartForConditionalGeneration(config)
        for weights in found.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.5)
    return found.eval()


def generator(kind: str, tokens: int = 7) -> Generator:
    """One of few tokens, in double precision, without words."""
    tokenizer = SimpleNamespace(pad_token_id=0, eos_token_id=3)
    return Generator(network(kind, tokens).double(), tokenizer)


def folder(kind: str, encoder: Path, place: Path) -> str:
    """One that a recipe can name."""
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.save_pretrained(place)
    network(kind, len(tokenizer)).save_pretrained(place)
    return str(place)
