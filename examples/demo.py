"""Train a small relation model on the example documents, then read documents it has never seen.

    make demo
    python examples/demo.py --set training.epochs=5    # options are handed to `factloom train`

The training takes a few minutes on a laptop's processor. Everything lands in runs/demo.
"""

import contextlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

import factloom
from factloom import formats
from factloom.cli import app
from factloom.document import Document, Relation

ROOT = Path(__file__).parent.parent  # where the recipe's paths begin
RECIPE = Path("configs/atlop-demo.toml")
UNSEEN = Path("examples/profiles-unseen.jsonl")
OUTPUT = Path("runs/demo")

HEAD, TAIL, RELATION, QUIET = "bold cyan", "bold green", "yellow", "dim"
NEXT = """\
[bold]What to try next[/bold]
  [dim]# the scores, relation by relation[/dim]
  .venv/bin/factloom evaluate runs/demo/best examples/profiles-dev.jsonl
  [dim]# what the training documents hold[/dim]
  .venv/bin/factloom data stats examples/profiles-train.jsonl
  [dim]# other documents, to train on or to read[/dim]
  .venv/bin/python examples/make_profiles.py --seed 7 --output runs/profiles
  .venv/bin/factloom predict runs/demo/best runs/profiles/profiles-unseen.jsonl --output found.jsonl
"""


def main(options: Sequence[str] = ()) -> None:
    console = Console()
    with contextlib.chdir(ROOT):
        train(options, console)
        extract = factloom.load(OUTPUT / "best")
        documents = extract(formats.read(UNSEEN))
    console.rule("Documents the model has never seen")
    for document in documents:
        show(document, extract.relation_names, console)
    console.print(NEXT, highlight=False, soft_wrap=True)


def train(options: Sequence[str], console: Console) -> None:
    """What `factloom train` does, in this process; the last demo makes room."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    command = ["train", str(RECIPE), "--output", str(OUTPUT), *options]
    console.print(f"[bold]$ factloom {' '.join(command)}[/bold]", highlight=False, soft_wrap=True)
    app(command, standalone_mode=False)


def show(document: Document, names: dict[str, str], console: Console) -> None:
    """The text, then every relation found in it with the sentences that prove it."""
    console.print(Panel(document.text, title=document.id))
    for relation in sorted(document.relations, key=lambda relation: (relation.head, relation.tail)):
        console.print(statement(document, relation, names))
        for line in evidence(document, relation):
            console.print(
                Padding(line, (0, 0, 0, 6), expand=False)
            )  # long sentences keep the indent
    if not document.relations:
        console.print("no relations found", style=QUIET)
    console.print()


def statement(document: Document, relation: Relation, names: dict[str, str]) -> Text:
    """Such as `Ada Lovelace -> was born in -> London  0.97`."""
    line = Text("  ")
    line.append(document.name(relation.head), HEAD)
    line.append(" -> ")
    line.append(names.get(relation.type, relation.type), RELATION)
    line.append(" -> ")
    line.append(document.name(relation.tail), TAIL)
    if relation.score is not None:
        line.append(f"  {relation.score:.2f}", QUIET)
    return line


def evidence(document: Document, relation: Relation) -> Iterator[Text]:
    """The sentences that prove the relation, head and tail marked."""
    for index in relation.evidence:
        sentence = document.sentences[index]
        line = Text(document.sentence_text(index), QUIET)
        for entity, style in ((relation.head, HEAD), (relation.tail, TAIL)):
            for mention in (document.mentions[m] for m in document.entities[entity].mentions):
                if sentence.start <= mention.start and mention.end <= sentence.end:
                    line.stylize(
                        style, mention.start - sentence.start, mention.end - sentence.start
                    )
        yield Text.assemble(f"[{index}] ", line)


if __name__ == "__main__":
    main(sys.argv[1:])
