from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.layouts.stretches import cut, relate_in_stretches


def made(lengths: list[int]) -> tuple[Document, np.ndarray]:
    """Sentences of so many words, each of which is a token and a mention of its own entity.

    The last entity is mentioned by the first word of every sentence.
    """
    text, offsets, sentences, openings = "", [], [], []
    for length in lengths:
        start = len(text)
        openings.append(len(offsets))
        for word in range(length):
            name = f"w{len(offsets)}"
            offsets.append((len(text), len(text) + len(name)))
            text += name + ("." if word == length - 1 else " ")
        sentences.append(Sentence(start, len(text)))
        text += " "
    others = [n for n in range(len(offsets)) if n not in openings]
    document = Document(
        text=text,
        sentences=tuple(sentences),
        mentions=tuple(Mention(*span, "X") for span in offsets),
        entities=(*(Entity((n,), "X") for n in others), Entity(tuple(openings), "X")),
    )
    return document, np.array(offsets, np.int64)


@given(st.lists(st.integers(1, 25), min_size=1, max_size=30), st.integers(4, 40))
def test_stretches_cover_the_text_and_none_is_too_long(lengths: list[int], most: int) -> None:
    document, offsets = made(lengths)
    stretches = list(cut(document, offsets, most))
    seen = set()
    for stretch in stretches:
        part = stretch.document
        assert len(part.mentions) <= most
        assert part.text in document.text
        for own, number in enumerate(stretch.entities):
            assert set(part.names(own)) <= set(document.names(number))
        seen |= {part.mention_text(mention) for mention in range(len(part.mentions))}
    assert seen == {document.mention_text(mention) for mention in range(len(document.mentions))}
    starts = [document.text.index(stretch.document.text) for stretch in stretches]
    ends = [start + len(s.document.text) for start, s in zip(starts, stretches, strict=True)]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))


@st.composite
def with_long_mentions(draw: st.DrawFn) -> tuple[Document, np.ndarray]:
    """Sentences with mentions of several words, which may overlap, each of its own entity."""
    document, offsets = made(draw(st.lists(st.integers(1, 60), min_size=1, max_size=5)))
    spans = []
    for sentence in document.sentences:
        first, last = np.searchsorted(offsets[:, 0], [sentence.start, sentence.end]).tolist()
        words = st.integers(first, last - 1)
        found = draw(st.lists(st.tuples(words, words).map(sorted), max_size=6))
        spans += [(int(offsets[a, 0]), int(offsets[b, 1])) for a, b in found]
    mentions = tuple(Mention(*span, "X") for span in spans)
    entities = tuple(Entity((number,), "X") for number in range(len(mentions)))
    return document.replace(mentions=mentions, entities=entities), offsets


@settings(deadline=None)
@given(with_long_mentions(), st.integers(1, 30))
def test_every_entity_that_a_stretch_can_hold_is_in_one(
    sample: tuple[Document, np.ndarray], most: int
) -> None:
    document, offsets = sample
    kept = set()
    for stretch in cut(document, offsets, most):
        part = stretch.document
        assert len(part.text.split()) <= most
        for own, number in enumerate(stretch.entities):
            assert part.name(own) == document.name(number)
            kept.add(number)
    words = [len(document.name(number).split()) for number in range(len(document.entities))]
    assert kept == {number for number, count in enumerate(words) if count <= most}


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(4, 40))
def test_neighbours_in_a_sentence_are_always_asked_together(lengths: list[int], most: int) -> None:
    document, offsets = made(lengths)
    together = set()
    for stretch in cut(document, offsets, most):
        part = stretch.document
        words = [part.mention_text(mention) for mention in range(len(part.mentions))]
        together |= set(pairwise(words))
    for number in range(len(document.sentences)):
        words = document.sentence_text(number).strip(".").split()
        assert set(pairwise(words)) <= together


def test_a_very_long_sentence_is_not_cut_within_a_mention() -> None:
    document, offsets = made([40])
    start, end = int(offsets[8, 0]), int(offsets[11, 1])  # over the tenth word, a cut otherwise
    name = Document(
        document.text, mentions=(Mention(start, end, "X"),), entities=(Entity((0,), "X"),)
    )
    first, second, *_ = cut(name, offsets, 10)
    assert first.document.text == "w0 w1 w2 w3 w4 w5 w6 w7 "
    assert second.document.text.startswith("w6 w7 w8 w9 w10 w11 ")
    assert second.document.name(0) == "w8 w9 w10 w11"


def test_a_mention_over_two_sentences_begins_a_stretch_that_holds_both() -> None:
    document, offsets = made([4, 4, 4])
    across = Mention(int(offsets[6, 0]), int(offsets[9, 1]), "X")
    both = document.replace(mentions=(across,), entities=(Entity((0,), "X"),))
    stretches = list(cut(both, offsets, 8))
    assert [stretch.sentences for stretch in stretches] == [(0, 1), (1, 2)]
    assert [stretch.entities for stretch in stretches] == [(), (0,)]


def test_neighbours_share_up_to_a_quarter() -> None:
    document, offsets = made([5] * 12)
    stretches = list(cut(document, offsets, 20))
    assert [stretch.sentences for stretch in stretches] == [
        (0, 1, 2, 3),
        (3, 4, 5, 6),
        (6, 7, 8, 9),
        (9, 10, 11),
    ]


def test_document_without_sentences_is_cut_by_rule() -> None:
    text = "Ada met Bo. Bo left. Cy came. Di sang."
    offsets = np.array([(0, 3), (4, 7), (8, 10), (12, 14), (15, 19), (21, 23), (24, 28), (30, 32)])
    parts = [stretch.document.text for stretch in cut(Document(text=text), offsets, 5)]
    assert parts == ["Ada met Bo. Bo left.", "Cy came. Di sang."]


def reason(head: int, tail: int) -> dict[str, Any]:
    """A relation of two entities that rests on itself, read in both directions."""
    premises = [[head, "in", tail], [tail, "has", head]]
    return {"entity": head, "pattern": 1, "weight": 0.5, "premises": premises}


def test_relations_come_back_with_the_numbers_of_the_whole_and_the_highest_score() -> None:
    document, offsets = made([5] * 12)
    hub = len(document.entities) - 1
    calls = []

    def relate(parts: list[Document]) -> list[Document]:
        """Every entity of a later sentence belongs to the one that is everywhere."""
        calls.append(len(parts))
        related = []
        for part in parts:
            own = len(part.entities) - 1
            score = float(part.names(0)[0][1:]) / 100
            related.append(
                part.replace(
                    relations=tuple(
                        Relation(
                            head,
                            own,
                            "in",
                            score,
                            evidence=tuple(part.entity_sentences(head)),
                            provenance={"bridges": [reason(head, own)]},
                        )
                        for head in range(own)
                    )
                )
            )
        return related

    found = relate_in_stretches(document, offsets, 20, relate)
    assert calls == [4]
    assert found.replace(relations=()) == document
    assert [relation.head for relation in found.relations] == list(range(hub))
    assert {relation.tail for relation in found.relations} == {hub}
    for relation in found.relations:
        assert set(relation.evidence) == document.entity_sentences(relation.head)
        assert relation.provenance == {"bridges": [reason(relation.head, hub)]}
    # the fourth sentence is in the first two stretches: the second gives the higher score
    assert found.relations[12].score == 0.16


def test_candidates_are_those_of_entities_that_come_together() -> None:
    document, offsets = made([5] * 4)
    hub = len(document.entities) - 1
    asked = document.replace(candidates=((0, hub), (0, 1), (0, hub - 1)))
    first, last = cut(asked, offsets, 10)
    assert first.document.candidates == ((0, 8), (0, 1))
    assert last.document.candidates == ()


def test_sentence_longer_than_a_stretch_is_cut_between_tokens_and_counts_as_one() -> None:
    document, offsets = made([3, 25, 3])
    stretches = list(cut(document, offsets, 10))
    assert [stretch.sentences for stretch in stretches] == [(0, 1), (1,), (1,), (1, 2)]
    assert [len(stretch.document.sentences) for stretch in stretches] == [2, 1, 1, 2]
    # parts of two tokens, the last of which is in the next stretch too
    assert stretches[1].document.text.startswith("w7 w8 ")
    assert stretches[1].document.text.endswith(" w15 w16 ")

    def relate(parts: list[Document]) -> list[Document]:
        both = Relation(0, 1, "near", 0.5, evidence=(0,))
        return [part.replace(relations=(both,)) for part in parts]

    related = relate_in_stretches(document, offsets, 10, relate)
    assert [relation.evidence for relation in related.relations] == [(0,), (1,), (1,), (1,)]


def test_mentions_keep_everything_but_their_place() -> None:
    document, offsets = made([5] * 6)
    mentions = (*document.mentions[:-1], replace(document.mentions[-1], score=0.5, name="own"))
    *_, last = cut(document.replace(mentions=mentions), offsets, 10)
    assert replace(last.document.mentions[-1], start=0, end=0) == Mention(0, 0, "X", 0.5, "own")


def test_relations_of_a_document_without_sentences_have_no_evidence() -> None:
    document, offsets = made([5, 5, 5, 5])

    def relate(parts: list[Document]) -> list[Document]:
        return [
            part.replace(relations=(Relation(0, 1, "P1", score=0.5, evidence=(0,)),))
            for part in parts
        ]

    bare = relate_in_stretches(document.replace(sentences=()), offsets, 8, relate)
    assert bare.relations
    assert all(relation.evidence == () for relation in bare.relations)
    assert any(r.evidence for r in relate_in_stretches(document, offsets, 8, relate).relations)
