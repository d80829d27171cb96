"""All names of a text, where a corpus marks the arguments of its facts."""

import re

import pytest

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.text.pronouns import is_pronoun
from factloom.text.whole_names import with_whole_names


def document(text: str, *entities: str, relations: tuple[Relation, ...] = ()) -> Document:
    """Entities are written as type and names, "PER Ada|She"; a name is where it comes first."""
    mentions: list[Mention] = []
    found = []
    for number, entity in enumerate(entities):
        type, _, names = entity.partition(" ")
        first = len(mentions)
        for name in names.split("|"):
            start = text.index(name)
            kind = "pronoun" if is_pronoun(name) else "name"
            mentions.append(Mention(start, start + len(name), type, kind=kind))
        found.append(Entity(tuple(range(first, len(mentions))), type, f"Q{number}"))
    sentences = tuple(Sentence(*match.span()) for match in re.finditer(r"[^.]+\.", text))
    return Document(
        text,
        sentences=sentences,
        mentions=tuple(mentions),
        entities=tuple(found),
        relations=relations,
        annotated=tuple(sorted({relation.type for relation in relations})),
    )


def entities(whole: Document) -> list[tuple[str, ...]]:
    return [
        (entity.type, *(whole.mention_text(mention) for mention in entity.mentions))
        for entity in whole.entities
    ]


def stated(whole: Document) -> set[tuple[str, str, str]]:
    return {(whole.name(r.head), r.type, whole.name(r.tail)) for r in whole.relations}


def unknown(whole: Document) -> set[tuple[str, str]]:
    return {(whole.name(head), whole.name(tail)) for head, tail in whole.unknown}


def test_names_that_are_no_argument_come_from_the_model() -> None:
    text = "Ada left Halden for Torvik."
    corpus = document(text, "PER Ada", "ORG Halden", relations=(Relation(0, 1, "P108"),))
    whole = with_whole_names(corpus, document(text, "PER Ada", "LOC Torvik"))
    assert entities(whole) == [("PER", "Ada"), ("ORG", "Halden"), ("LOC", "Torvik")]
    assert stated(whole) == {("Ada", "P108", "Halden")}
    assert (whole.annotated, whole.unknown) == (("P108",), ())
    assert [entity.id for entity in whole.entities] == ["Q0", "Q1", None]


@pytest.mark.parametrize(
    ("argument", "found", "kept"),
    [
        ("ORG Halden Group", "ORG Halden", ("ORG", "Halden Group")),  # the argument is longer
        ("ORG Halden", "ORG Halden Group", ("ORG", "Halden")),  # shorter, of one type
        ("LOC Halden", "ORG Halden Group", ("ORG", "Halden Group")),  # within another name
        ("? Halden", "ORG Halden Group", ("ORG", "Halden")),  # of unknown type
        ('ORG "Halden Group"', "ORG Halden Group", ("ORG", "Halden Group")),  # in quotes
    ],
)
def test_an_argument_takes_the_place_of_names_it_overlaps_unless_it_is_part_of_another_thing(
    argument: str, found: str, kept: tuple[str, ...]
) -> None:
    text = 'The firm "Halden Group" grew.'
    assert entities(with_whole_names(document(text, argument), document(text, found))) == [kept]


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        ("Halden's", "Halden"),
        ("(Halden", "Halden"),
        ('"Ted" Brook', '"Ted" Brook'),
        ("Brook (Ada),", "Brook (Ada),"),
    ],
)
def test_an_argument_loses_the_signs_around_it_but_none_of_a_pair(argument: str, kept: str) -> None:
    text = f"Here is {argument} again."
    assert entities(with_whole_names(document(text, f"PER {argument}"), document(text))) == [
        ("PER", kept)
    ]


def test_a_list_of_names_is_no_name_and_what_it_says_is_unknown() -> None:
    text = "Ada lives in Thirsk and Malton."
    fact = Relation(0, 1, "P551")
    corpus = document(text, "PER Ada", "LOC Thirsk and Malton", relations=(fact,))
    whole = with_whole_names(corpus, document(text, "LOC Thirsk", "LOC Malton"))
    assert entities(whole) == [("PER", "Ada"), ("LOC", "Thirsk"), ("LOC", "Malton")]
    assert stated(whole) == set()
    assert unknown(whole) == {("Ada", "Thirsk"), ("Ada", "Malton")}


def test_entities_of_the_model_join_arguments_unless_the_corpus_tells_them_apart() -> None:
    text = "Ada Brook met Brook at Halden Inc. Later Ada Brook left Halden."
    fact = Relation(0, 1, "P26")
    corpus = document(text, "PER Ada Brook", "PER Brook at", "ORG Halden Inc", relations=(fact,))
    model = document(text, "PER Ada Brook|Brook at", "ORG Halden Inc|Halden.")
    assert entities(with_whole_names(corpus, model)) == [
        ("PER", "Ada Brook", "Ada Brook"),
        ("PER", "Brook at"),
        ("ORG", "Halden Inc", "Halden."),
    ]


def test_a_pronoun_stays_with_its_name_and_alone_it_is_dropped_with_its_facts() -> None:
    text = "Ada came. She met Tom. He runs Halden."
    facts = (Relation(2, 1, "P169"), Relation(2, 3, "P169"))
    corpus = document(text, "PER Ada|She", "PER He", "ORG Halden", "PER Tom", relations=facts)
    whole = with_whole_names(corpus, document(text))
    assert entities(whole) == [("PER", "Ada", "She"), ("PER", "Tom"), ("ORG", "Halden")]
    assert ("Halden", "P169", "Tom") in stated(whole)
    assert unknown(whole) == set()  # Tom has the fact of him
    alone = with_whole_names(
        document(text, "PER He", "ORG Halden", relations=(Relation(1, 0, "P169"),)),
        document(text, "PER Ada", "PER Tom"),
    )
    assert stated(alone) == set()
    assert unknown(alone) == {("Halden", "Ada"), ("Halden", "Tom")}


def test_evidence_are_the_sentences_that_name_both_ends() -> None:
    text = "Ada came. Ada founded Halden. Halden grew."
    corpus = document(text, "ORG Halden", "PER Ada", relations=(Relation(0, 1, "P112"),))
    (fact,) = with_whole_names(corpus, document(text)).relations
    assert fact.evidence == (1,)


def test_what_follows_is_added() -> None:
    text = "Ada is married to Tom."
    corpus = document(text, "PER Ada", "PER Tom", relations=(Relation(0, 1, "P26"),))
    assert stated(with_whole_names(corpus, document(text))) == {
        ("Ada", "P26", "Tom"),
        ("Tom", "P26", "Ada"),
    }
