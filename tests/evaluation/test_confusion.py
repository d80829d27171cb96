"""Which relation was predicted for which."""

import random
from collections.abc import Callable

from factloom.document import Document, Relation
from factloom.evaluation.confusion import NONE, OTHER, confusion_counts, largest_confusion
from factloom.evaluation.relations import predictions_of


def predicted(document: Document, *relations: Relation) -> list[Document]:
    return [document.replace(relations=relations)]


def test_a_pair_is_confused_missed_or_invented(ada: Document) -> None:
    guesses = predicted(
        ada,
        Relation(0, 1, "born"),  # right
        Relation(0, 2, "brother"),  # for "father"
        Relation(3, 0, "born"),  # for nothing; and nothing for "country"
    )
    assert confusion_counts([ada], predictions_of(guesses)) == {
        ("born", "born"): 1,
        ("father", "brother"): 1,
        ("country", NONE): 1,
        (NONE, "born"): 1,
    }


def test_relations_shared_by_a_pair_are_not_confused_with_each_other(ada: Document) -> None:
    gold = ada.replace(relations=(Relation(0, 1, "born"), Relation(0, 1, "died")))
    guesses = predicted(ada, Relation(0, 1, "born"), Relation(0, 1, "lived"))
    assert confusion_counts([gold], predictions_of(guesses)) == {
        ("born", "born"): 1,
        ("died", "lived"): 1,
    }


def test_predictions_of_unknown_documents_stand_beside_none(
    ada: Document, document: Callable[..., Document]
) -> None:
    stranger = document("elsewhere", [[("A", 0)], [("B", 0)]], [Relation(0, 1, "born")])
    counts = confusion_counts([ada], predictions_of([ada, stranger]))
    assert counts[NONE, "born"] == 1
    assert counts["born", "born"] == 1


def test_rare_relations_become_one_row_and_no_count_is_lost() -> None:
    generator = random.Random(3)
    names = [f"P{index}" for index in range(12)]
    counts = {
        (right, guessed): generator.randint(0, 9)
        for right in [*names, NONE]
        for guessed in [*names, NONE]
        if (right, guessed) != (NONE, NONE)
    }
    confusion = largest_confusion(counts, size=4)
    assert len(confusion.labels) == 6
    assert confusion.labels[-2:] == (OTHER, NONE)
    assert confusion.counts.sum() == sum(counts.values())
    first = confusion.labels[0]
    assert confusion.counts[0, 0] == counts[first, first]
    assert confusion.counts[0].sum() == sum(n for (right, _), n in counts.items() if right == first)


def test_the_relations_that_take_part_most_often_are_shown() -> None:
    counts = {("rare", "rare"): 1, ("often", "often"): 5, ("missed", NONE): 3}
    assert largest_confusion(counts, size=2).labels == ("often", "missed", OTHER, NONE)


def test_few_relations_need_no_row_for_others() -> None:
    confusion = largest_confusion({("born", "born"): 2, ("born", NONE): 1})
    assert confusion.labels == ("born", NONE)
    assert confusion.counts.tolist() == [[2, 1], [0, 0]]


def test_nothing_to_confuse_leaves_only_none() -> None:
    assert largest_confusion({}).labels == (NONE,)
