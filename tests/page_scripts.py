"""Scripts of the pages, run by node where there is one."""

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

SHARED, LIVE = "factloom.graph.page", "factloom.serving.page"


def result_of(expression: str, *names: str, folder: str = SHARED) -> Any:
    """What an expression gives behind the scripts of these names."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    scripts = "\n".join((files(folder) / name).read_text("utf-8") for name in names)
    script = f"{scripts}\nconsole.log(JSON.stringify({expression}))"
    done = subprocess.run(
        ["node", "-"], input=script, capture_output=True, check=True, text=True, encoding="utf-8"
    )
    return json.loads(done.stdout)
