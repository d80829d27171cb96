"""The live page in a real Chromium, where there is one, before a service in this process."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fake_service import Knowing

from factloom.pipeline import Pipeline
from factloom.serving.app import make_app
from factloom.serving.guards import Access
from factloom.serving.server import listen
from factloom.serving.service import Service

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; the test is skipped where Chromium or playwright is not installed."""
    reason = "playwright is not installed: pip install playwright"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Root may not use its sandbox, and a container has little shared memory.
        browser = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


def expect(locator: Any) -> Any:
    """What has to be so of a part of the page, now or in a moment."""
    from playwright.sync_api import expect

    expect.set_options(timeout=20_000)
    return expect(locator)


@contextmanager
def served(
    store: Path | None = None, *, model: Any = None, token: str | None = None
) -> Iterator[str]:
    """The address of a service that is ended behind it."""
    app = make_app(Service(Pipeline(model or Knowing()), store), Access(token=token))
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class Opened:
    """A page with what went wrong in it, and which addresses it asked."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.address = address
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._listen)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.set_default_timeout(20_000)
        self.page.goto(address)

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            self.errors.append(message.text)  # what is refused is told on the page

    def read(self, text: str, name: str = "") -> None:
        """Paste a text, and wait for what was found."""
        self.page.fill("#reading-text", text)
        if name:
            self.page.fill("#reading-name", name)
        self.page.click("#read-it")
        self.page.wait_for_selector("#document .rows button")

    def close(self) -> None:
        self.context.close()
        assert self.errors == []
        assert all(url.startswith(self.address) for url in self.asked)


@contextmanager
def opened(browser: Any, address: str, **context: Any) -> Iterator[Opened]:
    """The page at an address; when it is left, nothing may have gone wrong in it."""
    found = Opened(browser, address, **context)
    yield found
    found.close()
