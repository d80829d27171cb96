"""What a page says of settings beside what they are."""

from pydantic import BaseModel


def documented_settings(section: str) -> dict[str, str]:
    """Name and default of each row of the table in a section of a page."""
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    return {name.strip(" `"): default.strip(" `") for _, name, default, *_ in rows}


def default_settings(*kinds: type[BaseModel]) -> dict[str, str]:
    """Those of the classes as a page shows them; where classes share one, the last counts."""
    return {
        name: "required" if field.is_required() else str(field.default).lower()
        for kind in kinds
        for name, field in kind.model_fields.items()
    }
