"""Keys of JSON records that factloom does not use: kept with the Document, written again."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from factloom.document import Document
from factloom.files.source import Source

# Under these names formats keep what nothing but their own files can hold.
_KEPT = frozenset({"conll", "mrc", "genia", "offsets", "brat", "doccano", "label-studio", "squad"})


def other_keys(part: BaseModel) -> dict[str, Any]:
    """The keys that the schema does not have, and `None` for each of its own that is absent."""
    absent = type(part).model_fields.keys() - part.model_fields_set
    return {**(part.model_extra or {}), **dict.fromkeys(sorted(absent))}


def extra_keys(attributes: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    """The attributes that are none of the schema's own keys, nor kept for another format."""
    own = {field.alias or name for name, field in schema.model_fields.items()}
    return {key: value for key, value in attributes.items() if key not in own | _KEPT}


def record_identifier(record: object, source: Source, number: int) -> str:
    """The document's own id, else the name of the file and the number of the record."""
    found = record.get("id") if isinstance(record, dict) else None
    given = isinstance(found, int | str) and not isinstance(found, bool)
    return str(found) if given else f"{source.name}-{number}"


def identifier_keys(document: Document) -> dict[str, Any]:
    """The key `id` of a record as the source had it: a text, a number, or absent."""
    kept = document.attributes.get("id", document.id)
    if kept is None:
        return {}
    return {"id": kept if str(kept) == document.id else document.id}
