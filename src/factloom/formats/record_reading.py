"""Formats in which a JSON record of one schema is a document."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import TypeAdapter

from factloom.document import Document
from factloom.files.json_records import conforming, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.json_keys import record_identifier

RecordT = TypeVar("RecordT")


def read_records(
    source: Source,
    report: Report,
    schema: TypeAdapter[RecordT],
    document: Callable[[RecordT, Findings], Document | None],
) -> Iterator[Document]:
    """What `document` makes of each record that conforms; the flaws of others are reported."""
    for number, (place, record) in enumerate(records(source, report), start=1):
        findings = Findings(place, report)
        findings.name_document(record_identifier(record, source, number))
        checked = conforming(schema, record, findings)
        found = None if checked is None else document(checked, findings)
        if found is not None:
            yield found
