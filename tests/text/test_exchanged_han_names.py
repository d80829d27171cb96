"""Chinese documents with other names: whole ones, of things that end alike."""

import random
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.text.exchanged_han_names import HanNames
from factloom.text.exchanged_names import exchanged, with_other_names

CORPUS = """\
=== letter-001
[欧阳朔|PER ou]创办了[青禾集团|ORG qing]，总部在[中国|LOC zh][乌溪镇|LOC wu]。
[欧阳|ou]说[青禾|qing]不会卖给[Aino Lehto|PER aino]。
--
qing | founded by | ou | 1
=== letter-002
[司徒鹿|PER situ]离开了[云岭集团|ORG yun]，[司徒|situ]说[云岭|yun]在[石桥镇|LOC shi]有厂。
--
situ | employer | yun | 1
=== letter-003
[安娜·科瓦奇|PER anna]在[康衢大学|ORG kang]教书，[科瓦奇|anna]住在[法国|LOC fr]。
--
anna | employer | kang | 1
"""


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    path = tmp_path / "letter.loom"
    path.write_text(CORPUS, encoding="utf-8")
    return list(formats.read(path))


def test_a_thing_takes_all_names_of_another_one_that_ends_alike(documents: list[Document]) -> None:
    found = exchanged(documents[0], HanNames.of(documents), random.Random(0))
    assert found.text == ("司徒鹿创办了云岭集团，总部在中国石桥镇。司徒说云岭不会卖给Aino Lehto。")


def test_mentions_and_facts_follow(documents: list[Document]) -> None:
    [fact] = exchanged(documents[0], HanNames.of(documents), random.Random(0)).facts()
    assert (fact.head, fact.relation, fact.tail) == ("云岭集团", "P112", "司徒鹿")
    assert fact.evidence == ("司徒鹿创办了云岭集团，总部在中国石桥镇。",)


def test_what_nothing_else_fits_stays(documents: list[Document]) -> None:
    assert exchanged(documents[2], HanNames.of(documents), random.Random(0)) is documents[2]
    [_, second] = with_other_names(documents, 1, 0)
    assert second.text == "欧阳朔离开了青禾集团，欧阳说青禾在乌溪镇有厂。"


def test_a_name_that_the_text_has_already_is_not_taken(documents: list[Document]) -> None:
    text = documents[0].text + "司徒鹿不在。"
    named = documents[0].replace(text=text)
    found = exchanged(named, HanNames.of(documents), random.Random(0)).text
    assert found.startswith("欧阳朔创办了云岭集团")
