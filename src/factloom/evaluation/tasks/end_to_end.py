"""Everything from the text alone: mentions, entities, and relations between them."""

from collections.abc import Sequence
from dataclasses import replace

from factloom.document import Document
from factloom.evaluation import end_to_end, references
from factloom.evaluation.end_to_end import EndToEndReport
from factloom.evaluation.relations import RelationReport
from factloom.evaluation.report import (
    Report,
    Row,
    calibration_error,
    counts_and_measures,
    percent,
    whole,
)
from factloom.evaluation.task import Answers, Task, TrainFacts
from factloom.evaluation.tasks import entities, mentions, relations
from factloom.evaluation.tasks.relations import ignoring_row, relation_row


def _compare(gold: Sequence[Document], answers: Answers, facts: TrainFacts) -> EndToEndReport:
    """Beside the answers: relations between the gold's entities, known where a model was asked."""
    return end_to_end.evaluate(gold, answers.documents, facts, answers.beside)


def _with_references(
    found: EndToEndReport, gold: Sequence[Document], answers: Answers
) -> EndToEndReport:
    return replace(found, references=references.evaluate(gold, answers.documents))


def _report(found: EndToEndReport, samples: int) -> Report:
    strict, given = found.relations, found.given_entities
    parts = {
        "mentions": found.mentions.mentions,
        "entities": found.coreference.entities,
        "relations": strict.relations,
    }
    errors = {
        "mentions": calibration_error(found.mentions.scored, found.mentions.mentions.gold),
        "relations": calibration_error(strict.scored, strict.relations.gold),
    }
    known = [f"{name} {percent(error)}" for name, error in errors.items() if error is not None]
    return Report(
        documents=strict.documents,
        unknown_documents=found.unknown_documents,
        found=parts,
        rows=[
            mentions.mention_row(found.mentions, samples, whole("mention_")),
            mentions.boundary_row(found.mentions, "mention_span_f1"),
            *entities.rows(found.coreference, samples, prefix="entity_"),
            Row.of(
                "  pronouns and nominals", found.references, whole("references_", interval=False)
            ),
            *_strict_rows(found, samples),
            *_given_entities_rows(given, samples),
        ],
        others={
            "mention_calibration_error": errors["mentions"],
            "relation_calibration_error": errors["relations"],
            "relation_calibration_error_gold_entities": given
            and calibration_error(given.scored, given.relations.gold),
            **{name: counts_and_measures(counts) for name, counts in parts.items()},
        },
        caption=f"expected calibration error: {', '.join(known)}" if known else None,
        labels={"relation": strict.per_relation, "type": found.mentions.per_type},
    )


def _strict_rows(found: EndToEndReport, samples: int) -> list[Row]:
    strict, typed = found.relations, found.typed_relations.relations
    return [
        relation_row("relations", strict, samples, whole("relation_")),
        ignoring_row(strict, samples, {"relation_ign_f1": "f1"}),
        replace(Row.of("intra", strict.intra, {"relation_intra_f1": "f1"}), shown=False),
        replace(Row.of("inter", strict.inter, {"relation_inter_f1": "f1"}), shown=False),
        Row.of("  evidence", strict.evidence, whole("evidence_", interval=False)),
        Row.of("    where it is known", strict.known_evidence, {"known_evidence_f1": "f1"}),
        Row.of("  and the same entity types", typed, {"typed_relation_f1": "f1"}),
    ]


def _given_entities_rows(found: RelationReport | None, samples: int) -> list[Row]:
    """Relations between the gold's entities, where they are known."""
    keys = {"relation_f1_gold_entities": "f1", "relation_f1_gold_entities_interval": "interval"}
    evidence = None if found is None else found.evidence
    known = None if found is None else found.known_evidence
    return [
        relation_row("relations of the gold's entities", found, samples, keys),
        ignoring_row(found, samples, {"relation_ign_f1_gold_entities": "f1"}),
        Row.of("  evidence", evidence, {"evidence_f1_gold_entities": "f1"}),
        Row.of("    where it is known", known, {"known_evidence_f1_gold_entities": "f1"}),
    ]


TASK = Task(
    name="end-to-end",
    finds="relations",
    # The bare text: sentences and tokens too are for the model to find.
    unlabelled=lambda document: document.without_mentions().replace(sentences=()),
    asked={"end-to-end": lambda model, documents: model.predict(documents)},
    asked_beside=lambda model, gold: relations.TASK.ask(model, gold).documents,
    compare=_compare,
    compare_references=_with_references,
    report=_report,
    watched={
        "f1": "relation_f1",
        "precision": "relation_precision",
        "recall": "relation_recall",
        "mention_f1": "mention_f1",
        "entity_f1": "entity_f1",
        "references_f1": "references_f1",
        "evidence_f1": "evidence_f1",
        "gold_entities_f1": "relation_f1_gold_entities",
        "ign_f1": "relation_ign_f1",
    },
    picture=lambda gold, _, found: relations.picture(gold, found.relations),
    optional="relations",  # entities and relations are made of the mentions: these stay
)
