"""`factloom --help` answers at once: the command line imports nothing heavy before it must."""

import subprocess
import sys

HEAVY = (
    "torch",
    "transformers",
    "numpy",
    "pydantic",
    "safetensors",
    "accelerate",
    "pyoxigraph",
    "matplotlib",
    "rich",
    "factloom.formats",
    "factloom.pipeline",
)


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys\n{code}\nprint(*sorted(sys.modules))"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(finished.stdout.splitlines()[-1].split())


def test_the_command_line_imports_nothing_heavy() -> None:
    loaded = modules_after("import factloom.cli")
    assert "factloom.cli.extract" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_help_imports_nothing_heavy_and_lists_the_commands() -> None:
    code = "from factloom.cli import app\ntry: app(['--help'])\nexcept SystemExit: pass"
    assert modules_after(code).isdisjoint(HEAVY)


def test_the_package_imports_nothing_heavy() -> None:
    assert modules_after("import factloom").isdisjoint({*HEAVY, "typer"})
