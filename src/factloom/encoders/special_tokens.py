"""What a tokenizer puts around a text, alone or with a question in front.

Found by asking the tokenizer, never from constants: [CLS] question [SEP] text [SEP] in BERT's
family, <s> question </s></s> text </s> in RoBERTa's, question <sep> text <sep><cls> in XLNet's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from factloom.errors import ModelError, Place


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


@dataclass(frozen=True, slots=True)
class PairTypes:
    """The segments of what stands around a question and a text, and of both."""

    front: tuple[int, ...]
    question: int
    between: tuple[int, ...]
    text: int
    behind: tuple[int, ...]

    @property
    def highest(self) -> int:
        return max(*self.front, self.question, *self.between, self.text, *self.behind)


@dataclass(frozen=True, slots=True)
class AroundPair:
    """What a tokenizer puts around a question and a text that is read behind it."""

    front: tuple[int, ...]
    between: tuple[int, ...]
    behind: tuple[int, ...]
    padding: int
    types: PairTypes | None = None  # None leaves them to the encoder

    def with_question(self, question: Sequence[int]) -> SpecialTokens:
        """What surrounds the text, the question among it."""
        types = None
        if self.types is not None:
            asked = (self.types.question,) * len(question)
            before = (*self.types.front, *asked, *self.types.between)
            types = TokenTypes(before, self.types.text, self.types.behind)
        before_text = (*self.front, *question, *self.between)
        return SpecialTokens(before_text, self.behind, self.padding, types)


def around_pair(tokenizer: Any) -> AroundPair:
    """What the tokenizer puts around a question and a text."""
    pair = tokenizer("a", "b", return_token_type_ids=True)
    ids, owners = pair["input_ids"], pair.sequence_ids(0)  # owners: 0, 1, None for special ones
    asked = [position for position, owner in enumerate(owners) if owner == 0]
    text = [position for position, owner in enumerate(owners) if owner == 1]
    if asked[-1] + 1 == text[0]:
        raise ModelError("no-separator")
    in_front, between = slice(asked[0]), slice(asked[-1] + 1, text[0])
    behind = slice(text[-1] + 1, None)
    types = pair["token_type_ids"]
    return AroundPair(
        front=tuple(ids[in_front]),
        between=tuple(ids[between]),
        behind=tuple(ids[behind]),
        padding=_padding(tokenizer),
        types=PairTypes(
            front=tuple(types[in_front]),
            question=types[asked[0]],
            between=tuple(types[between]),
            text=types[text[0]],
            behind=tuple(types[behind]),
        ),
    )


def around_text_with_question(tokenizer: Any, question: Sequence[int]) -> SpecialTokens:
    """What stands around a text that is read with `question`, the tokens of one, in front."""
    return around_pair(tokenizer).with_question(question)


def require_room(
    around: SpecialTokens, question: int, said: str, window: int, overlap: int
) -> None:
    """Refuse a question of so many tokens that leaves too little of a window to the text.

    Errors call the question `said`.
    """
    if window - around.count <= overlap:
        raise ModelError(
            "question-too-long",
            Place(part=said if len(said) <= 80 else f"{said[:80]}..."),
            tokens=question,
            window=window,
            overlap=overlap,
        )


def _padding(tokenizer: Any) -> int:
    found = tokenizer.pad_token_id
    return 0 if found is None else found
