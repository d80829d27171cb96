"""Options of formats, as people write them: `conll:word=1,tag=2+3,delimiter=tab`.

A format is named by a string everywhere: in `formats.read(path, format)`, on the command line and
in recipes. Its options stand behind a colon, separated by commas; several values of one option
are joined by `+`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from factloom.errors import InputError, Place

OptionsT = TypeVar("OptionsT", bound=BaseModel)


def _split(value: Any) -> Any:
    return value.split("+") if isinstance(value, str) else value


Numbers = Annotated[tuple[int, ...], BeforeValidator(_split)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split)]


def split_format(given: str) -> tuple[str, dict[str, str]]:
    """The name of a format and its options.

    >>> split_format("conll:word=1,tag=2+3")
    ('conll', {'word': '1', 'tag': '2+3'})
    """
    name, _, rest = given.partition(":")
    pairs = (pair.partition("=") for pair in rest.split(",") if pair)
    return name.strip(), {key.strip(): value for key, _, value in pairs}


def checked_options(
    schema: type[OptionsT] | None, given: Mapping[str, str], place: Place
) -> OptionsT | None:
    """The options of one format, or a clear error for those that it does not have."""
    if schema is None:
        if given:
            raise InputError("format-option", place, detail="this format has no options")
        return None
    try:
        return schema.model_validate(given)
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, found['loc']))}: {found['msg']}" for found in error.errors()
        )
        known = ", ".join(schema.model_fields)
        detail = f"{details} (the options are {known})"
        raise InputError("format-option", place, detail=detail) from None
