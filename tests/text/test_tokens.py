import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Sentence
from factloom.errors import DocumentError
from factloom.text.tokens import (
    find_tokens,
    join_tokens,
    mention_tokens,
    separator_of,
    tokenised_sentences,
)

words = st.text("ab é马 \t", max_size=3)
searched = settings(deadline=None)


@pytest.mark.parametrize("separator", [" ", ""])
@searched
@given(sentences=st.lists(st.lists(words, max_size=4), max_size=4))
def test_joined_tokens_can_be_taken_apart_again(sentences: list[list[str]], separator: str) -> None:
    text, laid_out = join_tokens(sentences, separator)
    Document(text, sentences=laid_out)  # checks order and borders
    assert [[text[a:b] for a, b in sentence.tokens] for sentence in laid_out] == sentences
    assert text == separator.join(word for sentence in sentences for word in sentence)


@pytest.mark.parametrize(
    ("tokens", "separator"),
    [
        (["马", "云", "，", "N", "B"], ""),
        (["か", "〇", "\u3000", "\U00020000"], ""),
        (["马", "云", "N", "B"], " "),  # not most of them
        (["马云", "出生", "于"], " "),  # words
        (["a", "b"], " "),
        ([], " "),
    ],
)
def test_characters_were_joined_by_nothing_and_words_by_spaces(
    tokens: list[str], separator: str
) -> None:
    assert separator_of(tokens) == separator


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The U.S. has 1.15 million.", ["The", "U.S.", "has", "1.15", "million", "."]),
        ("3,950 and 2.", ["3,950", "and", "2", "."]),
        ("J.R.R. Tolkien, e.g.", ["J.R.R.", "Tolkien", ",", "e.g."]),
        ("在U.S.有3.5万。", ["在", "U.S.", "有", "3.5", "万", "。"]),
        ("end.Next 1.15km", ["end", ".", "Next", "1", ".", "15km"]),
    ],
)
def test_numbers_and_abbreviations_are_one_token(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in find_tokens(text, 0, len(text))] == tokens


def test_words_signs_and_chinese_characters_are_tokens() -> None:
    text = "It's p53-like, 马云2号_x (3.5%)."
    found = [text[start:end] for start, end in find_tokens(text, 0, len(text))]
    assert found == [
        *("It", "'", "s", "p53", "-", "like", ","),
        *("马", "云", "2", "号", "_", "x", "(", "3.5", "%", ")", "."),
    ]


@searched
@given(st.text("ab .!é马云\n1_", max_size=40))
def test_every_character_but_white_space_is_in_one_token(text: str) -> None:
    covered = [
        index for start, end in find_tokens(text, 0, len(text)) for index in range(start, end)
    ]
    assert covered == [index for index, sign in enumerate(text) if not sign.isspace()]


def test_tokens_of_the_document_are_kept_and_cut_at_mentions() -> None:
    document = Document(
        "Torvik-based firm",
        sentences=(Sentence(0, 17, ((0, 12), (13, 17))),),
        mentions=(Mention(0, 6, "LOC"), Mention(0, 17, "ORG")),
        entities=(Entity((0,), "LOC"), Entity((1,), "ORG")),
    )
    sentences = tokenised_sentences(document)
    assert sentences[0].tokens == ((0, 6), (6, 12), (13, 17))
    assert mention_tokens(document, 0, sentences) == (0, 0, 1)
    assert mention_tokens(document, 1, sentences) == (0, 0, 3)


def test_mentions_are_not_cut_by_the_sentences_that_are_found() -> None:
    document = Document("See What? The Film now.", mentions=(Mention(4, 18, "WORK"),))
    sentences = tokenised_sentences(document)
    assert len(sentences) == 1
    assert mention_tokens(document, 0, sentences) == (0, 1, 5)


@pytest.mark.parametrize("span", [(0, 8), (4, 7), (9, 12)])
def test_mention_outside_the_tokens_of_one_sentence_is_an_error(span: tuple[int, int]) -> None:
    document = Document(
        "One. Two. Three",
        sentences=(Sentence(0, 4), Sentence(5, 9)),
        mentions=(Mention(*span, "X"),),
    )
    with pytest.raises(DocumentError, match="mention-across-sentences"):
        mention_tokens(document, 0, tokenised_sentences(document))


def test_mention_without_a_token_is_told_from_one_across_sentences() -> None:
    blank = Sentence(0, 3, ((0, 1), (1, 2), (2, 3)))  # the source's own tokens hold white space
    document = Document("马\u3000云", sentences=(blank,), mentions=(Mention(1, 2, "X"),))
    assert mention_tokens(document, 0, tokenised_sentences(document)) == (0, 1, 2)
    without_blank = (Sentence(0, 3, ((0, 1), (2, 3))),)
    with pytest.raises(DocumentError, match="blank-mention"):
        mention_tokens(document, 0, without_blank)
