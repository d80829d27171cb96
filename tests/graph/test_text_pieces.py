"""A text cut at the borders of sentences and mentions."""

from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Mention, Sentence
from factloom.graph.page.text_pieces import Piece, text_pieces


def test_nested_mentions_give_pieces_with_the_shortest_mention_first() -> None:
    document = Document(
        text="Bank of Torvik closed.",
        sentences=(Sentence(0, 22),),
        mentions=(Mention(0, 14, "ORG"), Mention(8, 14, "LOC")),
    )
    assert list(text_pieces(document)) == [
        Piece("Bank of ", 0, (0,)),
        Piece("Torvik", 0, (1, 0)),
        Piece(" closed.", 0, ()),
    ]


def test_text_between_sentences_belongs_to_none() -> None:
    document = Document(text="One.  Two.", sentences=(Sentence(0, 4), Sentence(6, 10)))
    assert [(piece.text, piece.sentence) for piece in text_pieces(document)] == [
        ("One.", 0),
        ("  ", None),
        ("Two.", 1),
    ]


def test_an_empty_text_has_no_piece() -> None:
    assert list(text_pieces(Document(text=""))) == []


@given(st.data())
def test_every_character_knows_its_mentions_and_its_sentence(data: st.DataObject) -> None:
    text = data.draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
    places = st.integers(0, len(text))
    spans = st.tuples(places, places).filter(lambda span: text[slice(*span)].strip())
    found = data.draw(st.lists(spans, max_size=6)) if text.strip() else []
    mentions = tuple(Mention(*span, "X") for span in found)
    cuts = sorted(data.draw(st.sets(places)))
    sentences = tuple(Sentence(*span) for span in zip(cuts[::2], cuts[1::2], strict=False))
    document = Document(text=text, sentences=sentences, mentions=mentions)

    at = 0
    for piece in text_pieces(document):
        for offset in range(at, at + len(piece.text)):
            covering = {i for i, each in enumerate(mentions) if each.start <= offset < each.end}
            assert set(piece.mentions) == covering
            assert piece.sentence == document.sentence_at(offset)
        assert piece.text == text[at : at + len(piece.text)]
        at += len(piece.text)
    assert at == len(text)
