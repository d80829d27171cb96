"""The DocRED measures, on cases counted by hand and against a plain-loop rewriting."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Relation
from factloom.errors import InputError
from factloom.evaluation.relations import (
    Counts,
    Prediction,
    RelationReport,
    evaluate,
    evaluate_predictions,
)

MakeDocument = Callable[..., Document]


def submitted(gold: Document, *relations: Relation, name: str | None = None) -> list[Prediction]:
    return [Prediction(name or gold.id, relation) for relation in relations]


def test_perfect_predictions_score_one_everywhere(ada: Document) -> None:
    report = evaluate([ada], [ada])
    assert (report.precision, report.recall, report.f1) == (1, 1, 1)
    assert (report.intra_f1, report.inter_f1, report.evidence_f1, report.macro_f1) == (1, 1, 1, 1)


def test_one_of_two_predictions_correct_and_one_of_three_gold_found(ada: Document) -> None:
    predicted = ada.replace(relations=(ada.relations[0], Relation(2, 0, "born")))
    report = evaluate([ada], [predicted])
    assert report.relations == Counts(correct=1, predicted=2, gold=3)
    assert report.precision == pytest.approx(1 / 2)
    assert report.recall == pytest.approx(1 / 3)
    assert report.f1 == pytest.approx(2 / 5)


def test_direction_matters(ada: Document) -> None:
    backwards = ada.replace(relations=(Relation(1, 0, "born"),))
    assert evaluate([ada], [backwards]).relations.correct == 0


def test_duplicate_predictions_count_once(ada: Document) -> None:
    twice = submitted(ada, ada.relations[0], ada.relations[0], Relation(2, 0, "x"))
    report = evaluate_predictions([ada], [*twice, *twice])
    assert report.relations == Counts(correct=1, predicted=2, gold=3)


def test_the_same_document_predicted_twice_counts_once(ada: Document) -> None:
    assert evaluate([ada], [ada, ada]).relations == Counts(3, 3, 3)


def test_of_duplicate_predictions_the_evidence_of_the_first_counts(ada: Document) -> None:
    first, second = Relation(0, 1, "born", evidence=(2,)), Relation(0, 1, "born", evidence=(0,))
    report = evaluate_predictions([ada], submitted(ada, first, second))
    assert report.evidence == Counts(correct=0, predicted=1, gold=5)


def test_predictions_of_unknown_documents_lower_precision_only(ada: Document) -> None:
    unknown = submitted(ada, Relation(0, 1, "born", evidence=(0,)), name="elsewhere")
    report = evaluate_predictions([ada], [*submitted(ada, *ada.relations), *unknown])
    assert report.relations == Counts(correct=3, predicted=4, gold=3)
    assert report.recall == 1
    assert report.unknown_documents == 1
    # Neither their evidence nor a place within a sentence is known.
    assert report.evidence == Counts(5, 5, 5)
    assert report.intra == Counts(1, 1, 1)
    assert report.inter == Counts(2, 3, 2)


def test_entities_that_the_gold_does_not_have_are_wrong_not_an_error(ada: Document) -> None:
    report = evaluate_predictions([ada], submitted(ada, Relation(0, 99, "born")), frozenset())
    assert report.relations == Counts(0, 1, 3)


def test_no_predictions_at_all_score_zero(ada: Document) -> None:
    report = evaluate([ada], [], train_facts=frozenset({("Ada", "London", "born")}))
    assert (report.f1, report.precision, report.recall, report.ign_f1) == (0, 0, 0, 0)
    assert (report.evidence_f1, report.intra_f1, report.inter_f1, report.macro_f1) == (0, 0, 0, 0)
    assert report.relations.gold == 3


def test_no_gold_at_all_scores_zero(ada: Document) -> None:
    report = evaluate([], [ada], train_facts=frozenset())
    assert (report.f1, report.precision, report.recall, report.ign_f1) == (0, 0, 0, 0)
    assert report.documents == 0
    assert report.relations == Counts(0, 3, 0)


def test_neither_gold_nor_predictions_score_zero() -> None:
    report = evaluate([], [], train_facts=frozenset())
    assert (report.f1, report.ign_f1, report.macro_f1) == (0, 0, 0)


def test_two_gold_documents_with_one_id_are_an_error(ada: Document) -> None:
    with pytest.raises(InputError, match="'ada': 2 documents have this id") as raised:
        evaluate([ada, ada], [])
    assert raised.value.code == "duplicate-document"


def test_ign_f1_is_unknown_without_train_facts(ada: Document) -> None:
    assert evaluate([ada], [ada]).ign_f1 is None


def test_ign_f1_takes_seen_facts_out_of_precision_only(ada: Document) -> None:
    predicted = ada.replace(relations=(*ada.relations[:2], Relation(2, 0, "born")))
    report = evaluate([ada], [predicted], frozenset({("Lovelace", "London", "born")}))
    precision, recall = 1 / (2 + 1e-5), 2 / 3
    assert report.ign_f1 == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-12)
    assert report.f1 == pytest.approx(2 / 3)


def test_ign_f1_keeps_wrong_predictions_that_repeat_a_train_fact(ada: Document) -> None:
    predicted = ada.replace(relations=(ada.relations[1], Relation(0, 1, "country")))
    facts = frozenset({("Ada", "London", "country")})
    report = evaluate([ada], [predicted], facts)
    assert sum(judgement.seen for judgement in report.judgements) == 0
    assert report.ign_f1 == pytest.approx(report.f1, abs=1e-5)


@pytest.mark.parametrize(
    ("fact", "seen"),
    [
        (("London", "Britain", "country"), True),
        (("London", "England", "country"), True),
        (("England", "London", "country"), False),
        (("London", "England", "born"), False),
        (("london", "England", "country"), False),
    ],
)
def test_any_name_of_head_and_tail_makes_a_train_fact(
    ada: Document, fact: tuple[str, str, str], seen: bool
) -> None:
    report = evaluate([ada], [ada], frozenset({fact}))
    assert sum(judgement.seen for judgement in report.judgements) == seen


def test_train_facts_use_the_names_of_the_source(ada: Document) -> None:
    spelled = ada.replace(
        mentions=tuple(
            type(mention)(mention.start, mention.end, mention.type, name="LONDON")
            if ada.text[mention.start : mention.end] == "London"
            else mention
            for mention in ada.mentions
        )
    )
    report = evaluate([spelled], [ada], frozenset({("Ada", "LONDON", "born")}))
    assert sum(judgement.seen for judgement in report.judgements) == 1


def test_intra_pairs_share_a_sentence_and_inter_pairs_do_not(ada: Document) -> None:
    # Ada-London share sentence 0; Ada-Byron and London-England share none.
    wrong = Relation(3, 0, "x")  # England-Lovelace share sentence 1
    report = evaluate([ada], [ada.replace(relations=(*ada.relations[:2], wrong))])
    assert report.intra == Counts(correct=1, predicted=2, gold=1)
    assert report.inter == Counts(correct=1, predicted=1, gold=2)


def test_evidence_is_correct_only_under_a_correct_relation(ada: Document) -> None:
    predicted = ada.replace(
        relations=(
            Relation(0, 1, "born", evidence=(0, 2)),  # one sentence right, one wrong
            Relation(0, 2, "born", evidence=(1, 2)),  # wrong relation: counted, not correct
        )
    )
    report = evaluate([ada], [predicted])
    assert report.evidence == Counts(correct=1, predicted=4, gold=5)
    assert report.evidence_f1 == pytest.approx(2 / 9)


def test_of_relations_whose_evidence_nobody_knows_none_is_counted(ada: Document) -> None:
    unproved = ada.replace(
        relations=tuple(
            dataclasses.replace(r, evidence=()) if r.type == "father" else r for r in ada.relations
        )
    )
    report = evaluate([unproved], [ada])
    assert report.evidence == Counts(correct=3, predicted=5, gold=3)
    assert report.known_evidence == Counts(correct=3, predicted=3, gold=3)
    wrong = evaluate([unproved], [ada.replace(relations=(Relation(2, 0, "x", evidence=(0,)),))])
    assert wrong.known_evidence == Counts(correct=0, predicted=1, gold=3)


def test_a_sentence_predicted_twice_as_evidence_counts_once(ada: Document) -> None:
    predictions = submitted(ada, Relation(0, 1, "born", evidence=(0, 0)))
    assert evaluate_predictions([ada], predictions).evidence == Counts(1, 1, 5)


def test_relation_table_is_ordered_by_support_and_shows_invented_types(ada: Document) -> None:
    gold = ada.replace(relations=(*ada.relations, Relation(3, 1, "born")))
    predicted = ada.replace(relations=(*ada.relations[:1], Relation(0, 3, "invented")))
    table = evaluate([gold], [predicted]).per_relation
    assert list(table) == ["born", "country", "father", "invented"]
    assert table["born"] == Counts(correct=1, predicted=1, gold=2)
    assert table["invented"] == Counts(correct=0, predicted=1, gold=0)


def test_macro_f1_is_the_mean_over_gold_relation_types(ada: Document) -> None:
    predicted = ada.replace(relations=(ada.relations[0], Relation(0, 3, "invented")))
    assert evaluate([ada], [predicted]).macro_f1 == pytest.approx((1 + 0 + 0) / 3)


def test_documents_with_candidates_are_measured_like_any_other(ada: Document) -> None:
    asked = ada.replace(candidates=((0, 1), (0, 2), (1, 3)))
    assert evaluate([asked], [asked.replace(relations=ada.relations[:1])]).relations == Counts(
        1, 1, 3
    )


# --- against a rewriting of the official definition, in plain loops over DocRED's own shapes ---


def official(
    truth: list[dict[str, Any]], submission: list[dict[str, Any]], facts: set[tuple[str, str, str]]
) -> dict[str, float]:
    gold, evidence_gold, vertex_sets = {}, 0, {}
    for entry in truth:
        vertex_sets[entry["title"]] = entry["vertexSet"]
        for label in entry["labels"]:
            gold[entry["title"], label["r"], label["h"], label["t"]] = label["evidence"]
            evidence_gold += len(label["evidence"])
    distinct, keys = [], []
    for answer in submission:
        key = (answer["title"], answer["r"], answer["h_idx"], answer["t_idx"])
        if key not in keys:
            keys.append(key)
            distinct.append(answer)
    correct = seen = evidence_correct = evidence_predicted = 0
    intra, inter = [0, 0, 0], [0, 0, 0]
    for key, answer in zip(keys, distinct, strict=True):
        title, relation, head, tail = key
        group = inter
        if title in vertex_sets:
            evidence_predicted += len(set(answer["evidence"]))
            vertices = vertex_sets[title]
            group = intra if share_sentence(vertices, head, tail) else inter
        group[1] += 1
        if key not in gold:
            continue
        correct += 1
        group[0] += 1
        evidence_correct += len(set(gold[key]) & set(answer["evidence"]))
        known = False
        for first in vertex_sets[title][head]:
            for second in vertex_sets[title][tail]:
                if (first["name"], second["name"], relation) in facts:
                    known = True
        seen += known
    for title, _, head, tail in gold:
        (intra if share_sentence(vertex_sets[title], head, tail) else inter)[2] += 1
    precision = ratio(correct, len(distinct))
    recall = ratio(correct, len(gold))
    return {
        "precision": precision,
        "recall": recall,
        "f1": f_measure(precision, recall),
        "ign_f1": f_measure((correct - seen) / (len(distinct) - seen + 1e-5), recall),
        "evidence_f1": f_measure(
            ratio(evidence_correct, evidence_predicted), ratio(evidence_correct, evidence_gold)
        ),
        "intra_f1": f_measure(ratio(intra[0], intra[1]), ratio(intra[0], intra[2])),
        "inter_f1": f_measure(ratio(inter[0], inter[1]), ratio(inter[0], inter[2])),
    }


def share_sentence(vertices: list[list[dict[str, Any]]], head: int, tail: int) -> bool:
    if head >= len(vertices) or tail >= len(vertices):
        return False
    for first in vertices[head]:
        for second in vertices[tail]:
            if first["sent_id"] == second["sent_id"]:
                return True
    return False


def ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator > 0 else 0.0


def f_measure(precision: float, recall: float) -> float:
    return 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


sentence_indices = st.integers(0, 2)
relation_types = st.sampled_from(["P1", "P2"])
names = st.sampled_from(["Ada", "Bob", "Cy"])
entities = st.lists(
    st.lists(st.tuples(names, sentence_indices), min_size=1, max_size=2), min_size=1, max_size=3
)
evidences = st.lists(sentence_indices, max_size=3)
facts = st.sets(st.tuples(names, names, relation_types), max_size=6)
answers = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["d0", "d1", "d2"]),
        "h_idx": st.integers(0, 3),
        "t_idx": st.integers(0, 3),
        "r": relation_types,
        "evidence": evidences,
    }
)


@st.composite
def truths(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to two documents, so that the title d2 is always unknown."""
    documents = []
    for index in range(draw(st.integers(0, 2))):
        vertices = draw(entities)
        indices = st.integers(0, len(vertices) - 1)
        triples = draw(st.sets(st.tuples(relation_types, indices, indices), max_size=6))
        documents.append(
            {
                "title": f"d{index}",
                "vertexSet": [
                    [{"name": name, "sent_id": sentence} for name, sentence in vertex]
                    for vertex in vertices
                ],
                "labels": [
                    {"r": relation, "h": head, "t": tail, "evidence": draw(evidences)}
                    for relation, head, tail in sorted(triples)
                ],
            }
        )
    return documents


def as_document(entry: dict[str, Any], document: MakeDocument) -> Document:
    return document(
        entry["title"],
        [[(m["name"], m["sent_id"]) for m in vertex] for vertex in entry["vertexSet"]],
        [
            Relation(label["h"], label["t"], label["r"], evidence=tuple(label["evidence"]))
            for label in entry["labels"]
        ],
    )


def as_prediction(answer: dict[str, Any]) -> Prediction:
    relation = Relation(
        answer["h_idx"], answer["t_idx"], answer["r"], evidence=tuple(answer["evidence"])
    )
    return Prediction(answer["title"], relation)


@given(truth=truths(), submission=st.lists(answers, max_size=25), train_facts=facts)
def test_measures_equal_the_official_definition(
    document: MakeDocument,
    truth: list[dict[str, Any]],
    submission: list[dict[str, Any]],
    train_facts: set[tuple[str, str, str]],
) -> None:
    gold = [as_document(entry, document) for entry in truth]
    predictions = [as_prediction(answer) for answer in submission]
    report: RelationReport = evaluate_predictions(gold, predictions, train_facts)
    for measure, value in official(truth, submission, train_facts).items():
        assert getattr(report, measure) == pytest.approx(value, abs=1e-12), measure


@given(truth=truths(), submission=st.lists(answers, max_size=25))
def test_tables_add_up_to_the_whole(
    document: MakeDocument, truth: list[dict[str, Any]], submission: list[dict[str, Any]]
) -> None:
    gold = [as_document(entry, document) for entry in truth]
    report = evaluate_predictions(gold, [as_prediction(answer) for answer in submission])
    assert sum(report.per_relation.values(), Counts()) == report.relations
    assert report.intra + report.inter == report.relations
    assert sum((c.relations for c in report.per_document.values()), Counts()) == report.relations
