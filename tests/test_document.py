import dataclasses
import doctest
import json
from typing import Any

import pytest

import factloom.document
from factloom.document import SCHEMA_VERSION, Document, Entity, Mention, Relation, Sentence, flaws
from factloom.errors import DocumentError

TEXT = "Ada Lovelace lived in London. Ada died in London."


@pytest.fixture
def document() -> Document:
    return Document(
        text=TEXT,
        id="ada",
        sentences=(Sentence(0, 29, ((0, 3), (4, 12))), Sentence(30, 49)),
        mentions=(
            Mention(30, 33, "PER"),
            Mention(0, 12, "PER", name="Ada L."),
            Mention(22, 28, "LOC", score=0.5),
            Mention(42, 48, "LOC"),
        ),
        entities=(Entity((0, 1), "PER", id="Q7259"), Entity((2, 3), "LOC")),
        relations=(Relation(0, 1, "P551", score=0.0, evidence=(0,), provenance={"model": "m"}),),
        attributes={"year": 1815},
    )


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(factloom.document).failed == 0


def test_names(document: Document) -> None:
    assert document.mention_text(1) == "Ada Lovelace"
    assert document.mention_name(1) == "Ada L."
    assert document.name(0) == "Ada Lovelace"  # the longest
    assert document.names(0) == ("Ada", "Ada L.")  # each once, in the order of the mentions
    assert document.names(1) == ("London",)


def test_an_entity_is_called_by_its_names_not_by_nominals_and_pronouns() -> None:
    text = "the brilliant programmer Ada; she"
    mentions = (
        Mention(0, 24, "PER", kind="nominal"),
        Mention(25, 28, "PER"),
        Mention(30, 33, "PER", kind="pronoun"),
    )
    entities = (Entity((0, 1, 2), "PER"), Entity((2, 0), "PER"))
    document = Document(text, mentions=mentions, entities=entities)
    assert (document.name(0), document.names(0)) == ("Ada", ("Ada",))
    # where there is no name, all that there is
    assert document.names(1) == ("she", "the brilliant programmer")
    assert document.name(1) == "the brilliant programmer"


def test_a_relation_cannot_be_stated_and_denied(document: Document) -> None:
    denied = (Relation(1, 0, "P551"), Relation(0, 1, "P19"), Relation(0, 1, "P551"))
    with pytest.raises(DocumentError, match="both stated and denied") as caught:
        document.replace(denied=denied)
    assert caught.value.flaw.place.part == "denied 2"
    assert document.replace(denied=denied[:2]).denied == denied[:2]


def test_a_document_without_relations_says_nothing_about_them(document: Document) -> None:
    partly = document.replace(
        denied=(Relation(1, 0, "P551"),), annotated=("P551",), unknown=((1, 0),)
    )
    assert partly.without_relations() == document.replace(relations=())
    assert partly.without_mentions() == Document(
        TEXT, "ada", document.sentences, attributes={"year": 1815}
    )


def test_a_chinese_name_broken_by_a_line_end_gets_no_blank() -> None:
    text = "北\n  京 and New\nYork and 乔治 布什"
    mentions = (Mention(0, 5, "LOC"), Mention(10, 18, "LOC"), Mention(23, 28, "PER"))
    entities = tuple(Entity((number,), "X") for number in range(3))
    document = Document(text=text, mentions=mentions, entities=entities)
    assert [document.name(number) for number in range(3)] == ["北京", "New York", "乔治 布什"]


def test_a_name_broken_by_a_line_end_is_one_line_and_not_longer_than_the_same_unbroken() -> None:
    text = "Ada\n    Brook met Ada Brook. Ada\r\nBrook left."
    spans = ((0, 13), (18, 27), (29, 39))
    document = Document(
        text,
        mentions=tuple(Mention(start, end, "PER") for start, end in spans),
        entities=(Entity((2, 1, 0), "PER"),),
    )
    assert [document.mention_text(mention) for mention in range(3)] == [
        *("Ada\n    Brook", "Ada Brook", "Ada\r\nBrook"),
    ]
    assert document.name(0) == "Ada Brook"
    assert document.names(0) == ("Ada Brook",)


def test_the_longest_name_is_the_one_with_most_letters_not_with_most_white_space() -> None:
    text = "Ada      Brook is Ada Brookes."
    mentions = (Mention(0, 14, "PER"), Mention(18, 29, "PER"))
    document = Document(text, mentions=mentions, entities=(Entity((0, 1), "PER"),))
    assert document.name(0) == "Ada Brookes"
    assert document.names(0) == ("Ada Brook", "Ada Brookes")


def test_sentences(document: Document) -> None:
    assert [document.sentence_at(offset) for offset in (0, 28, 29, 30, 48, 49)] == [
        *(0, 0),
        None,  # the space between
        *(1, 1),
        None,
    ]
    assert document.sentence_text(1) == "Ada died in London."
    assert document.entity_sentences(0) == {0, 1}
    assert document.tokens == ((0, 3), (4, 12))


def test_empty_sentence_does_not_hide_the_one_behind_it() -> None:
    document = Document("abc", sentences=(Sentence(0, 0), Sentence(0, 3)))
    assert document.sentence_at(0) == 1


def test_pairs_are_all_ordered_pairs_or_the_candidates(document: Document) -> None:
    assert document.pairs() == ((0, 1), (1, 0))
    assert document.replace(candidates=((1, 0),)).pairs() == ((1, 0),)
    assert document.replace(candidates=()).pairs() == ()


def test_document_is_immutable_and_replaced(document: Document) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        document.text = "other"  # type: ignore[misc]
    assert document.replace(relations=()).relations == ()
    assert document.relations != ()


def test_replacement_is_checked_too(document: Document) -> None:
    with pytest.raises(DocumentError, match="span-outside-text"):
        document.replace(text="short")


@pytest.mark.parametrize(
    ("changes", "code", "part"),
    [
        ({"sentences": (Sentence(0, 50),)}, "span-outside-text", "sentence 0"),
        ({"sentences": (Sentence(5, 4),)}, "span-outside-text", "sentence 0"),
        ({"sentences": (Sentence(0, 9), Sentence(8, 12))}, "sentences-out-of-order", "sentence 1"),
        ({"sentences": (Sentence(0, 9, ((5, 10),)),)}, "token-outside-sentence", "sentence 0"),
        (
            {"sentences": (Sentence(0, 9, ((3, 5), (4, 6))),)},
            "token-outside-sentence",
            "sentence 0",
        ),
        ({"mentions": (Mention(-1, 2, "X"),)}, "span-outside-text", "mention 0"),
        ({"mentions": (Mention(2, 2, "X"),)}, "span-outside-text", "mention 0"),
        ({"mentions": (Mention(0, 3, "X"), Mention(3, 4, "X"))}, "blank-mention", "mention 1"),
        ({"mentions": (Mention(2, 3, ""),)}, "missing-label", "mention 0"),
        ({"mentions": (Mention(2, 3, "X", score=1.5),)}, "score-out-of-range", "mention 0"),
        ({"mentions": (Mention(2, 3, "X", float("nan")),)}, "score-out-of-range", "mention 0"),
        ({"entities": (Entity((), "X"),)}, "empty-entity", "entity 0"),
        ({"entities": (Entity((4,), "X"),)}, "dangling-mention", "entity 0"),
        ({"entities": (Entity((-1,), "X"),)}, "dangling-mention", "entity 0"),
        ({"relations": (Relation(0, 2, "P"),)}, "dangling-entity", "relation 0"),
        ({"relations": (Relation(-1, 0, "P"),)}, "dangling-entity", "relation 0"),
        ({"relations": (Relation(0, 1, "P", evidence=(2,)),)}, "dangling-sentence", "relation 0"),
        ({"relations": 2 * (Relation(0, 1, "P"),)}, "duplicate-relation", "relation 1"),
        ({"candidates": ((0, 1), (1, 2))}, "dangling-entity", "candidate 1"),
        ({"candidates": ((0, 1), (1, 0), (0, 1))}, "duplicate-pair", "candidate 2"),
        ({"candidates": ((0, 1), (1, 1))}, "self-pair", "candidate 1"),
        ({"denied": (Relation(0, 2, "P"),)}, "dangling-entity", "denied 0"),
        ({"denied": (Relation(0, 1, "P", evidence=(2,)),)}, "dangling-sentence", "denied 0"),
        ({"denied": (Relation(0, 1, ""),)}, "missing-label", "denied 0"),
        ({"denied": 2 * (Relation(0, 1, "P"),)}, "duplicate-relation", "denied 1"),
        ({"annotated": ("P19", "")}, "missing-label", "annotated 1"),
        ({"unknown": ((0, 1), (1, 2))}, "dangling-entity", "unknown pair 1"),
        ({"unknown": ((0, 1), (0, 1))}, "duplicate-pair", "unknown pair 1"),
        ({"unknown": ((0, 0),)}, "self-pair", "unknown pair 0"),
        ({"text": TEXT[:-1] + "\ud800"}, "half-character", None),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    document: Document, changes: dict[str, Any], code: str, part: str
) -> None:
    bare = document.replace(relations=()) if "relations" not in changes else document
    bare = bare.replace(entities=()) if "mentions" in changes else bare
    with pytest.raises(DocumentError) as caught:
        bare.replace(**changes)
    place = caught.value.flaw.place
    assert (caught.value.code, place.document, place.part) == (code, "ada", part)


@pytest.mark.parametrize(("text", "offset"), [("a\ud800b", 1), ("马\U0001f600\udc00", 2)])
def test_half_a_character_is_told_with_its_offset(text: str, offset: int) -> None:
    with pytest.raises(DocumentError, match=f"character {offset} of the text"):
        Document(text)


@pytest.mark.parametrize("text", ["a \t b", "马\u3000云", "a\u00a0b"])
def test_mention_of_white_space_is_refused_unless_the_source_has_a_token_there(text: str) -> None:
    mention = Mention(1, len(text) - 1, "X")
    with pytest.raises(DocumentError, match="blank-mention"):
        Document(text, sentences=(Sentence(0, len(text)),), mentions=(mention,))
    tokens = ((0, 1), (1, len(text) - 1), (len(text) - 1, len(text)))
    Document(text, sentences=(Sentence(0, len(text), tokens),), mentions=(mention,))


def test_good_document_has_no_flaws(document: Document) -> None:
    assert list(flaws(document)) == []


def test_json_holds_everything_and_leaves_out_defaults(document: Document) -> None:
    data = json.loads(json.dumps(document.to_json()))
    assert Document.from_json(data) == document
    assert data["factloom"] == SCHEMA_VERSION
    assert data["mentions"][0] == {"start": 30, "end": 33, "type": "PER"}
    assert data["relations"][0]["score"] == 0.0
    assert "candidates" not in data
    assert Document("a").to_json() == {"factloom": SCHEMA_VERSION, "text": "a"}


def test_json_holds_what_is_denied_and_what_is_unknown(document: Document) -> None:
    partly = document.replace(
        mentions=(*document.mentions, Mention(30, 33, "PER", kind="nominal")),
        denied=(Relation(1, 0, "P551", evidence=(1,), attributes={"why": "negation"}),),
        annotated=("P551", "P19"),
        unknown=((1, 0),),
    )
    data = json.loads(json.dumps(partly.to_json()))
    assert Document.from_json(data) == partly
    assert data["mentions"][-1]["kind"] == "nominal"
    assert data["annotated"] == ["P551", "P19"]
    # annotated for nothing is not annotated for all
    none = partly.replace(annotated=())
    assert Document.from_json(none.to_json()).annotated == ()


def test_no_candidates_are_told_from_all_pairs(document: Document) -> None:
    none = document.replace(candidates=())
    assert Document.from_json(none.to_json()).candidates == ()


def test_a_document_is_printed_for_people() -> None:
    assert repr(Document("")) == "<Document '': ''>"
    text = "Ada Lovelace\n was born " + "far away " * 20
    found = Document(text, id="d", sentences=(Sentence(0, 9),), mentions=(Mention(0, 12, "PER"),))
    assert repr(found) == (
        "<Document 'd': 'Ada Lovelace was born far away far away far away far away fa...', "
        "1 sentences, 1 mentions>"
    )


def test_facts_are_relations_in_words() -> None:
    document = Document(
        "Ada saw Oslo.",
        sentences=(Sentence(0, 13),),
        mentions=(Mention(0, 3, "PER"), Mention(8, 12, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P9", score=0.7, evidence=(0,)), Relation(1, 0, "P8")),
    )
    assert document.facts({"P9": "saw"}) == [
        ("Ada", "saw", "Oslo", 0.7, ("Ada saw Oslo.",)),
        ("Oslo", "P8", "Ada", None, ()),
    ]
    assert document.facts()[0].relation == "P9"
    assert Document.from_json(document.to_dict()) == document


def test_a_named_document_has_neither_pronouns_nor_what_only_they_mention() -> None:
    document = Document(
        "She met Bob, he met her in it.",
        mentions=(
            Mention(0, 3, "PER", kind="pronoun"),
            Mention(8, 11, "PER"),
            Mention(13, 15, "PER", kind="pronoun"),
            Mention(27, 29, "LOC", kind="nominal"),
            Mention(16, 19, "ACT"),
        ),
        entities=(Entity((0,), "PER"), Entity((2, 1), "PER"), Entity((3, 4), "LOC")),
        relations=(Relation(1, 2, "in"), Relation(0, 1, "met")),
        denied=(Relation(2, 1, "owns"), Relation(0, 2, "in")),
        unknown=((2, 1), (1, 0)),
        candidates=((1, 2), (0, 1), (2, 1)),
    )
    named = document.named()
    assert [named.mention_text(index) for index in range(2)] == ["Bob", "met"]
    assert [entity.mentions for entity in named.entities] == [(0,), (1,)]
    assert named.relations == (Relation(0, 1, "in"),)
    assert named.denied == (Relation(1, 0, "owns"),)
    assert (named.unknown, named.candidates) == (((1, 0),), ((0, 1), (1, 0)))
    assert named.named() is named
