"""Sentences of single characters."""

from factloom.document import Document, Mention, Sentence
from factloom.text.characters import character_sentences


def tokens(document: Document) -> list[list[str]]:
    return [
        [document.text[start:end] for start, end in sentence.tokens]
        for sentence in character_sentences(document)
    ]


def test_every_character_that_is_no_white_space_is_a_token() -> None:
    assert tokens(Document("马云 2号\t😀ab。好")) == [list("马云2号😀ab。"), ["好"]]


def test_the_tokens_of_the_source_are_kept() -> None:
    document = Document(
        "New York 好吗", sentences=(Sentence(0, 8, ((0, 3), (4, 8))), Sentence(9, 11))
    )
    assert tokens(document) == [["New", "York"], ["好", "吗"]]


def test_a_sentence_never_ends_inside_a_mention() -> None:
    document = Document("他读《怎么办？》一书", mentions=(Mention(2, 10, "BOOK"),))
    assert len(tokens(document)) == 1


def test_no_text_has_no_sentence() -> None:
    assert tokens(Document("")) == []
