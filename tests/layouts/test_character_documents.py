"""Documents as sentences of characters: tags, rows, the encoder's states, and the way back."""

from pathlib import Path

import numpy as np
import pytest
import torch

from factloom.document import Document, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import DocumentError
from factloom.layouts.character_documents import (
    CharacterExample,
    by_sentence,
    make_batch,
    make_examples,
    read_sentences,
)
from factloom.layouts.character_tables import CharacterSettings, CharacterTables, Vocabularies
from factloom.text.vocabulary import Vocabulary

TAGS = ("O", "B-PER", "M-PER", "E-PER", "S-PER", "B-LOC", "M-LOC", "E-LOC", "S-LOC")
CHARACTERS = Vocabulary(("马", "云", "杭", "州"), learned=3, fixed=1)
BIGRAMS = Vocabulary(("马云", "州"), learned=2, fixed=0)
FIRST = Document(
    "马云出生于杭州。 \n他好",
    id="first",
    sentences=(Sentence(0, 8), Sentence(8, 10), Sentence(10, 12)),
    mentions=(Mention(0, 2, "PER"), Mention(5, 7, "LOC"), Mention(6, 7, "LOC")),
)
SECOND = Document("杭州", id="second", mentions=(Mention(0, 2, "ORG"),))


def examples(encoder: Encoder | None = None) -> list[CharacterExample]:
    documents = [FIRST, SECOND]
    sentences = [read_sentences(document, "BMES") for document in documents]
    return make_examples(documents, sentences, CHARACTERS, BIGRAMS, TAGS, encoder)


def test_sentences_have_characters_offsets_and_the_tags_of_the_longest_mentions() -> None:
    first, second = read_sentences(FIRST, "BMES")  # the sentence of white space is left out
    assert "".join(first.characters) == "马云出生于杭州。"
    assert first.tags == ("B-PER", "E-PER", "O", "O", "O", "B-LOC", "E-LOC", "O")
    assert first.bigrams[:2] == ["马云", "云出"]
    assert first.bigrams[-1] == "。"
    assert [FIRST.text[a:b] for a, b in second.offsets] == ["他", "好"]


def test_a_mention_over_two_sentences_is_told() -> None:
    document = Document(
        "马云",
        id="torn",
        sentences=(Sentence(0, 1), Sentence(1, 2)),
        mentions=(Mention(0, 2, "PER"),),
    )
    with pytest.raises(DocumentError, match="torn") as caught:
        read_sentences(document, "BMES")
    assert caught.value.code == "mention-across-sentences"


def test_examples_have_rows_and_tags_and_unknown_types_are_outside() -> None:
    first, second = examples()
    assert first.lengths == (8, 2)
    assert first.characters.tolist() == [1, 2, 0, 0, 0, 3, 4, 0, 0, 0]
    assert first.bigrams.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert first.tags.tolist() == [1, 3, 0, 0, 0, 5, 7, 0, 0, 0]
    assert second.tags.tolist() == [0, 0]
    assert second.bigrams.tolist() == [0, 2]
    assert (first.tokens, first.terms) == (10, 10)


def test_a_batch_has_a_row_a_sentence() -> None:
    batch = make_batch(examples(), None)
    assert batch.lengths.tolist() == [8, 2, 2]
    assert batch.weight == 12
    assert batch.mask.sum(1).tolist() == [8, 2, 2]
    assert batch.characters[2].tolist() == [3, 4, 0, 0, 0, 0, 0, 0]
    assert batch.tags[0].tolist() == [1, 3, 0, 0, 0, 5, 7, 0]
    assert batch.bigrams is not None
    assert batch.bigrams[2].tolist() == [0, 2, 0, 0, 0, 0, 0, 0]
    assert batch.windows is None
    assert batch.to("meta").characters.device.type == "meta"


def test_values_are_laid_out_by_sentence() -> None:
    found = by_sentence(np.arange(1, 6), np.array([2, 0, 3]))
    assert found.tolist() == [[1, 2, 0], [0, 0, 0], [3, 4, 5]]
    assert by_sentence(np.zeros(0, np.int64), np.zeros(0, np.int64)).shape == (0, 0)


@torch.no_grad()
def test_every_character_has_the_encoders_state_of_its_token(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16).eval()
    batch = make_batch(examples(encoder), encoder)
    vocabularies = Vocabularies(CHARACTERS, None, Vocabulary((), 0, 0))
    tables = CharacterTables(vocabularies, None, CharacterSettings(character_width=5), encoder)
    found = tables(batch, encoder)
    assert tables.width == found.shape[2] == 5 + encoder.width
    rows = [(0, FIRST, range(8)), (1, FIRST, range(10, 12)), (2, SECOND, range(2))]
    for row, document, offsets in rows:
        (tokens,) = encoder.tokenize([document.text])
        states = encoder(encoder.batch([tokens.ids])).states[0]
        for place, offset in enumerate(offsets):
            token = next(n for n, (a, b) in enumerate(tokens.offsets) if a <= offset < b)
            slot = token + len(encoder.special.before)
            torch.testing.assert_close(found[row, place, 5:], states[slot], rtol=1e-4, atol=1e-5)


def test_a_character_that_the_tokenizer_drops_has_the_first_slot(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    document = Document("马\u200d云", sentences=(Sentence(0, 3, ((0, 1), (1, 2), (2, 3))),))
    (example,) = make_examples(
        [document], [read_sentences(document, "BMES")], CHARACTERS, None, TAGS, encoder
    )
    assert example.first_token[1] == -1
    batch = make_batch([example], encoder)
    assert batch.slots is not None
    assert batch.slots[0, 1] == 0
    assert batch.slots[0, 0] == len(encoder.special.before)
