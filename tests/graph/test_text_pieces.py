"""A text cut at the borders of sentences and mentions, run by node where there is one."""

import json
import random
from typing import Any

from factloom.document import Document, Mention, Sentence
from page_scripts import result_of


def pieces_of(*documents: Document) -> list[list[tuple[str, int | None, list[int]]]]:
    given = [
        {
            "text": document.text,
            "sentences": [{"start": s.start, "end": s.end} for s in document.sentences],
            "mentions": [{"start": m.start, "end": m.end} for m in document.mentions],
        }
        for document in documents
    ]
    cut = "({ text, sentences, mentions }) => textPieces(text, sentences, mentions)"
    found: list[list[dict[str, Any]]] = result_of(
        f"{json.dumps(given)}.map({cut})", "text_pieces.js"
    )
    return [[(p["text"], p["sentence"], p["mentions"]) for p in pieces] for pieces in found]


def test_nested_mentions_give_pieces_with_the_shortest_mention_first() -> None:
    document = Document(
        text="Bank of Torvik closed.",
        sentences=(Sentence(0, 22),),
        mentions=(Mention(0, 14, "ORG"), Mention(8, 14, "LOC")),
    )
    assert pieces_of(document) == [
        [("Bank of ", 0, [0]), ("Torvik", 0, [1, 0]), (" closed.", 0, [])]
    ]


def test_text_between_sentences_belongs_to_none_and_an_empty_one_has_no_piece() -> None:
    document = Document(text="One.  Two.", sentences=(Sentence(0, 4), Sentence(6, 10)))
    expected = [("One.", 0, []), ("  ", None, []), ("Two.", 1, [])]
    assert pieces_of(document, Document(text="")) == [expected, []]


def test_every_character_knows_its_mentions_and_its_sentence() -> None:
    drawn = random.Random(5)
    documents = [drawn_document(drawn) for _ in range(300)]
    for document, pieces in zip(documents, pieces_of(*documents), strict=True):
        at = 0
        for text, sentence, mentions in pieces:
            for offset in range(at, at + len(text)):
                covering = [
                    i for i, each in enumerate(document.mentions) if each.start <= offset < each.end
                ]
                assert sorted(mentions) == covering
                assert sentence == document.sentence_at(offset)
            assert text == document.text[at : at + len(text)]
            at += len(text)
        assert at == len(document.text)


def drawn_document(drawn: random.Random) -> Document:
    """Of any characters, among them such as take two units in a browser."""
    text = "".join(drawn.choices("ab 江\n😀é𝒳", k=drawn.randint(1, 20)))
    spans = [sorted(drawn.sample(range(len(text) + 1), 2)) for _ in range(drawn.randint(0, 6))]
    cuts = sorted(drawn.sample(range(len(text) + 1), drawn.randint(0, len(text))))
    return Document(
        text=text,
        mentions=tuple(Mention(*span, "X") for span in spans if text[slice(*span)].strip()),
        sentences=tuple(Sentence(*span) for span in zip(cuts[::2], cuts[1::2], strict=False)),
    )
