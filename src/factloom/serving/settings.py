"""What a service allows: every limit has a name, a unit, and a value that can be set in a file.

body_bytes = 67108864       # in TOML; what is left out keeps its default
hosts = ["graph.example.org"]
"""

import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from factloom.errors import InputError, Place

Count = Annotated[int, Field(ge=1, lt=2**40)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class ServiceSettings(BaseModel):
    """The limits of a service, and by which names it may be called."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # --- what a request may bring
    body_bytes: Count = Field(16 << 20, description="The body of a request.")
    body_seconds: Seconds = Field(30.0, description="Until a body has to be there.")
    documents: Count = Field(256, description="Texts or files of a request.")
    text_characters: Count = Field(200_000, description="A text.")
    upload_seconds: Seconds = Field(60.0, description="Of a processor, to read uploaded files.")
    upload_megabytes: Count = Field(1024, description="Of memory, to read uploaded files.")

    # --- what it may take
    seconds: Seconds = Field(300.0, description="Until a request has to be answered.")
    query_seconds: Seconds = Field(30.0, description="A SPARQL query.")
    query_megabytes: Count = Field(1024, description="Of memory, for a SPARQL query.")
    result_bytes: Count = Field(16 << 20, description="The answer to a SPARQL query.")
    page: Count = Field(1000, description="Facts, things, documents or corrections of an answer.")
    path_facts: Count = Field(8, description="Facts on a way between two things.")

    # --- how much waits, and is refused beyond
    requests: Count = Field(512, description="Requests under way.")
    held_bytes: Count = Field(128 << 20, description="Bodies of all requests under way.")
    waiting_characters: Count = Field(2_000_000, description="Texts that wait for the model.")
    waiting_calls: Count = Field(128, description="Calls that wait for the store.")
    waiting_queries: Count = Field(16, description="Queries, questions or uploads that wait.")

    # --- what happens at once
    batch_milliseconds: float = Field(
        4.0, ge=0, le=10_000, description="Wait for others, before texts are read together."
    )
    batch_characters: Count = Field(48_000, description="Texts that are read together.")
    readers: Count = Field(4, description="Calls that read the store at the same time.")
    queries: Count = Field(2, description="SPARQL queries, or uploads, at the same time.")
    indexed_at_once: Count = Field(
        500, description="Documents of a store without an index that `ask` reads all the same."
    )
    shutdown_seconds: Seconds = Field(60.0, description="To finish what was accepted, at the end.")

    # --- by whom it may be called
    hosts: tuple[str, ...] = Field((), description="Names of this machine that are called for.")
    origins: tuple[str, ...] = Field((), description="Web pages elsewhere that may call (CORS).")

    @classmethod
    def read(cls, path: Path) -> Self:
        """The settings of a TOML file."""
        place = Place(file=str(path))
        try:
            return cls(**tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            detail = error.strerror or error
            raise InputError("file-unreadable", place, detail=detail) from None
        except (ValueError, TypeError) as error:  # of pydantic, of TOML, of UTF-8
            known = ", ".join(cls.model_fields)
            raise InputError("service-setting", place, detail=_told(error), known=known) from None


def _told(error: Exception) -> str:
    if isinstance(error, ValidationError):
        found = error.errors()[0]
        return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
    return str(error)
