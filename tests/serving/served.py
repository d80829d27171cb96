"""Runs the service with a model that knows its facts by heart, for tests that kill it.

python served.py STORE SECONDS      # a text takes so many seconds
"""

import sys
import time
from pathlib import Path

from fake_service import Knowing

from factloom.document import Document
from factloom.pipeline import Pipeline
from factloom.serving import server
from factloom.serving.settings import ServiceSettings


class Slow(Knowing):
    """Takes its time."""

    def predict(self, documents: list[Document]) -> list[Document]:
        time.sleep(float(sys.argv[2]))
        return super().predict(documents)


if __name__ == "__main__":
    server.Pipeline.load_later = lambda *_, **_options: Pipeline(Slow())  # type: ignore[method-assign]
    server.serve([], Path(sys.argv[1]), "127.0.0.1", 0, None, ServiceSettings())
