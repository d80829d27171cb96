"""Passages with questions: words and their tokens, answers, and the way from words to states."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import DocumentError
from factloom.layouts.asked_passages import Asked, Passage, make_batch, make_passages
from factloom.layouts.words import word_tokens
from factloom.text.tokens import join_tokens

TYPES = ["LOC", "PER"]
LOC, PER = 0, 1
TEXT, SENTENCES = join_tokens(
    [
        ["Mara", "Velden", "of", "Torvik", "met", "Bob", "."],
        ["Bob", "liked", "Halden", "College", ",", "Torvik", "."],
    ]
)
MEETING = Document(
    text=TEXT,
    id="meeting",
    sentences=SENTENCES,
    mentions=(
        Mention(0, 21, "PER"),
        Mention(0, 11, "PER"),
        Mention(15, 21, "LOC"),
        Mention(26, 29, "PER"),
        Mention(32, 35, "PER"),
        Mention(42, 65, "LOC"),
        Mention(42, 56, "ORG"),  # a type that is not asked for
    ),
)


@pytest.fixture(scope="module")
def encoder(tiny_encoder_path: Path) -> Encoder:
    return Encoder.load(str(tiny_encoder_path), window=64, overlap=8).eval()


def passages_of(encoder: Encoder, *documents: Document, passage_tokens: int = 0) -> list[Passage]:
    questions = [encoder.question("Where is it?"), encoder.question("Who?")]
    return make_passages(documents, encoder, TYPES, questions, passage_tokens)


def pieces(encoder: Encoder, passage: Passage, word: int) -> str:
    """The tokens of a word, written together."""
    tokens = passage.token_ids[passage.first[word] : passage.last[word] + 1]
    return "".join(encoder.tokenizer.convert_ids_to_tokens(tokens)).replace("##", "")


def test_every_sentence_is_a_passage_with_its_words_and_answers(encoder: Encoder) -> None:
    first, second = passages_of(encoder, MEETING)
    assert (first.id, first.document, first.terms) == ("meeting", 0, 7)
    assert first.answers.tolist() == [[0, 1, PER], [0, 3, PER], [3, 3, LOC], [5, 5, PER]]
    assert second.answers.tolist() == [[0, 0, PER], [2, 5, LOC]]
    assert second.terms == 7
    for passage in (first, second):
        for word, (start, end) in enumerate(passage.words):
            assert pieces(encoder, passage, word) == TEXT[start:end].lower()


def test_tokens_count_what_goes_through_the_encoder(encoder: Encoder) -> None:
    (first, _) = passages_of(encoder, MEETING)
    text = len(first.token_ids)
    pairs = [
        encoder.tokenizer(question, TEXT[:31])["input_ids"] for question in ("Where is it?", "Who?")
    ]
    assert first.tokens == sum(len(pair) for pair in pairs)
    assert text * 2 < first.tokens


@pytest.mark.parametrize("spare", [-1, 0, 100])
def test_sentences_are_read_together_while_they_fit(encoder: Encoder, spare: int) -> None:
    whole = len(encoder.tokenize([TEXT])[0].ids)
    found = passages_of(encoder, MEETING, MEETING, passage_tokens=whole + spare)
    if spare < 0:
        assert [passage.terms for passage in found] == [7, 7, 7, 7]
        return
    assert [passage.terms for passage in found] == [14, 14]  # never across documents
    assert [passage.document for passage in found] == [0, 1]
    assert found[0].sentence.tolist() == [0] * 7 + [1] * 7
    assert found[0].answers[-1].tolist() == [9, 12, LOC]
    assert len(found[0].token_ids) == whole


def test_a_document_without_words_has_no_passage(encoder: Encoder) -> None:
    blank = Document("  \n")
    empty_sentence = Document("a", sentences=(Sentence(0, 0), Sentence(0, 1, ((0, 1),))))
    assert passages_of(encoder, Document(""), blank) == []
    assert [passage.terms for passage in passages_of(encoder, empty_sentence)] == [1]


def test_words_that_the_tokenizer_drops_are_no_words(encoder: Encoder) -> None:
    text = "\u200b \u200bMara \u200b saw \u200b"
    spans = ((0, 1), (2, 7), (8, 9), (10, 13), (14, 15))
    document = Document(
        text,
        sentences=(Sentence(0, len(text), spans),),
        mentions=(Mention(0, 9, "PER"), Mention(14, 15, "LOC"), Mention(8, 13, "LOC")),
    )
    (passage,) = passages_of(encoder, document)
    assert passage.words.tolist() == [[2, 7], [10, 13]]
    assert passage.answers.tolist() == [[0, 0, PER], [1, 1, LOC]]


def test_an_answer_given_twice_counts_once(encoder: Encoder) -> None:
    document = Document("Bob", mentions=(Mention(0, 3, "PER"), Mention(0, 3, "PER")))
    (passage,) = passages_of(encoder, document)
    assert passage.answers.tolist() == [[0, 0, PER]]


def test_a_mention_across_sentences_is_told(encoder: Encoder) -> None:
    broken = MEETING.replace(mentions=(Mention(26, 35, "PER"),))
    with pytest.raises(DocumentError) as caught:
        passages_of(encoder, broken)
    assert caught.value.code == "mention-across-sentences"


def test_words_of_a_batch_point_to_their_tokens_and_to_nothing_else(encoder: Encoder) -> None:
    """Neither to a question nor to special tokens, windows of a long text and padding included."""
    long = Document("born in Torvik " * 40)
    questions = [encoder.question("Where is Torvik?"), encoder.question("Who was born?")]
    passages = make_passages([MEETING, long], encoder, TYPES, questions, 0)
    assert len(passages[2].token_ids) > encoder.window
    asked = [Asked(0, LOC), Asked(2, PER), Asked(1, PER)]
    batch = make_batch(passages, asked, encoder, questions, None)
    slots = torch.full((len(asked), batch.windows.length), -1)
    ids = batch.windows.slots, batch.windows.token_ids
    for document, places, tokens in zip(batch.windows.document.tolist(), *ids, strict=True):
        inside = places < batch.windows.length  # not padding
        slots[document, places[inside]] = tokens[inside]
    word = 0
    for row in asked:
        passage = passages[row.passage]
        for place in range(passage.terms):
            for edge, token in ((batch.first, passage.first), (batch.last, passage.last)):
                assert slots.flatten()[edge[word]] == passage.token_ids[token[place]]
            word += 1
    assert word == len(batch.first) == len(batch.last)
    assert batch.word_counts == (7, 120, 7)


def test_spans_reach_neither_across_sentences_nor_beyond_the_longest(encoder: Encoder) -> None:
    questions = [encoder.question("Where is it?"), encoder.question("Who?")]
    passages = make_passages([MEETING], encoder, TYPES, questions, 100)
    asked = [Asked(0, LOC), Asked(0, PER)]
    for longest in (None, 1, 3, 50):
        batch = make_batch(passages, asked, encoder, questions, longest)
        for word in range(28):
            ends = [
                end
                for end in range(word, 28)
                if end // 7 == word // 7 and (longest is None or end - word < longest)
            ]
            assert range(word, int(batch.limit[word])) == range(word, ends[-1] + 1)
            starts = [
                start
                for start in range(word + 1)
                if start // 7 == word // 7 and (longest is None or word - start < longest)
            ]
            assert int(batch.floor[word]) == starts[0]


def test_answers_of_a_batch_are_those_of_its_questions(encoder: Encoder) -> None:
    questions = [encoder.question("Where is it?"), encoder.question("Who?")]
    passages = make_passages([MEETING], encoder, TYPES, questions, 0)
    asked = [Asked(1, LOC), Asked(0, PER, 2.5)]
    batch = make_batch(passages, asked, encoder, questions, None)
    assert batch.answers.tolist() == [[2, 5], [7, 8], [7, 10], [12, 12]]
    short = make_batch(passages, asked, encoder, questions, 2)
    assert short.answers.tolist() == [[7, 8], [12, 12]]
    assert batch.importance.tolist() == [1.0] * 7 + [2.5] * 7
    assert batch.weight == 28  # all words times all questions


def test_other_spans_share_an_edge_with_an_answer_and_stay_in_reach(encoder: Encoder) -> None:
    questions = [encoder.question("Where is it?"), encoder.question("Who?")]
    passages = make_passages([MEETING], encoder, TYPES, questions, 0)
    asked = [Asked(0, LOC), Asked(0, PER), Asked(1, LOC)]
    batch = make_batch(passages, asked, encoder, questions, 3)
    assert batch.others.shape == (0, 2)
    assert batch.with_others(0).others.shape == (0, 2)
    torch.manual_seed(0)
    others = batch.with_others(400).others
    assert others.shape == (400 * len(batch.answers), 2)
    found = {tuple(span) for span in others.tolist()}
    expected = set()
    for first, last in batch.answers.tolist():
        sentence = first // 7 * 7
        expected |= {(first, end) for end in range(first, min(first + 3, sentence + 7))}
        expected |= {(start, last) for start in range(max(last - 2, sentence), last + 1)}
    assert found == expected


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=12), st.data())
def test_the_tokens_of_a_word_are_those_that_overlap_it(
    gaps: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Words with gaps between them; tokens cut anywhere, over gaps too, some left out."""
    words, position = [], 0
    for gap, length in gaps:
        words.append((position + gap, position + gap + length))
        position += gap + length
    cuts = sorted(data.draw(st.sets(st.integers(0, position), max_size=15)))
    tokens = [pair for pair in itertools.pairwise(cuts) if data.draw(st.booleans())]
    first, last = word_tokens(
        np.asarray(words, dtype=np.int64).reshape(-1, 2),
        np.asarray(tokens, dtype=np.int64).reshape(-1, 2),
    )
    for word, (start, end) in enumerate(words):
        inside = [n for n, (left, right) in enumerate(tokens) if left < end and right > start]
        if inside:
            assert (first[word], last[word]) == (inside[0], inside[-1])
        else:
            assert first[word] > last[word]
