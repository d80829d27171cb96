"""A process that is killed while the index follows its store: after opening, both agree."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "killed_update.py"


def test_index_and_store_agree_after_opening_whenever_a_process_was_killed(tmp_path: Path) -> None:
    paths = [str(SCRIPT.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, str(SCRIPT), str(tmp_path / "store")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    history = json.loads(done.stdout)
    assert any(history), "no kill came while index and store differed"
