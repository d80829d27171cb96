"""Relations in Chinese words."""

from factloom.text.relation_labels import relation_labels
from factloom.text.relation_names import RELATION_NAMES


def test_every_known_relation_has_a_label_of_its_own() -> None:
    labels = relation_labels("zh")
    assert labels.keys() == RELATION_NAMES.keys()
    assert len(set(labels.values())) == len(labels)
    assert not any(label.isascii() or " " in label for label in labels.values())


def test_english_labels_are_the_names() -> None:
    assert relation_labels("en") == RELATION_NAMES
