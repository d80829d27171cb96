"""What a tokenizer puts around a text, alone or with a question in front.

Found by asking the tokenizer, never from constants: [CLS] question [SEP] text [SEP] in BERT's
family, <s> question </s></s> text </s> in RoBERTa's, question <sep> text <sep><cls> in XLNet's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from factloom.errors import ModelError


@dataclass(frozen=True, slots=True)
class TokenTypes:
    """The segments of the tokens in front, of the text between them, and of those behind."""

    before: tuple[int, ...]
    text: int
    after: tuple[int, ...]

    @property
    def highest(self) -> int:
        return max(*self.before, self.text, *self.after)


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """What surrounds every window, and what fills it up."""

    before: tuple[int, ...]  # ends with the question and its separator where there is one
    after: tuple[int, ...]
    padding: int
    types: TokenTypes | None = None  # None leaves them to the encoder

    @property
    def count(self) -> int:
        return len(self.before) + len(self.after)


def around_text(tokenizer: Any) -> SpecialTokens:
    """What the tokenizer puts around a text."""
    found = tokenizer("a", return_special_tokens_mask=True)
    ids, special = found["input_ids"], found["special_tokens_mask"]
    content = [position for position, flag in enumerate(special) if not flag]
    return SpecialTokens(
        before=tuple(ids[: content[0]]),
        after=tuple(ids[content[-1] + 1 :]),
        padding=_padding(tokenizer),
    )


def around_text_with_question(tokenizer: Any, question: Sequence[int]) -> SpecialTokens:
    """What stands around a text that is read with `question`, the tokens of one, in front."""
    pair = tokenizer("a", "b", return_token_type_ids=True)
    ids, owners = pair["input_ids"], pair.sequence_ids(0)  # owners: 0, 1, None for special ones
    asked = [position for position, owner in enumerate(owners) if owner == 0]
    text = [position for position, owner in enumerate(owners) if owner == 1]
    if asked[-1] + 1 == text[0]:
        raise ModelError("no-separator")
    in_front, between = slice(asked[0]), slice(asked[-1] + 1, text[0])
    behind = slice(text[-1] + 1, None)
    types = pair["token_type_ids"]
    return SpecialTokens(
        before=(*ids[in_front], *question, *ids[between]),
        after=tuple(ids[behind]),
        padding=_padding(tokenizer),
        types=TokenTypes(
            before=(*types[in_front], *[types[asked[0]]] * len(question), *types[between]),
            text=types[text[0]],
            after=tuple(types[behind]),
        ),
    )


def _padding(tokenizer: Any) -> int:
    found = tokenizer.pad_token_id
    return 0 if found is None else found
