"""`factloom serve`: the service for a team."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model directory or hub name; by default those that ship, by language. "
            "May be repeated: each finds what the next one needs."
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="The directory of the graph store; made if it is not there.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen at; another than 127.0.0.1 needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free.")] = 8765,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token that callers have to send.")
    ] = None,
    runtime: Annotated[
        Literal["light", "torch"] | None,
        typer.Option(help="What runs the model: torch where it is installed, else light."),
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="A TOML file with limits, hosts, origins: docs/serve.md.")
    ] = None,
) -> None:
    """Serve extraction, a store, questions and corrections over HTTP; logs are JSON lines."""
    from factloom.serving import server
    from factloom.serving.settings import ServiceSettings

    limits = ServiceSettings() if settings is None else ServiceSettings.read(settings)
    server.serve(model or [], store, host, port, token_file, limits, runtime)
