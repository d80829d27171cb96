"""A random BERT that is the same in every process: its vocabulary is made, not trained.

A trained one would break its ties another way each time.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def save_tiny_bert(path: Path, pieces: Iterable[str], width: int = 32, **settings: Any) -> Path:
    """2 layers of so many numbers, 4 heads, and a tokenizer that knows these pieces of words."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    known = dict.fromkeys((*SPECIAL, *pieces))
    vocabulary = {piece: number for number, piece in enumerate(known)}
    tokenizer = BertTokenizerFast(vocab=vocabulary, model_max_length=512)
    tokenizer.save_pretrained(path)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=2 * width,
        pad_token_id=tokenizer.pad_token_id,
        **settings,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(path)
    return path
