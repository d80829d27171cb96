"""Started by test_crew.py: an extraction by two processes that only Ctrl-C ends.

python slow_extraction.py TEXTS FOLDER
"""

import faulthandler
import signal
import sys
from pathlib import Path

from crew_components import Slow

from factloom.extraction import Targets, extract
from factloom.pipeline import Pipeline

if __name__ == "__main__":
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
    texts, folder = sys.argv[1:]
    output = Targets([Path(folder) / "out.jsonl"])
    extract(Pipeline(Slow(Path(folder))), [texts], output, batch_size=1, workers=2)
