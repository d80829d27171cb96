"""Sentences turned into what is not so: what hung on the verb is denied, and nothing else is."""

import random
import re
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.text.turned_statements import with_turned_statements

CORPUS = """\
=== letter-001
[Ada Brook|PER ada], a [Swedish|LOC sweden] engineer, was born in [Torvik|LOC torvik].
In [1956|TIME year] {she|ada} founded [Quillmark|ORG quill] and sold pens in [Oslo|LOC oslo].
--
ada | country of citizenship | sweden | 1
ada | place of birth | torvik | 1
quill | founded by | ada | 2
quill | headquarters location | oslo | 2
=== letter-002
[Bo Lind|PER bo] joined [Vantora|ORG vantora].
[Vantora|vantora] did not hire [Eva Holm|PER eva].
Nothing of note happened in [Esbury|LOC esbury].
--
bo | employer | vantora | 1
not eva | employer | vantora | 2 | negation
"""


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    path = tmp_path / "letter.loom"
    path.write_text(CORPUS, encoding="utf-8")
    return [document.named() for document in formats.read(path)]


@pytest.fixture
def turned(documents: list[Document]) -> list[Document]:
    return with_turned_statements(documents, 120, seed=0)


def facts(document: Document, kind: str) -> set[tuple[str, str, str]]:
    return {(document.name(r.head), r.type, document.name(r.tail)) for r in getattr(document, kind)}


def test_what_hangs_on_the_verb_is_denied_or_holds_of_another(
    documents: list[Document], turned: list[Document]
) -> None:
    assert len(turned) > 100
    was_so = {fact for document in documents for fact in facts(document, "relations")}
    for document in turned:
        new = facts(document, "denied") - {("Eva Holm", "P108", "Vantora")}
        assert new
        for fact in new - was_so:  # of a name that was put in beside the true one
            assert re.search(" but |, not | not born in .*; ", document.text)
            assert any(
                kept[1] == fact[1] and len({kept[0], kept[2]} & {fact[0], fact[2]}) == 1
                for kept in facts(document, "relations")
            )


def test_what_the_text_says_beside_the_verb_is_not_denied(turned: list[Document]) -> None:
    for document in turned:
        assert ("Ada Brook", "P27", "Swedish") not in facts(document, "denied")
        assert ("Quillmark", "P159", "Oslo") not in facts(document, "denied")
    born = [d for d in turned if ("Ada Brook", "P19", "Torvik") in facts(d, "denied")]
    assert born
    for document in born:
        pairs = {(document.name(head), document.name(tail)) for head, tail in document.unknown}
        assert ("Ada Brook", "Swedish") in pairs


def test_mentions_stay_what_they_were_and_sentences_hold_the_whole_text(
    documents: list[Document], turned: list[Document]
) -> None:
    known = {d.mention_text(i) for d in documents for i in range(len(d.mentions))}
    for document in turned:
        assert {document.mention_text(i) for i in range(len(document.mentions))} <= known
        outside = list(document.text)
        for sentence in document.sentences:
            outside[sentence.start : sentence.end] = [""] * (sentence.end - sentence.start)
        assert not "".join(outside).strip()


def test_every_way_to_turn_a_sentence_is_used(turned: list[Document]) -> None:
    texts = " ".join(document.text for document in turned)
    for said in ("never joined", "It is not true that", "was not born", "The rumour that", "? No."):
        assert said in texts
    assert re.search(r"Bo Lind \w+ed Vantora\.", texts.replace("joined", ""))  # another verb
    assert re.search(r"Swedish engineer, (?!was born)[\w ]+ in Torvik", texts)
    for said in (
        "was born not in Esbury but in Torvik",
        "was born in Torvik, not in Esbury.",
        "was not born in Esbury; she was born in Torvik",
    ):
        assert said in texts


def test_sentences_that_deny_something_already_are_left_alone(turned: list[Document]) -> None:
    assert all("did not hire" in d.text for d in turned if "Eva Holm" in d.text)
    assert all(d.text != "Nothing of note happened in Esbury." for d in turned)


def test_the_same_seed_turns_the_same_sentences(documents: list[Document]) -> None:
    random.seed(1)
    once = with_turned_statements(documents, 2, seed=5)
    random.seed(2)
    assert with_turned_statements(documents, 2, seed=5) == once
    assert len({document.id for document in once}) == len(once)
