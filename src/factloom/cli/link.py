"""`factloom link`: say what the entities of documents are, by a knowledge base."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.document import Document

if TYPE_CHECKING:
    from factloom.formats.gathering import Problem
    from factloom.knowledge.linking import Linker


def link(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="FILE|DIR", help="Documents with entities, plain or gzipped."),
    ],
    knowledge: Annotated[
        Path,
        typer.Option(
            help="A graph store, tables of 'factloom knowledge', or a file: JSON lines, .tsv, RDF, "
            "documents with identifiers."
        ),
    ],
    output: Annotated[Path, typer.Option(help="Where to write, such as linked.jsonl.")],
    context: Annotated[
        bool,
        typer.Option(help="Compare sentences with descriptions where a name has several meanings."),
    ] = True,
    encoder: Annotated[
        str, typer.Option(help="What compares them: an encoder's directory or name.")
    ] = "all-MiniLM-L6-v2",
    minimum_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="Least score of a link; by default 0.3.")
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Link entities that have an identifier, too.")
    ] = False,
    format: Annotated[
        str | None, typer.Option(help="The format of the inputs, where they do not tell.")
    ] = None,
) -> None:
    """Add identifiers, and candidates with scores, to the entities of documents."""
    from factloom import formats
    from factloom.extraction.fan_out import write_if_any
    from factloom.files.output import check_output
    from factloom.formats import registry
    from factloom.formats.gathering import gather_files, with_own_ids
    from factloom.knowledge.linking import Linker, LinkSettings
    from factloom.knowledge.opening import open_knowledge

    for path in registry.files_written(output):
        check_output(path, [*inputs, knowledge])
    settings = LinkSettings() if minimum_score is None else LinkSettings(least_score=minimum_score)
    problems: list[Problem] = []
    gathered = gather_files(inputs, format, problems.append, leave_out=[output, knowledge])
    counts = _Counts()
    with open_knowledge(knowledge) as base:
        embed = None
        if context:
            from factloom.encoders.encoder import Encoder
            from factloom.knowledge.contexts import TextVectors

            embed = TextVectors(Encoder.load(encoder))
        linker = Linker(base, embed, settings)
        documents = with_own_ids(found.document for found in gathered)
        linked = counts.linked(linker, documents, anew)
        write_if_any(linked, lambda found: formats.write(found, output))
    typer.echo(f"{output}: {counts}", err=True)
    for problem in problems:
        typer.echo(f"problem: {problem.error}", err=True)
    if problems:
        raise typer.Exit(1)


class _Counts:
    """What has passed."""

    def __init__(self) -> None:
        self.documents = self.entities = self.links = 0

    def linked(
        self, linker: "Linker", documents: Iterable[Document], anew: bool
    ) -> Iterator[Document]:
        for document in documents:
            found = linker.link(document.without_links() if anew else document)
            self.documents += 1
            self.entities += len(found.entities)
            self.links += sum(entity.id is not None for entity in found.entities)
            yield found

    def __str__(self) -> str:
        counts = f"{self.documents:,} documents, {self.entities:,} entities"
        return f"{counts}, {self.links:,} of them linked"
