"""Predictions find their gold documents: by id, by order where a format has no ids, or not."""

import pytest

from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import InputError
from factloom.evaluation.matching import require_same_entities, require_same_text, with_gold_ids

GOLD = [Document("Ada left.", "gold-1"), Document("Bob came.", "gold-2")]


def renamed(*names: str) -> list[Document]:
    return [document.replace(id=name) for document, name in zip(GOLD, names, strict=True)]


def test_without_a_common_id_the_order_decides() -> None:
    assert with_gold_ids(GOLD, renamed("pred-1", "pred-2"), "pred.conll") == GOLD


def test_one_common_id_says_that_ids_mean_something() -> None:
    predicted = renamed("gold-2", "elsewhere")
    assert with_gold_ids(GOLD, predicted, "pred.jsonl") == predicted


def test_no_predictions_match_any_gold() -> None:
    assert with_gold_ids(GOLD, [], "pred.jsonl") == []


def test_another_number_of_documents_cannot_be_matched_by_order() -> None:
    with pytest.raises(InputError, match=r"pred\.conll: .* 1 documents .* 2 gold") as raised:
        with_gold_ids(GOLD, renamed("pred-1", "pred-2")[:1], "pred.conll")
    assert raised.value.code == "unmatched-number"


def test_other_texts_cannot_be_matched_by_order() -> None:
    with pytest.raises(InputError, match=r"document 'pred-2'.*'gold-1'") as raised:
        with_gold_ids(GOLD, renamed("pred-1", "pred-2")[::-1], "pred.conll")
    assert raised.value.code == "unmatched-text"


def test_the_text_of_a_known_document_is_that_of_the_gold() -> None:
    require_same_text(GOLD, [*GOLD, Document("anything", "elsewhere")])
    with pytest.raises(InputError, match="document 'gold-1'") as raised:
        require_same_text(GOLD, [Document("XXAda left.", "gold-1")])
    assert raised.value.code == "another-text"


def test_relations_are_between_the_entities_of_the_gold() -> None:
    mentions = (Mention(0, 3, "PER"), Mention(4, 8, "X"))
    entities = (Entity((0,), "PER"), Entity((1,), "X"))
    gold = Document("Ada left.", "gold-1", mentions=mentions, entities=entities)
    found = gold.replace(relations=(Relation(0, 1, "did"),))
    require_same_entities([gold], [found, found.replace(id="elsewhere", entities=entities[::-1])])
    require_same_entities([gold], [gold.replace(entities=())])  # says nothing of any entity
    with pytest.raises(InputError, match=r"document 'gold-1'.*--task end-to-end") as raised:
        require_same_entities([gold], [found.replace(entities=entities[::-1])])
    assert raised.value.code == "other-entities"
