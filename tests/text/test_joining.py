"""Documents that follow each other, joined and taken apart again."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Sentence
from factloom.text.joining import join_documents
from factloom.text.tokens import join_tokens


def sentence(name: str, words: int) -> Document:
    """A document of one sentence whose first word is a mention."""
    text, sentences = join_tokens([[f"{name}{index}" for index in range(words)]])
    start, end = sentences[0].tokens[0]
    return Document(text, name, sentences, (Mention(start, end, "X"),), attributes={"kept": name})


def test_sentences_and_mentions_stand_where_their_words_do() -> None:
    (joined,) = join_documents([sentence("a", 2), sentence("b", 1)], 10)
    whole = joined.document
    assert whole.text == "a0 a1\nb0"
    assert [whole.text[s.start : s.end] for s in whole.sentences] == ["a0 a1", "b0"]
    assert [whole.text[a:b] for a, b in whole.tokens] == ["a0", "a1", "b0"]
    assert [whole.mention_text(index) for index in range(2)] == ["a0", "b0"]


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(0, 20))
def test_groups_are_as_large_as_they_may_be_and_come_apart_again(
    lengths: list[int], words: int
) -> None:
    documents = [sentence(f"d{index}x", length) for index, length in enumerate(lengths)]
    groups = list(join_documents(documents, words))
    assert [part for group in groups for part in group.parts] == documents
    assert [d for group in groups for d in group.split(group.document)] == documents
    sizes = [sum(len(part.tokens) for part in group.parts) for group in groups]
    for group, size in zip(groups, sizes, strict=True):
        assert size <= words or len(group.parts) == 1
    for size, following in zip(sizes, groups[1:], strict=False):
        assert size >= words or size + len(following.parts[0].tokens) > words
    assert len({group.document.id for group in groups}) == len(groups)


def test_without_words_every_document_is_itself() -> None:
    documents = [sentence("a", 1), Document("raw text", "b"), Document("more", "c")]
    assert [group.document for group in join_documents(documents, 0)] == documents


def test_a_document_without_words_stays_alone() -> None:
    documents = [sentence("a", 1), Document("raw text", "b"), sentence("c", 1), sentence("d", 1)]
    sizes = [len(group.parts) for group in join_documents(documents, 5)]
    assert sizes == [1, 1, 2]


def test_predictions_go_to_their_parts() -> None:
    (joined,) = join_documents([sentence("a", 2), sentence("b", 2)], 10)
    found = joined.document.replace(
        mentions=(Mention(3, 5, "P", 0.5), Mention(3, 8, "P", 0.4), Mention(6, 8, "P", 0.9))
    )
    first, second = joined.split(found)
    assert first.mentions == (Mention(3, 5, "P", 0.5),)
    assert second.mentions == (Mention(0, 2, "P", 0.9),)
    assert (first.attributes, second.attributes) == ({"kept": "a"}, {"kept": "b"})


def test_one_document_keeps_all_that_was_predicted() -> None:
    alone = Document("a b", "x", (Sentence(0, 3, ((0, 1), (2, 3))),))
    (joined,) = join_documents([alone], 1)
    found = alone.replace(mentions=(Mention(0, 1, "P"),), entities=(Entity((0,), "P"),))
    assert joined.split(found) == [found]


@pytest.mark.parametrize("words", [0, 2])
def test_a_full_group_does_not_wait_for_the_next_document(words: int) -> None:
    read = []

    def source() -> Iterator[Document]:
        for name in "abc":
            read.append(name)
            yield sentence(name, 2)

    next(iter(join_documents(source(), words)))
    assert read == ["a"]
