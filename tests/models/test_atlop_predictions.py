"""What ATLOP tells its users: which relations, with which score and evidence."""

import dataclasses
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from atlop_by_loops import atlop_by_loops
from model_checks import check_same_predictions

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.encoders.encoder import Encoder
from factloom.evaluation.relations import evaluate
from factloom.layouts.stretches import cut
from factloom.models import relation_decisions
from factloom.models.atlop import Atlop, AtlopSettings

RELATIONS = ["P19", "P27", "P69", "P112", "P159", "P571"]


def make_model(path: Path, **settings: object) -> Atlop:
    """An untrained model whose margins lie on both sides of 0."""
    chosen = AtlopSettings.model_validate({"block_size": 8, **settings})
    with torch.random.fork_rng():
        torch.manual_seed(6)
        model = Atlop(Encoder.load(str(path), overlap=16), RELATIONS, chosen)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    return model.double().eval()


@pytest.fixture(scope="module")
def documents(profiles: list[Document]) -> list[Document]:
    """Whole documents of different lengths, asked for some of their pairs only: loops are slow."""
    return [
        document.replace(candidates=document.pairs()[:: 7 + index])
        for index, document in enumerate(profiles[:3])
    ]


def triples(document: Document) -> set[tuple[int, int, str]]:
    return {(r.head, r.tail, r.type) for r in document.relations}


def sigmoid(number: float) -> float:
    return 1 / (1 + math.exp(-number))


@pytest.mark.parametrize("most", [1, 3])
def test_relations_scores_and_evidence_equal_plain_loops(
    tiny_encoder_path: Path, documents: list[Document], most: int
) -> None:
    model = make_model(tiny_encoder_path, most_relations=most, evidence_threshold=0.16)
    model.temperature.fill_(2.5)
    several = added = 0
    for document, found in zip(documents, model.predict(documents), strict=True):
        naive = atlop_by_loops(model, document)
        expected = {}
        for (head, tail), (threshold, *logits) in naive.logits.items():
            ranked = sorted(enumerate(logits), key=lambda item: -item[1])[:most]
            weights = [0.0] * len(document.sentences)
            for weight, sentence in zip(naive.attention[head, tail], naive.sentence, strict=True):
                if sentence is not None:
                    weights[sentence] += weight
            evidence = {index for index, weight in enumerate(weights) if weight > 0.16}
            several += len(evidence) > 1
            for entity in (head, tail):
                named = document.entity_sentences(entity)
                if not evidence & named:
                    evidence.add(max(sorted(named), key=lambda index: weights[index]))
                    added += 1
            for index, logit in ranked:
                if logit > threshold:
                    score = sigmoid((logit - threshold) / 2.5)
                    expected[head, tail, RELATIONS[index]] = (score, tuple(sorted(evidence)))
        assert triples(found) == expected.keys()
        for relation in found.relations:
            score, evidence = expected[relation.head, relation.tail, relation.type]
            assert relation.score == pytest.approx(score, rel=1e-6)
            assert relation.evidence == evidence
            assert relation.provenance == {"model": "atlop"}
        assert found.relations
    assert several, "no pair has two sentences above the threshold: nothing is tested"
    assert added, "the sentences above the threshold always name head and tail"


def test_evidence_names_head_and_tail_even_where_no_sentence_is_above_the_threshold(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path, evidence_threshold=1.0)
    for document in model.predict(documents):
        assert document.relations
        for relation in document.relations:
            evidence = set(relation.evidence)
            assert len(evidence) <= 2
            assert evidence & document.entity_sentences(relation.head)
            assert evidence & document.entity_sentences(relation.tail)


def test_a_document_without_sentences_gets_relations_without_evidence(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    bare = documents[0].replace(sentences=(), relations=())
    model = make_model(tiny_encoder_path)
    with_sentences, without = model.predict([documents[0], bare])
    assert triples(without) == triples(with_sentences)
    assert without.relations
    assert {relation.evidence for relation in without.relations} == {()}


def test_only_candidates_get_a_relation_and_at_most_one_where_that_is_asked(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path, most_relations=1)
    for document, found in zip(documents, model.predict(documents), strict=True):
        pairs = [(relation.head, relation.tail) for relation in found.relations]
        assert len(set(pairs)) == len(pairs)
        assert set(pairs) <= set(document.candidates or ())
        assert pairs


def test_type_constraints_forbid_what_the_table_lacks(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    table = {"P19": [("PER", "LOC")], "P159": [("ORG", "LOC"), ("LOC", "LOC")]}
    free = make_model(tiny_encoder_path)
    bound = make_model(tiny_encoder_path, type_constraints=table)
    kept = 0
    for with_all, found in zip(free.predict(documents), bound.predict(documents), strict=True):
        for relation in found.relations:
            types = tuple(found.entities[end].type for end in (relation.head, relation.tail))
            assert types in table[relation.type]
        allowed = {
            (head, tail, kind)
            for head, tail, kind in triples(with_all)
            if (found.entities[head].type, found.entities[tail].type) in table.get(kind, ())
        }
        assert allowed <= triples(found) < triples(with_all) | triples(found)
        kept += len(found.relations)
    assert kept, "everything is forbidden: nothing is tested"


def test_a_forbidden_relation_gives_its_place_to_the_next_one(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    """The most relations are counted among the allowed ones."""
    kinds = {entity.type for document in documents for entity in document.entities}
    anything = sorted((head, tail) for head in kinds for tail in kinds)
    free = make_model(tiny_encoder_path, most_relations=1)
    everything = make_model(tiny_encoder_path, most_relations=len(RELATIONS))
    strongest = free.predict(documents)[0].relations[0]
    table = {kind: anything for kind in RELATIONS if kind != strongest.type}
    bound = make_model(tiny_encoder_path, most_relations=1, type_constraints=table)
    (found,) = bound.predict(documents[:1])
    (all_of_them,) = everything.predict(documents[:1])
    for pair in {(r.head, r.tail) for r in all_of_them.relations}:
        scores = {
            r.type: r.score or 0.0
            for r in all_of_them.relations
            if (r.head, r.tail) == pair and r.type != strongest.type
        }
        of_pair = [r.type for r in found.relations if (r.head, r.tail) == pair]
        assert of_pair == ([max(scores, key=lambda kind: scores[kind])] if scores else [])


@pytest.mark.parametrize("batch_tokens", [1, 700, 100_000])
def test_predictions_do_not_depend_on_the_batches(
    tiny_encoder_path: Path, documents: list[Document], batch_tokens: int
) -> None:
    model = make_model(tiny_encoder_path)
    mixed = [documents[1], Document("Nobody."), documents[0], documents[2]]
    one_by_one = [model.predict([document])[0] for document in mixed]
    check_same_predictions(model.predict(mixed, batch_tokens=batch_tokens), one_by_one)


def test_predicted_relations_replace_those_that_were_there(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    bare = [document.replace(relations=()) for document in documents]
    assert model.predict(documents) == model.predict(bare)
    lonely = Document("Nobody.")
    assert model.predict(iter([lonely])) == [lonely]
    assert model.predict([]) == []


def test_what_the_gold_denies_may_be_predicted_all_the_same(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    expected = model.predict(documents)
    assert any(found.relations for found in expected)
    gold = [
        document.replace(relations=(), denied=found.relations, annotated=(), unknown=((0, 1),))
        for document, found in zip(documents, expected, strict=True)
    ]
    assert model.predict(gold) == expected


# --- fitting ---------------------------------------------------------------------------------


def with_gold(model: Atlop, documents: list[Document]) -> list[Document]:
    """Gold relations of which some are predicted, the stronger the more often, and some not."""
    chance = np.random.default_rng(5)
    result = []
    for document, found in zip(documents, model.predict(documents), strict=True):
        kept = [
            dataclasses.replace(relation, score=None, evidence=(), provenance={})
            for relation in found.relations
            if chance.random() < (relation.score or 0)
        ]
        taken = {(r.head, r.tail, r.type) for r in found.relations}
        missed = [
            Relation(head, tail, "P19")
            for head, tail in document.pairs()
            if (head, tail, "P19") not in taken
        ]
        result.append(document.replace(relations=tuple(kept + missed[:2])))
    return result


def scored(model: Atlop, gold: list[Document]) -> list[tuple[float, bool]]:
    """Score and correctness of everything that the model predicts."""
    return [
        (relation.score or 0.0, (relation.head, relation.tail, relation.type) in triples(document))
        for document, found in zip(gold, model.predict(gold), strict=True)
        for relation in found.relations
    ]


def negative_log_likelihood(pairs: list[tuple[float, bool]]) -> float:
    return -sum(math.log(score if right else 1 - score) for score, right in pairs) / len(pairs)


def test_fitted_scores_are_the_most_likely_of_all_temperatures(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    gold = with_gold(model, documents)
    plain = scored(model, gold)
    margins = [math.log(score / (1 - score)) for score, _ in plain]
    right = [correct for _, correct in plain]
    assert 0 < sum(right) < len(right)
    results = model.fit_scores(gold)
    fitted = scored(model, gold)
    assert [correct for _, correct in fitted] == right, "the temperature changed a decision"
    assert results["temperature"] == pytest.approx(float(model.temperature))
    assert results["temperature"] != 1.0
    # one more right and one more wrong decision at the mean margin are imagined
    mean = sum(margins) / len(margins)
    decisions = [*zip(margins, right, strict=True), (mean, True), (mean, False)]

    def loss(temperature: float) -> float:
        return negative_log_likelihood([(sigmoid(m / temperature), ok) for m, ok in decisions])

    best = loss(results["temperature"])
    for factor in (0.5, 0.8, 0.95, 1.05, 1.25, 2.0):
        assert best < loss(factor * results["temperature"])


def test_reported_calibration_error_is_that_of_the_scores_given_out(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path)
    gold = with_gold(model, documents)
    results = model.fit_scores(gold)
    bins: dict[int, list[tuple[float, bool]]] = {}
    pairs = scored(model, gold)
    for score, right in pairs:
        bins.setdefault(math.ceil(score * 10), []).append((score, right))
    expected = sum(
        abs(sum(right for _, right in members) - sum(score for score, _ in members))
        for members in bins.values()
    )
    assert results["expected_calibration_error"] == pytest.approx(expected / len(pairs), abs=1e-6)


def test_a_global_threshold_is_put_where_f1_is_best(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path, threshold="global", most_relations=len(RELATIONS))
    gold = with_gold(model, documents)
    model.fit_scores(gold)
    best = evaluate(gold, model.predict(gold)).f1
    fitted = float(model.rule.threshold)
    assert fitted != 0
    for threshold in np.linspace(fitted - 2, fitted + 2, 9):
        model.rule.threshold.fill_(threshold)
        assert evaluate(gold, model.predict(gold)).f1 <= best
    model.fit_scores(gold)
    assert float(model.rule.threshold) == pytest.approx(fitted), "fitting again moves it"


@pytest.mark.parametrize("most", [2, 6])
def test_a_balanced_shift_finds_as_many_relations_as_there_are_and_is_kept(
    tiny_encoder_path: Path, documents: list[Document], tmp_path: Path, most: int
) -> None:
    lower = make_model(tiny_encoder_path, most_relations=most, threshold_shift=0.4)
    gold = lower.predict(documents)
    model = make_model(tiny_encoder_path, most_relations=most, threshold_shift="balanced")
    assert evaluate(gold, model.predict(gold)).recall < 1
    model.fit_scores(gold)
    found = model.predict(gold)
    assert evaluate(gold, found).f1 == 1
    shift = model.settings.threshold_shift
    assert shift > 0.2
    for document in found:
        for relation in document.relations:  # the score still says how far above or below it is
            margin = math.log(relation.score / (1 - relation.score)) * float(model.temperature)
            assert margin > -shift - 1e-9
    model.save_pretrained(tmp_path / "model")
    assert Atlop.from_pretrained(tmp_path / "model").settings.threshold_shift == shift


def test_fitting_leaves_weights_and_mode_as_they_were(
    tiny_encoder_path: Path, documents: list[Document]
) -> None:
    model = make_model(tiny_encoder_path).train()
    before = {name: weights.clone() for name, weights in model.named_parameters()}
    model.fit_scores(documents)
    assert model.training
    assert all(torch.equal(weights, before[name]) for name, weights in model.named_parameters())


@pytest.mark.parametrize("threshold", ["adaptive", "global"])
def test_documents_without_a_pair_leave_the_scores_as_they_are(
    tiny_encoder_path: Path, threshold: str
) -> None:
    model = make_model(tiny_encoder_path, threshold=threshold)
    results = model.fit_scores([Document("Nobody.")])
    assert results == {"temperature": 1.0, "expected_calibration_error": 0.0}


def test_long_documents_are_asked_in_stretches_and_short_ones_as_before(
    tiny_encoder_path: Path, profiles: list[Document]
) -> None:
    longer, shorter = sorted(profiles[:2], key=lambda document: -len(document.text))
    whole = make_model(tiny_encoder_path)
    most = min(example.tokens for example in whole.prepare([longer, shorter]))
    found, same = make_model(tiny_encoder_path, stretch=most).predict([longer, shorter])
    assert same == whole.predict([shorter])[0]

    expected: dict[tuple[int, int, str], float] = {}
    for stretch in cut(longer, whole.encoder.tokenize([longer.text])[0].offsets, most):
        (part,) = whole.predict([stretch.document])
        for r in part.relations:
            key = (stretch.entities[r.head], stretch.entities[r.tail], r.type)
            expected[key] = max(expected.get(key, 0.0), r.score)
    assert {(r.head, r.tail, r.type): r.score for r in found.relations} == pytest.approx(expected)
    assert expected


def test_of_what_stretches_say_about_a_pair_the_surest_is_kept() -> None:
    text = "Mara likes Torvik. Mara left Torvik. Torvik hates Mara."
    spans = [match.span() for match in re.finditer("Mara|Torvik", text)]
    document = Document(
        text,
        sentences=(Sentence(0, 18), Sentence(19, 36), Sentence(37, 55)),
        mentions=tuple(Mention(*span, "PER") for span in spans),
        entities=(Entity((0, 2, 5), "PER"), Entity((1, 3, 4), "PER")),
    )
    offsets = np.array([match.span() for match in re.finditer(r"\w+|\.", text)])
    said = {"likes": ("A", 0.3), "left": ("B", 0.9), "hates": ("C", 0.6)}

    def relate(parts: list[Document]) -> list[Document]:
        """A relation for each verb of the part."""
        return [
            part.replace(
                relations=tuple(
                    Relation(0, 1, kind, score)
                    for verb, (kind, score) in said.items()
                    if verb in part.text
                )
            )
            for part in parts
        ]

    for most, kept in ((1, {"B"}), (2, {"B", "C"}), (3, {"A", "B", "C"})):
        model = SimpleNamespace(
            settings=AtlopSettings(stretch=4, most_relations=most),
            encoder=SimpleNamespace(
                capacity=4, tokenize=lambda _: [SimpleNamespace(offsets=offsets)]
            ),
        )
        found = relation_decisions.in_stretches(model, document, relate)
        assert {relation.type for relation in found.relations} == kept
