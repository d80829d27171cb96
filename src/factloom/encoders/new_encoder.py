"""An encoder that has learned nothing yet, in the size that is wished, with somebody's tokenizer.

    encoder = new_encoder("all-MiniLM-L6-v2", layers=4, width=256, heads=4)

Devlin et al.: BERT, NAACL 2019, arXiv 1810.04805. With shared layers or embeddings that are smaller
than states it is one of ALBERT's family: Lan et al., ICLR 2020, arXiv 1909.11942. With relative
positions it is NEZHA's network (modules/relative_positions.py), with a memory Transformer-XL's
(encoders/transformer_xl.py).
"""

from typing import Any

from transformers import AlbertConfig, AutoTokenizer, BertConfig

from factloom.encoders.encoder import Encoder, quiet
from factloom.encoders.pretrained import refuse_code, resolve
from factloom.encoders.transformer_xl import TransformerXLConfig
from factloom.errors import ModelError, Place


def new_encoder(
    tokenizer: str,
    *,
    layers: int,
    width: int,
    heads: int,
    embedding_width: int | None = None,
    shared_layers: bool = False,
    relative_positions: int | None = None,
    memory: int | None = None,
    evaluation_memory: int | None = None,
    positions: int = 512,
    **options: Any,
) -> Encoder:
    """`tokenizer` is a hub name or directory; `options` are those of `Encoder`."""
    if width % heads:
        raise ModelError("heads-do-not-fit", Place(part="network"), width=width, heads=heads)
    path = resolve(tokenizer)
    refuse_code(path, tokenizer)
    with quiet():
        words = AutoTokenizer.from_pretrained(path, use_fast=True, trust_remote_code=False)
    sizes = {
        "vocab_size": len(words),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * width,
        "max_position_embeddings": positions,
        "pad_token_id": words.pad_token_id,
        "attention_probs_dropout_prob": 0.0,  # the fused kernel of CPUs knows none
        "hidden_dropout_prob": 0.1,
    }
    if relative_positions:
        sizes["relative_positions"] = relative_positions
    config: Any
    if memory:
        if shared_layers or embedding_width or relative_positions:
            raise ModelError("memory-alone", Place(part="network"))
        del sizes["max_position_embeddings"]  # it knows distances, however far
        config = TransformerXLConfig(
            **sizes, memory=memory, evaluation_memory=evaluation_memory or memory
        )
    elif shared_layers or embedding_width:
        groups = 1 if shared_layers else layers
        config = AlbertConfig(
            **sizes, embedding_size=embedding_width or width, num_hidden_groups=groups
        )
    else:
        config = BertConfig(**sizes)
    return Encoder.from_config(config, words, **options)
