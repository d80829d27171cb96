"""In small what benchmarks/bridges.py and bridge_heads.py show: reasoning finds what is not stated.

Each document has three chains of one pattern: two premises that share a bridge, stated by a
sentence each, and a relation that follows from them and is stated nowhere. Every verb stands in
three sentences, so that only the bridge tells whose premises belong together.
"""

import copy
import importlib
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.encoders.encoder import Encoder
from factloom.evaluation.relations import Counts, evaluate
from factloom.explanations import explanations
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.docre_sd import DocreSd, DocreSdSettings
from factloom.reasoning_patterns import PATTERNS, premises
from tiny_bert import save_tiny_bert

ROOT = Path(__file__).parent.parent.parent
NAMES = [first + second for first in "bcdfghjklm" for second in "aeiou"]
VERBS = {
    1: ("hires", "rents"),
    2: ("owns", "builds"),
    3: ("sells", "paints"),
    4: ("sees", "greets"),
}
DERIVED = {pattern: f"follows by {pattern}" for pattern in PATTERNS}


def chained_document(chance: random.Random, title: str) -> Document:
    pattern = chance.choice(PATTERNS)
    names = chance.sample(NAMES, 9)
    stated: list[tuple[int, str, int]] = []
    derived: list[Relation] = []
    for head, bridge, tail in ((0, 1, 2), (3, 4, 5), (6, 7, 8)):
        ends = premises(pattern, head, tail, bridge)
        stated += [(a, verb, b) for (a, b), verb in zip(ends, VERBS[pattern], strict=True)]
        derived.append(
            Relation(
                head, tail, DERIVED[pattern], attributes={"bridge": bridge, "pattern": pattern}
            )
        )
    chance.shuffle(stated)
    text, sentences = "", []
    mentions: list[Mention] = []
    mentions_of: list[list[int]] = [[] for _ in names]
    for head, verb, tail in stated:
        start = len(text)
        for word, entity in ((names[head], head), (verb, None), (names[tail], tail), (".", None)):
            if entity is not None:
                mentions_of[entity].append(len(mentions))
                mentions.append(Mention(len(text), len(text) + len(word), "X"))
            text += f"{word} "
        sentences.append(Sentence(start, len(text) - 1))
    return Document(
        text=text,
        id=title,
        sentences=tuple(sentences),
        mentions=tuple(mentions),
        entities=tuple(Entity(tuple(found), "X") for found in mentions_of),
        relations=(*(Relation(head, tail, verb) for head, verb, tail in stated), *derived),
    )


@pytest.fixture(scope="module")
def encoder_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained encoder that knows the words of these documents."""
    path = tmp_path_factory.mktemp("encoders") / "bridges"
    words = [*NAMES, *(verb for verbs in VERBS.values() for verb in verbs), ".", "*"]
    sizes = {"width": 64, "max_position_embeddings": 256, "hidden_dropout_prob": 0.0}
    return save_tiny_bert(path, words, **sizes)


def train(model: Any, documents: list[Document], epochs: int = 10, size: int = 8) -> None:
    examples = model.prepare(documents)
    order = random.Random(2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    steps = epochs * len(examples) // size
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1 - 0.95 * step / steps)
    )
    model.train()
    for _ in range(epochs):
        order.shuffle(examples)
        for start in range(0, len(examples), size):
            optimizer.zero_grad()
            model(model.collate(examples[start : start + size])).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()


def accuracy_by_pattern(gold: list[Document], predicted: list[Document]) -> dict[int, Counts]:
    table = evaluate(gold, predicted).per_relation
    return {pattern: table.get(name, Counts()) for pattern, name in DERIVED.items()}


def stated_accuracy(gold: list[Document], predicted: list[Document]) -> float:
    table = evaluate(gold, predicted).per_relation
    verbs = (verb for verbs in VERBS.values() for verb in verbs)
    return sum((table.get(verb, Counts()) for verb in verbs), Counts()).recall


def derived_accuracy(gold: list[Document], predicted: list[Document]) -> float:
    return sum(accuracy_by_pattern(gold, predicted).values(), Counts()).recall


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    chance = random.Random(1)
    return [chained_document(chance, str(number)) for number in range(440)]


def trained(kind: Any, settings: Any, encoder_path: Path, seen: list[Document]) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = kind.from_documents(Encoder.load(str(encoder_path), overlap=16), seen, settings)
        train(model, seen)
    return model


@pytest.fixture(scope="module")
def reasoner(encoder_path: Path, documents: list[Document]) -> DocreSd:
    settings = DocreSdSettings(layers=1, dropout=0.3)
    model: DocreSd = trained(DocreSd, settings, encoder_path, documents[:400])
    return model


def test_reasoning_infers_what_no_sentence_states(
    reasoner: DocreSd, encoder_path: Path, documents: list[Document]
) -> None:
    seen, unseen = documents[:400], documents[400:]
    found = {
        DocreSd: reasoner.predict(unseen),
        Atlop: trained(Atlop, AtlopSettings(), encoder_path, seen).predict(unseen),
    }
    for predicted in found.values():  # both have learned to read
        assert stated_accuracy(unseen, predicted) > 0.85
    derived = {kind: derived_accuracy(unseen, predicted) for kind, predicted in found.items()}
    assert derived[DocreSd] > 0.8
    assert derived[DocreSd] > derived[Atlop] + 0.5
    # counts premises too, because each follows from the derived relation and the other premise
    measure = {
        kind: evaluate(unseen, predicted).infer_accuracy for kind, predicted in found.items()
    }
    assert measure[DocreSd] > measure[Atlop] + 0.2


def test_an_inference_is_explained_by_its_bridge_and_pattern(
    reasoner: DocreSd, documents: list[Document]
) -> None:
    unseen = documents[400:]
    right = []
    for gold, document in zip(unseen, reasoner.predict(unseen), strict=True):
        for expected in gold.relations:
            for relation in document.relations:
                ends = (expected.head, expected.type, expected.tail)
                if not expected.attributes or (relation.head, relation.type, relation.tail) != ends:
                    continue
                sentence = next(explanations(document, relation), None)
                right.append(sentence == explained(gold, expected))
    assert len(right) > 80
    assert sum(right) > 0.9 * len(right)


def explained(document: Document, derived: Relation) -> str:
    """What a user should read about a derived relation."""
    pattern, bridge = derived.attributes["pattern"], derived.attributes["bridge"]
    ends = premises(pattern, derived.head, derived.tail, bridge)
    first, second = (
        f"({document.name(head)}, {verb}, {document.name(tail)})"
        for (head, tail), verb in zip(ends, VERBS[pattern], strict=True)
    )
    conclusion = f"({document.name(derived.head)}, {derived.type}, {document.name(derived.tail)})"
    return f"{first} and {second} support {conclusion}"


def rightly_attended(model: DocreSd, documents: list[Document]) -> float:
    """How often the most attended bridge of a derived relation, held for true, is the right one.

    Whatever else was found: which bridges have relations on both sides is not looked at.
    """
    right = []
    for document in documents:
        batch = model.collate(model.prepare([document]))
        with torch.inference_mode():
            found = model.provenance_of(model.score(batch), batch.labels)
        places = batch.labels.nonzero().tolist()
        pairs = model.prepare([document])[0].pair_index.tolist()
        for relation in document.relations:
            if relation.type in DERIVED.values():
                row = pairs.index([relation.head, relation.tail])
                place = places.index([row, model.relations.index(relation.type)])
                most = max(found[place]["bridges"], key=lambda bridge: bridge["weight"])
                right.append(most["entity"] == relation.attributes["bridge"])
    return sum(right) / len(right)


def test_the_attention_lies_on_the_bridge(
    reasoner: DocreSd, encoder_path: Path, documents: list[Document]
) -> None:
    seen, unseen = documents[:400], documents[400:]
    every = reasoner.settings.model_copy(update={"explain": 1000})
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = Encoder.load(str(encoder_path), overlap=16)
        untrained = DocreSd.from_documents(encoder, seen, every).eval()
    trained = copy.copy(reasoner)
    trained.settings = every
    assert rightly_attended(trained, unseen) > 0.8
    assert rightly_attended(untrained, unseen) < 0.5


# --- the heads, each alone with its pattern ----------------------------------------------------


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for folder in ("examples", "benchmarks"):
        monkeypatch.syspath_prepend(ROOT / folder)
    return importlib.import_module("bridge_heads")


def told_model(
    heads: ModuleType, encoder_path: Path, documents: list[Document], patterns: tuple[int, ...]
) -> DocreSd:
    """A model with the heads of some patterns; trained on what it is told, not on texts."""
    settings = DocreSdSettings(layers=1, dropout=0.0, patterns=patterns)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = Encoder.load(str(encoder_path), overlap=16)
        model = DocreSd.from_documents(encoder, documents, settings)
    learned: DocreSd = heads.learn(model, documents, DERIVED, epochs=12, rate=3e-3)
    return learned


def test_a_pattern_is_inferred_by_its_own_head_alone(
    heads: ModuleType, encoder_path: Path, documents: list[Document]
) -> None:
    seen, unseen = documents[:160], documents[400:]
    model = told_model(heads, encoder_path, seen, PATTERNS)
    batch = model.collate(model.prepare(unseen))
    assert min(heads.recall_by_pattern(model, batch, DERIVED).values()) > 0.9
    assert heads.precision(model, batch, DERIVED) > 0.9
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    for pattern in PATTERNS:
        with model.silenced(pattern):
            assert heads.recall_by_pattern(model, batch, DERIVED)[pattern] < 0.3
    for name, value in model.state_dict().items():
        assert torch.equal(weights[name], value), name


@pytest.mark.parametrize("missing", PATTERNS)
def test_without_a_head_its_own_pattern_is_not_learned_and_all_others_are(
    heads: ModuleType, encoder_path: Path, documents: list[Document], missing: int
) -> None:
    seen, unseen = documents[:160], documents[400:]
    others = tuple(pattern for pattern in PATTERNS if pattern != missing)
    model = told_model(heads, encoder_path, seen, others)
    batch = model.collate(model.prepare(unseen))
    found = heads.recall_by_pattern(model, batch, DERIVED)
    assert found.pop(missing) < 0.3
    assert min(found.values()) > 0.9
