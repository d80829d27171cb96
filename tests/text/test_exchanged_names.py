"""Documents with other names: the same words around them, the same annotation."""

import random
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Mention, Sentence
from factloom.text.exchanged_names import NameWords, exchanged, with_other_names

CORPUS = """\
=== letter-001
[Ada Brook|PER ada] set up [Quillmark House|ORG quill] in [Torvik|LOC torvik], [Norway|LOC norway].
[Brook|ada] never sold [Quillmark|quill].
--
quill | founded by | ada | 1
torvik | country | norway | 1
=== letter-002
[Mara Lindgren|PER mara] left her house for [Vantora|ORG vantora] of [Esbury|LOC esbury].
[Lindgren|mara] is happy.
--
mara | employer | vantora | 1
"""


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    path = tmp_path / "letter.loom"
    path.write_text(CORPUS, encoding="utf-8")
    return list(formats.read(path))


def test_every_invented_word_is_exchanged_alike_everywhere(documents: list[Document]) -> None:
    found = exchanged(documents[0], NameWords.of(documents), random.Random(0))
    assert found.text == (
        "Ada Lindgren set up Vantora House in Esbury, Norway. Lindgren never sold Vantora."
    )


def test_mentions_sentences_and_facts_follow(documents: list[Document]) -> None:
    first, second = (d.facts() for d in (documents[0], with_other_names(documents, 1, 0)[0]))
    assert [fact.relation for fact in first] == [fact.relation for fact in second]
    facts = {(fact.head, fact.relation, fact.tail, fact.evidence) for fact in second}
    proof = ("Ada Lindgren set up Vantora House in Esbury, Norway.",)
    assert ("Vantora House", "P112", "Ada Lindgren", proof) in facts


def test_words_in_small_letters_somewhere_and_countries_stay(documents: list[Document]) -> None:
    words = NameWords.of(documents)
    exchangeable = {word for found in words.by_type.values() for word in found}
    assert exchangeable == {"Brook", "Quillmark", "Torvik", "Lindgren", "Vantora", "Esbury"}


def test_copies_differ_by_seed_and_are_the_same_for_one(documents: list[Document]) -> None:
    once, again = (with_other_names(documents, 2, seed=3) for _ in range(2))
    assert once == again
    assert len({document.id for document in once}) == 4


def test_a_word_with_the_border_of_a_token_inside_stays() -> None:
    sentence = Sentence(0, 18, tokens=((0, 2), (3, 8), (8, 12)))
    documents = [
        Document("Bo Quillmark came.", sentences=(sentence,), mentions=(Mention(0, 12, "PER"),)),
        Document("Bo Lindgren went.", mentions=(Mention(0, 11, "PER"),)),
    ]
    words = NameWords.of(documents)
    assert exchanged(documents[0], words, random.Random(0)) is documents[0]
    assert exchanged(documents[1], words, random.Random(0)).text == "Bo Quillmark went."
