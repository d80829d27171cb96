"""Tags by mentions: the longest counts, and nothing is said of words that may be anything."""

import pytest

from factloom.document import Document, Mention
from factloom.text.mention_tags import sentence_tags
from factloom.text.tokens import join_tokens, tokenised_sentences

SENTENCES = [["Mara", "Velden", "left", "Torvik", "."], ["She", "came", "back", "."]]
MARA, VELDEN, LEFT, SHE = (0, 4), (5, 11), (12, 16), (26, 29)


def tags(*mentions: tuple[int, int, str], tokens: bool = True) -> list[str]:
    """Of each sentence, in one text."""
    text, sentences = join_tokens(SENTENCES)
    document = Document(
        text,
        sentences=sentences if tokens else (),
        mentions=tuple(Mention(*mention) for mention in mentions),
    )
    found = sentence_tags(document, tokenised_sentences(document), "BIOES")
    return [" ".join(sentence) for sentence in found]


def test_words_outside_of_mentions_are_known_to_be_none() -> None:
    assert tags((0, 11, "PER")) == ["B-PER E-PER O O O", "O O O O"]


@pytest.mark.parametrize("tokens", [True, False])
def test_unknown_words_may_reach_over_sentences(tokens: bool) -> None:
    found = tags((0, 11, "PER"), (LEFT[0], SHE[1], "?"), tokens=tokens)
    assert found == ["B-PER E-PER ? ? ?", "? O O O"]


def test_a_word_that_is_unknown_in_part_is_unknown() -> None:
    assert tags((6, 8, "?"))[0] == "O ? O O O"


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ([(0, 16, "PER"), (*VELDEN, "?")], "? ? ? O O"),
        ([(0, 11, "?"), (5, 16, "PER")], "? ? ? O O"),
        ([(0, 24, "?"), (*MARA, "PER")], "? ? ? ? O"),
        ([(0, 16, "PER"), (*VELDEN, "LOC"), (*LEFT, "?")], "? ? ? O O"),
    ],
)
def test_a_mention_that_shares_a_word_with_unknown_ones_is_unknown(
    mentions: list[tuple[int, int, str]], expected: str
) -> None:
    assert tags(*mentions)[0] == expected


def test_of_overlapping_mentions_the_longest_counts() -> None:
    assert tags((0, 16, "PER"), (*VELDEN, "LOC"))[0] == "B-PER I-PER E-PER O O"
