"""Characters that a pretrained encoder does not know: a token and an embedding for each.

The vocabulary of an English encoder has a few hundred Chinese characters; all others are one and
the same unknown token to it, and no model on top can tell them apart. With embeddings of their own,
learned in training like everything else, it can. An encoder that was pretrained on the language is
better still.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from tokenizers import AddedToken

from factloom.encoders.encoder import Encoder, quiet

# Rarer ones stay unknown, so that training also shows what an unknown character is worth.
_LEAST_COUNT = 2


def add_characters(encoder: Encoder, texts: Iterable[str]) -> list[str]:
    """Let the encoder learn the characters of `texts` that it does not know; returns them."""
    unknown = encoder.tokenizer.unk_token_id
    if unknown is None:  # a tokenizer of bytes knows every character
        return []
    counts = Counter(character for text in texts for character in text)
    frequent = sorted(found for found, count in counts.items() if count >= _LEAST_COUNT)
    tokens = encoder.tokenize(frequent)
    new = [found for found, ids in zip(frequent, tokens, strict=True) if unknown in ids.ids]
    if new:
        encoder.tokenizer.add_tokens([AddedToken(found, normalized=False) for found in new])
        backbone = cast(Any, encoder.backbone)
        # a few encoders have more embeddings than tokens
        size = max(len(encoder.tokenizer), backbone.get_input_embeddings().num_embeddings)
        with quiet():
            backbone.resize_token_embeddings(size)  # the new ones are drawn like the old ones
    return new
