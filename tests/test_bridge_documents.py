"""Documents with relations that hold only through a bridge are what their generator promises."""

import importlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from factloom import formats
from factloom.document import Document, Relation
from factloom.evaluation.relations import Counts, evaluate
from factloom.reasoning_patterns import Links

EXAMPLES = Path(__file__).parent.parent / "examples"
DERIVED = {"taxed by": 1, "customer of": 2, "bound to": 3, "rooted in": 4}  # and their pattern
PREMISES = {  # one of head and bridge, one of bridge and tail
    "taxed by": ("works in", "lies in"),
    "customer of": ("owns", "built"),
    "bound to": ("trained", "runs"),
    "rooted in": ("founded", "born in"),
}
FROM_BRIDGE = {"lies in", "trained", "founded", "born in"}


@pytest.fixture(scope="module")
def make_bridges() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        yield importlib.import_module("make_bridges")


@pytest.fixture(scope="module")
def train(make_bridges: ModuleType) -> list[Document]:
    documents: list[Document] = make_bridges.bridge_documents(120, seed=3, split="train")
    return documents


@pytest.fixture(scope="module")
def dev(make_bridges: ModuleType) -> list[Document]:
    documents: list[Document] = make_bridges.bridge_documents(60, seed=3, split="dev")
    return documents


def derived_of(document: Document) -> list[Relation]:
    return [relation for relation in document.relations if relation.type in DERIVED]


def premises_of(document: Document) -> list[Relation]:
    return [relation for relation in document.relations if relation.type not in DERIVED]


def joined(document: Document, premise: str) -> list[tuple[int, int]]:
    """The bridge and the other end of every premise of this type."""
    return [
        (r.head, r.tail) if premise in FROM_BRIDGE else (r.tail, r.head)
        for r in document.relations
        if r.type == premise
    ]


def test_the_same_seed_makes_the_same_documents(
    make_bridges: ModuleType, train: list[Document]
) -> None:
    assert make_bridges.bridge_documents(120, 3, "train") == train


def test_another_seed_makes_other_documents(
    make_bridges: ModuleType, train: list[Document]
) -> None:
    others = make_bridges.bridge_documents(120, 4, "train")
    assert not {document.text for document in others} & {document.text for document in train}


def test_more_documents_begin_with_the_same_ones(
    make_bridges: ModuleType, train: list[Document]
) -> None:
    assert make_bridges.bridge_documents(10, 3, "train") == train[:10]


def test_names_of_dev_are_unseen_in_train(train: list[Document], dev: list[Document]) -> None:
    def names(documents: list[Document]) -> set[str]:
        """Whole names and first words, for these are given names and stems of companies."""
        return {
            part
            for document in documents
            for entity in range(len(document.entities))
            for name in document.names(entity)
            for part in (name, name.split()[0])
        }

    assert not names(train) & names(dev)


@pytest.mark.parametrize("split", ["train", "dev"])
def test_every_derived_relation_is_derivable_by_exactly_its_pattern_and_bridge(
    split: str, request: pytest.FixtureRequest
) -> None:
    for document in request.getfixturevalue(split):
        links = Links(document.relations)
        for relation in derived_of(document):
            pattern, bridge = relation.attributes["pattern"], relation.attributes["bridge"]
            assert pattern == DERIVED[relation.type]
            assert links.bridges(relation.head, relation.tail) == {pattern: {bridge}}


def test_nothing_that_both_premises_support_is_left_out(train: list[Document]) -> None:
    for document in train:
        expected = {
            (kind, head, tail)
            for kind, (first, second) in PREMISES.items()
            for bridge, head in joined(document, first)
            for other, tail in joined(document, second)
            if bridge == other
        }
        assert {(r.type, r.head, r.tail) for r in derived_of(document)} == expected


def test_patterns_are_about_equally_frequent(train: list[Document]) -> None:
    counts = Counter(relation.type for document in train for relation in derived_of(document))
    assert counts.keys() == DERIVED.keys()
    assert max(counts.values()) < 1.3 * min(counts.values())
    assert counts.total() > len(train)


def test_head_and_tail_of_a_derived_relation_never_share_a_sentence(train: list[Document]) -> None:
    for document in train:
        for relation in derived_of(document):
            head, tail = (document.entity_sentences(e) for e in (relation.head, relation.tail))
            assert not head & tail


def test_derived_relations_are_never_said_in_words(train: list[Document]) -> None:
    for document in train:
        assert not any(words in document.text for words in DERIVED)


def test_every_sentence_names_two_entities_and_states_at_most_one_premise(
    train: list[Document],
) -> None:
    for document in train:
        named = Counter(
            sentence
            for entity in range(len(document.entities))
            for sentence in document.entity_sentences(entity)
        )
        assert set(named.values()) == {2}
        stated = [relation.evidence for relation in premises_of(document)]
        assert all(len(evidence) == 1 for evidence in stated)
        assert len(set(stated)) == len(stated)


def test_evidence_of_a_derived_relation_are_the_sentences_of_its_premises(
    train: list[Document],
) -> None:
    for document in train:
        for relation in derived_of(document):
            bridge = relation.attributes["bridge"]
            premises = [
                premise.evidence[0]
                for premise in premises_of(document)
                if {premise.head, premise.tail}
                in ({relation.head, bridge}, {relation.tail, bridge})
            ]
            assert sorted(premises) == list(relation.evidence)


def test_some_bridges_serve_several_chains_and_some_sentences_are_decoys(
    train: list[Document],
) -> None:
    bridges = [
        Counter(relation.attributes["bridge"] for relation in derived_of(document))
        for document in train
    ]
    assert sum(max(used.values(), default=0) > 1 for used in bridges) > len(train) / 4
    sentences = sum(len(document.sentences) for document in train)
    stated = sum(len(premises_of(document)) for document in train)
    assert 0.15 < 1 - stated / sentences < 0.25


# --- shortcuts that must not work --------------------------------------------------------------


def found_by(rule: dict[str, set[tuple[int, int]]], document: Document) -> Document:
    relations = [Relation(*pair, kind) for kind, pairs in rule.items() for pair in sorted(pairs)]
    return document.replace(relations=tuple(relations))


def derived_counts(gold: list[Document], predicted: list[Document]) -> Counts:
    report = evaluate(gold, predicted)
    return sum((report.per_relation[kind] for kind in DERIVED), Counts())


def types(document: Document, pair: tuple[int, int]) -> tuple[str, str]:
    return document.entities[pair[0]].type, document.entities[pair[1]].type


def test_no_relation_is_the_best_guess_for_every_pair_of_entity_types(
    train: list[Document],
) -> None:
    pairs = Counter(types(d, pair) for d in train for pair in d.pairs())
    related = Counter(
        (r.type, types(document, (r.head, r.tail)))
        for document in train
        for r in derived_of(document)
    )
    assert all(count / pairs[of_types] < 0.1 for (_, of_types), count in related.items())


def test_guessing_by_entity_types_is_poor(train: list[Document], dev: list[Document]) -> None:
    allowed = defaultdict(set)
    for document in train:
        for relation in derived_of(document):
            allowed[relation.type].add(types(document, (relation.head, relation.tail)))
    guessed = [
        found_by(
            {
                kind: {pair for pair in document.pairs() if types(document, pair) in seen}
                for kind, seen in allowed.items()
            },
            document,
        )
        for document in dev
    ]
    counts = derived_counts(dev, guessed)
    assert counts.recall == 1
    assert counts.f1 < 0.2


def test_guessing_by_what_is_said_of_head_and_tail_alone_is_poor(dev: list[Document]) -> None:
    """Even knowing who has a premise of the right kind, and only not through whom."""
    guessed = [
        found_by(
            {
                kind: {
                    (head, tail)
                    for _, head in joined(document, first)
                    for _, tail in joined(document, second)
                }
                for kind, (first, second) in PREMISES.items()
            },
            document,
        )
        for document in dev
    ]
    counts = derived_counts(dev, guessed)
    assert counts.recall == 1
    assert counts.precision < 0.4


def test_files_are_written_and_have_no_flaw(make_bridges: ModuleType, tmp_path: Path) -> None:
    make_bridges.main(["--train", "6", "--dev", "3", "--seed", "3", "--output", str(tmp_path)])
    for split, count in (("train", 6), ("dev", 3)):
        path = tmp_path / f"{split}.jsonl"
        assert list(formats.check(path)) == []
        assert list(formats.read(path)) == make_bridges.bridge_documents(count, 3, split)
