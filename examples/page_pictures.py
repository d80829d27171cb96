"""The pictures of the live page in docs, taken from the store of the demo.

    make demo
    python examples/page_pictures.py

Needs playwright, Chromium, and Pillow, which comes with matplotlib. The store is copied: what the
pictures show is not kept.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
STORE = ROOT / "runs" / "demo" / "graph"
SIZE = {"width": 1200, "height": 760}
COLOURS = 128


@contextmanager
def served(store: Path) -> Iterator[str]:
    """The address of a service with the model that ships."""
    command = ["serve", "--store", str(store), "--port", "0", "--runtime", "light"]
    process = subprocess.Popen(
        [sys.executable, "-m", "factloom", *command], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        told = (json.loads(line) for line in process.stderr)
        yield next(line["url"] for line in told if line["event"] == "listening")
    finally:
        process.terminate()
        process.wait()


def reading(page: Page) -> None:
    """A document with the evidence of a fact."""
    text = ROOT / "examples" / "texts" / "biography-marisol-devane.txt"
    page.set_input_files("#files", text)
    page.click("#found .rows button:has-text('father')")


def store(page: Page) -> None:
    """All facts of the store, and what is around one thing."""
    page.click("#tab-store")
    page.click("#browser [data-say=draw-all]")
    page.wait_for_selector("#browser .drawing[aria-busy=false]")
    page.locator("#browser .drawn").scroll_into_view_if_needed()
    page.hover("#browser .drawn", position={"x": 300, "y": 200})


def picture(browser: Browser, address: str, path: Path, dark: bool = False) -> None:
    page = browser.new_page(viewport=SIZE, color_scheme="dark" if dark else "light")
    page.goto(address)
    page.wait_for_selector("#tab-store:visible")
    (store if dark else reading)(page)
    page.wait_for_timeout(1000)
    page.screenshot(path=path)
    page.close()
    Image.open(path).quantize(COLOURS).save(path, optimize=True)  # a fifth of the bytes


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        copied = shutil.copytree(STORE, Path(folder) / "graph")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        with served(copied) as address:
            picture(browser, address, ROOT / "docs" / "page-reading.png")
            picture(browser, address, ROOT / "docs" / "page-store.png", dark=True)
        browser.close()


if __name__ == "__main__":
    main()
