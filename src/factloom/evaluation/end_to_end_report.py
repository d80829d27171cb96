"""An evaluation from raw text as tables for the terminal and as a JSON object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from factloom.evaluation import entity_report, report
from factloom.evaluation.bootstrap import Interval, f1_interval
from factloom.evaluation.coreference_report import add_entities
from factloom.evaluation.end_to_end import EndToEndReport
from factloom.evaluation.entity_report import EntitySummary
from factloom.evaluation.measure_tables import (
    add_measure,
    counts_to_json,
    label_table,
    measures_table,
    percent,
    percent_range,
)
from factloom.evaluation.relations import Counts
from factloom.evaluation.report import Summary


@dataclass(frozen=True, slots=True)
class EndToEndSummary:
    """A report with what is computed from it: how sure the scores are, and how honest."""

    report: EndToEndReport
    mentions: EntitySummary
    entity_interval: Interval | None
    relations: Summary
    given_entities: Summary | None


def summarise(found: EndToEndReport, samples: int = 2000, seed: int = 0) -> EndToEndSummary:
    """Add bootstrap intervals (none for 0 samples) and the calibration errors."""
    given = found.given_entities
    return EndToEndSummary(
        report=found,
        mentions=entity_report.summarise(found.mentions, samples, seed),
        entity_interval=f1_interval(found.coreference.per_document.values(), samples, seed),
        relations=report.summarise(found.relations, samples, seed),
        given_entities=None if given is None else report.summarise(given, samples, seed),
    )


def to_json(summary: EndToEndSummary) -> dict[str, Any]:
    """All measures as fractions from 0 to 1; what is not known is `None`."""
    found = summary.report
    coreference, relations = found.coreference, found.relations
    known, given = summary.relations.intervals, summary.given_entities
    return {
        **_measures_of("mention", found.mentions.mentions, summary.mentions.f1_interval),
        "mention_span_f1": found.mentions.boundaries.f1,
        **_measures_of("entity", coreference.entities, summary.entity_interval),
        "typed_entity_f1": coreference.typed_entities.f1,
        **_measures_of("relation", relations.relations, known.f1 if known else None),
        "typed_relation_f1": found.typed_relations.f1,
        "relation_ign_f1": relations.ign_f1,
        "relation_intra_f1": relations.intra_f1,
        "relation_inter_f1": relations.inter_f1,
        "evidence_f1": relations.evidence.f1,
        "evidence_precision": relations.evidence.precision,
        "evidence_recall": relations.evidence.recall,
        **_gold_entities_to_json(given),
        "conll_f1": coreference.conll_f1,
        **{f"{name}_f1": measure.f1 for name, measure in coreference.measures.items()},
        "mention_calibration_error": summary.mentions.expected_calibration_error,
        "relation_calibration_error": summary.relations.expected_calibration_error,
        "documents": relations.documents,
        "unknown_documents": found.unknown_documents,
        "mentions": counts_to_json(found.mentions.mentions),
        "entities": counts_to_json(coreference.entities),
        "relations": counts_to_json(relations.relations),
        "per_type": _each(found.mentions.per_type),
        "per_relation": _each(relations.per_relation),
    }


def tables(summary: EndToEndSummary, labels: int = 20) -> Iterator[Table]:
    """The measures, then the most frequent relation types and the types of mentions."""
    yield _measures(summary)
    yield label_table("relation", summary.report.relations.per_relation, labels)
    yield label_table("type", summary.report.mentions.per_type, labels)


def _measures_of(name: str, counts: Counts, interval: Interval | None) -> dict[str, Any]:
    return {
        f"{name}_f1": counts.f1,
        f"{name}_precision": counts.precision,
        f"{name}_recall": counts.recall,
        f"{name}_f1_interval": None if interval is None else list(interval),
    }


def _gold_entities_to_json(given: Summary | None) -> dict[str, Any]:
    known = given.intervals if given else None
    return {
        "relation_f1_gold_entities": given.report.f1 if given else None,
        "relation_f1_gold_entities_interval": list(known.f1) if known else None,
        "relation_ign_f1_gold_entities": given.report.ign_f1 if given else None,
        "evidence_f1_gold_entities": given.report.evidence_f1 if given else None,
        "relation_calibration_error_gold_entities": (
            given.expected_calibration_error if given else None
        ),
    }


def _each(counts_of: Mapping[str, Counts]) -> dict[str, Any]:
    return {name: counts_to_json(counts) for name, counts in counts_of.items()}


def _measures(summary: EndToEndSummary) -> Table:
    found = summary.report
    table = measures_table(_title(found))

    def add(name: str, counts: Counts, interval: Interval | None = None) -> None:
        add_measure(table, name, counts, interval)

    add("mentions", found.mentions.mentions, summary.mentions.f1_interval)
    add("  words only (boundaries)", found.mentions.boundaries)
    add_entities(table, found.coreference, summary.entity_interval)
    _add_relations(table, "relations", summary.relations)
    add("  and the same entity types", found.typed_relations.relations)
    if summary.given_entities is not None:
        _add_relations(table, "relations of the gold's entities", summary.given_entities)
    table.caption = _caption(summary)
    return table


def _add_relations(table: Table, name: str, summary: Summary) -> None:
    found, known = summary.report, summary.intervals
    add_measure(table, name, found.relations, known.f1 if known else None)
    if found.ign_f1 is not None:
        interval = percent_range(known.ign_f1 if known else None)
        table.add_row("  not seen in training (Ign F1)", percent(found.ign_f1), interval)
    add_measure(table, "  evidence", found.evidence)


def _caption(summary: EndToEndSummary) -> str | None:
    errors = {
        "mentions": summary.mentions.expected_calibration_error,
        "relations": summary.relations.expected_calibration_error,
    }
    known = [f"{name} {percent(error)}" for name, error in errors.items() if error is not None]
    return f"expected calibration error: {', '.join(known)}" if known else None


def _title(found: EndToEndReport) -> str:
    parts = {
        "mentions": found.mentions.mentions,
        "entities": found.coreference.entities,
        "relations": found.relations.relations,
    }
    counted = [
        f"{name}: {counts.gold:,} gold, {counts.predicted:,} predicted, {counts.correct:,} correct"
        for name, counts in parts.items()
    ]
    return "\n".join([f"documents: {found.relations.documents:,}", *counted])
