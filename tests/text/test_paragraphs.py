"""Several paragraphs as one text, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import texts
from factloom.document import Document
from factloom.text.paragraphs import join_paragraphs, join_sentences, paragraphs_of


@given(st.lists(st.tuples(texts, st.lists(texts, max_size=3)), max_size=4))
def test_paragraphs_come_back_with_their_sentences(given: list[tuple[str, list[str]]]) -> None:
    joined = join_paragraphs((title, *join_sentences(found)) for title, found in given)
    document = Document(
        joined.text, sentences=joined.sentences, attributes={"paragraphs": list(joined.titles)}
    )
    found = paragraphs_of(document)
    assert [paragraph.title for paragraph in found] == [title for title, _ in given]
    for number, (paragraph, (_, sentences)) in enumerate(zip(found, given, strict=True)):
        assert [document.sentence_text(index) for index in paragraph.sentences] == sentences
        text = document.text[paragraph.start : paragraph.end]
        assert text == join_sentences(sentences)[0]
        counted = [joined.sentence(number, index) for index in range(len(sentences))]
        assert counted == list(paragraph.sentences)
        assert joined.sentence(number, len(sentences)) is None
        assert joined.sentence(number, -1) is None


def test_a_space_stands_between_sentences_that_have_none() -> None:
    assert join_sentences(["a.", "b.", " c.", "", "d."]) == (
        "a. b. c. d.",
        [(0, 2), (3, 5), (5, 8), (8, 8), (9, 11)],
    )


@pytest.mark.parametrize("titles", [None, 3, [], [1], [0, 0], [0, 9], [0, "1"], [True], ["a"]])
def test_somebody_else_s_attribute_is_no_paragraph(titles: object) -> None:
    joined = join_paragraphs([("a", "b", [(0, 1)]), ("c", "d", [(0, 1)])])
    attributes = {} if titles is None else {"paragraphs": titles}
    document = Document(joined.text, sentences=joined.sentences, attributes=attributes)
    assert paragraphs_of(document) == []
