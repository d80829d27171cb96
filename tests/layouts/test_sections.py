"""Very long documents are read in sections, and come out as if they had been read at once."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.layouts import sections as limits
from factloom.layouts.sections import read_in_sections, sections


@pytest.fixture(autouse=True, scope="module")
def _small_sections() -> object:
    before = limits.SECTION, limits.TOGETHER
    limits.SECTION, limits.TOGETHER = 40, 100
    yield
    limits.SECTION, limits.TOGETHER = before


def with_capitals_found(document: Document) -> Document:
    """Every capital letter is a mention and an entity, and related to the first."""
    places = [place for place, letter in enumerate(document.text) if letter.isupper()]
    return document.replace(
        mentions=tuple(Mention(place, place + 1, "CAPITAL") for place in places),
        entities=tuple(Entity((number,), "CAPITAL") for number in range(len(places))),
        relations=tuple(Relation(number, 0, "behind") for number in range(1, len(places))),
    )


words = st.lists(st.sampled_from(["one", "Two", "three.", "Four.", "X" * 50, "\n", "\n\n"]))
texts = words.map(" ".join)


@given(st.lists(texts, max_size=4))
@example([" " * 40 + "Ada left."])  # too long for its white space alone, before or behind
@example(["Ada left." + "\n" * 40])
def test_what_is_found_in_sections_is_what_is_found_at_once(given_texts: list[str]) -> None:
    groups: list[list[Document]] = []

    def read(group: list[Document]) -> list[Document]:
        groups.append(group)
        return [with_capitals_found(section) for section in group]

    documents = [Document(text) for text in given_texts]
    found = read_in_sections(documents, read)
    for document, whole in zip(found, map(with_capitals_found, documents), strict=True):
        assert document.mentions == whole.mentions
        assert document.entities == whole.entities
        long = len(document.text) > limits.SECTION
        assert document.relations == (() if long else whole.relations)
        assert replace(document, mentions=(), entities=(), relations=()) == documents[
            found.index(document)
        ].replace(attributes=document.attributes)
    for group in groups:
        assert sum(len(section.text) for section in group) <= limits.TOGETHER or len(group) == 1
        assert all(len(section.text) <= limits.SECTION for section in group)


@given(texts)
def test_sections_hold_every_sign_in_its_order(text: str) -> None:
    parts = list(sections(Document(text)))
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())


def test_sections_keep_sentences_and_tokens_together() -> None:
    text = (
        "Ada Brook left. Bo Quill stayed. Cy went on to the sea, and so did all the others of them."
    )
    sentences = ((0, 15), (16, 32), (33, len(text)))
    tokens = [
        tuple((start + at, start + at + 1) for at in range(end - start)) for start, end in sentences
    ]
    document = Document(
        text, sentences=tuple(Sentence(*s, t) for s, t in zip(sentences, tokens, strict=True))
    )
    first, *others = sections(document)
    assert first.text == "Ada Brook left. Bo Quill stayed."
    assert [first.sentence_text(number) for number in range(2)] == [
        "Ada Brook left.",
        "Bo Quill stayed.",
    ]
    assert sum(len(part.tokens) for part in (first, *others)) == sum(map(len, tokens))


def test_join_is_given_what_came_together_and_short_documents_are_left_alone() -> None:
    joined: list[str] = []

    def join(document: Document) -> Document:
        joined.append(document.id)
        return document

    documents = [Document("Ada.", id="short"), Document("Ada. " * 20, id="long")]
    read_in_sections(documents, lambda group: [with_capitals_found(part) for part in group], join)
    assert joined == ["long"]
