"""How smoothly the live page draws a large store, in Chromium.

    python benchmarks/page.py
    python benchmarks/page.py --things 300 1000 3000

A store of made-up things, each joined to one that was there before and some to a second, is served
by this process and drawn as a whole ("Draw all"). Told are the seconds until all of it is on the
screen, and until all things have found their places; then, of what moves, the processor time that
the page's thread takes for a frame, in milliseconds: a screen of 60 frames a second has 16.7 for
each. It is the processor's time, so that other programs do not count; the clock's, the median from
one frame to the next, is told beside it. Needs playwright and Chromium.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright

from factloom.document import Document, Entity, Mention, Relation
from factloom.graph.store import Store
from factloom.pipeline import Pipeline
from factloom.serving.app import make_app
from factloom.serving.server import listen
from factloom.serving.service import Service

THINGS_A_DOCUMENT = 20
MOVES = 60  # of the mouse, each way
COUNT_FRAMES = """
window.frames = [];
const count = (now) => { window.frames.push(now); requestAnimationFrame(count); };
requestAnimationFrame(count);
"""


class Silent:
    """Finds nothing."""

    task = "end-to-end"
    types = ()
    relations = ()
    relation_names: dict[str, str] = {}  # noqa: RUF012
    provenance: dict[str, Any] = {}  # noqa: RUF012

    def predict(self, documents: list[Document]) -> list[Document]:
        return documents


def documents(things: int, seed: int) -> Iterator[Document]:
    """Each speaks of some new things and of those that they are joined to."""
    drawn = random.Random(seed)
    for first in range(0, things, THINGS_A_DOCUMENT):
        new = range(first, min(first + THINGS_A_DOCUMENT, things))
        pairs = [(thing, drawn.randrange(thing)) for thing in new if thing]
        pairs += [(thing, drawn.randrange(things)) for thing in new if drawn.random() < 0.5]
        told = sorted({end for pair in pairs for end in pair} | set(new))
        names = [f"Thing{number}" for number in told]
        starts = [sum(len(name) + 1 for name in names[:index]) for index in range(len(names))]
        kinds = [("ORG", "LOC")[number % 2] for number in told]
        yield Document(
            " ".join(names),
            id=f"document {first}",
            mentions=tuple(
                Mention(start, start + len(name), kind)
                for start, name, kind in zip(starts, names, kinds, strict=True)
            ),
            entities=tuple(Entity((index,), kind) for index, kind in enumerate(kinds)),
            relations=tuple(
                Relation(told.index(a), told.index(b), f"P{1 + a % 9}", score=drawn.random())
                for a, b in dict.fromkeys(pairs)
                if a != b
            ),
        )


@contextmanager
def served(store: Path) -> Iterator[str]:
    app = make_app(Service(Pipeline(Silent()), store))
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


class Watch:
    """The frames of a page, and the processor time that its thread takes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy(self) -> float:
        """Seconds of a processor so far."""
        told = self.session.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in told if each["name"] == "TaskDuration")

    def of(self, move: Callable[[], object]) -> str:
        """Milliseconds of a frame while something moves: of the processor, and of the clock."""
        self.page.evaluate("window.frames = []")
        before = self.busy()
        move()
        spent = self.busy() - before
        times: list[float] = self.page.evaluate("window.frames")
        gaps = [after - before for before, after in pairwise(times)]
        return f"{1000 * spent / len(times):.0f} ({statistics.median(gaps):.0f})"


def measured(page: Page, address: str) -> list[str]:
    page.add_init_script(COUNT_FRAMES)
    page.goto(address)
    page.click("#tab-store")
    watch = Watch(page)
    begun = page.evaluate("performance.now()")
    page.click("#browser [data-say=draw-all]")
    page.wait_for_selector("#browser .told .rows button", timeout=600_000)
    drawn = page.evaluate("performance.now()") - begun
    at_rest = "#browser .drawing[aria-busy=false]"
    placing = watch.of(lambda: page.wait_for_selector(at_rest, timeout=600_000))
    placed = page.evaluate("performance.now()") - begun
    canvas = page.locator("#browser canvas[tabindex]")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag() -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(MOVES):
            page.mouse.move(x + step, y + step / 2)
        page.mouse.up()

    def zoom() -> None:
        for step in range(MOVES):
            page.mouse.wheel(0, -40 if step < MOVES / 2 else 40)

    def point() -> None:
        for step in range(MOVES):
            page.mouse.move(x - 2 * step, y + step)

    moved = [watch.of(move) for move in (drag, zoom, point)]
    return [f"{drawn / 1000:.1f}", f"{placed / 1000:.1f}", placing, *moved]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--things", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--screenshot", type=Path, help="where to draw the last graph as PNG")
    given = parser.parse_args()
    found = shutil.which("chromium")
    columns = "things, facts, on the screen (s), placed (s), placing, dragging, zooming, pointing"
    print(f"| {columns.replace(', ', ' | ')} |")
    print("|---" * 8 + "|")
    for things in given.things:
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
            made = list(documents(things, given.seed))
            with Store.open(Path(folder) / "store") as store:
                store.ingest(made, relation_names={}, model="made up")
            with served(Path(folder) / "store") as address:
                browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                facts = sum(len(document.relations) for document in made)
                print(f"| {things} | {facts} | {' | '.join(measured(page, address))} |")
                if given.screenshot:
                    page.screenshot(path=given.screenshot)
                browser.close()


if __name__ == "__main__":
    main()
