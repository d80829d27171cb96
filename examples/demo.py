"""From texts to a knowledge graph with the model that ships: tables, a page, a store to ask.

    make demo

Everything lands in runs/demo. The texts are in examples/texts: read them beside the tables. At a
terminal it ends with the live page of what was read, until Ctrl-C.
"""

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from factloom.cli import app

ROOT = Path(__file__).parent.parent
TEXTS = Path("examples/texts")
OUTPUT = Path("runs/demo")

ADDRESS = "http://127.0.0.1:8765"  # the usual one of factloom serve
NEXT = f"""\
[bold]What to try next[/bold]
  [dim]# the page: texts, graph, and the evidence of every edge that you click[/dim]
  open runs/demo/graph.html
  [dim]# your own files: text, Markdown, HTML, PDF, whole folders[/dim]
  .venv/bin/factloom extract README.md --output graph.html
  [dim]# only some relations, only sure ones[/dim]
  .venv/bin/factloom extract examples/texts --relations founded_by,spouse --minimum-score 0.7
  [dim]# ask the graph in SPARQL[/dim]
  .venv/bin/factloom query --store runs/demo/graph "SELECT ?a ?b WHERE {{ ?a wdt:P17 ?b }} LIMIT 5"
  [dim]# train a model of your own on annotated documents, in minutes[/dim]
  .venv/bin/factloom train configs/atlop-demo.toml --output runs/own
  [dim]# the live page, to read, correct, ask and walk through the graph: open {ADDRESS}[/dim]
  .venv/bin/factloom serve --store runs/demo/graph --runtime light
"""


def main(output: Path = OUTPUT) -> None:
    console = Console()
    with contextlib.chdir(ROOT):
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        for command in commands(output):
            line = f"$ factloom {' '.join(command)}"
            console.print(f"\n[bold]{line}[/bold]", highlight=False, soft_wrap=True)
            app(command, standalone_mode=False)
    console.print(f"\n{NEXT}", highlight=False, soft_wrap=True)


def commands(output: Path) -> list[list[str]]:
    """What a newcomer would type, one after the other."""
    light = "--runtime", "light"  # as where torch is not installed: quicker to start
    page, found, store = (str(output / name) for name in ("graph.html", "found.jsonl", "graph"))
    return [
        ["extract", str(TEXTS / "biography-marisol-devane.txt"), *light],
        ["extract", str(TEXTS), *light, "--output", page, "--output", found, "--store", store],
        ["extract", "examples/texts-zh/company-qinghe.txt", *light, "--minimum-score", "0.6"],
        ["graph", "stats", "--store", store],
        ["graph", "neighbours", "Marisol Devane", "--store", store],
        ["ask", "Who founded Tidewell?", "--store", store],
    ]


def show_page(output: Path = OUTPUT) -> None:
    """The live page, as long as somebody watches."""
    Console().print(f"[bold]In a moment at {ADDRESS}[/bold] (Ctrl-C ends it)", highlight=False)
    command = ["serve", "--store", str(output / "graph"), "--runtime", "light"]
    with contextlib.suppress(KeyboardInterrupt):
        subprocess.run([sys.executable, "-m", "factloom", *command], cwd=ROOT, check=False)


if __name__ == "__main__":
    main()
    if sys.stdin.isatty() and sys.stdout.isatty():
        show_page()
