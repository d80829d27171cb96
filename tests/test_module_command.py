"""`python -m factloom`, for who has no `factloom` on the path."""

import subprocess
import sys


def test_the_package_is_a_command() -> None:
    command = [sys.executable, "-m", "factloom", "--help"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Documents in, a knowledge graph with evidence out." in finished.stdout
    assert "Usage: python -m factloom" in finished.stdout
