"""What the parts of name recognition cost beside others: one JSON line or more a part.

    python benchmarks/names.py [crf] [tagger] [lattice] [lexicon]

Every part is a script of its own in this directory, which says what is compared and how; here
each runs in a process of its own, one after the other.
"""

import argparse
import subprocess
import sys
from pathlib import Path

PARTS = ("crf", "tagger", "lattice", "lexicon")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"all by default: {', '.join(PARTS)}")
    chosen = parser.parse_args().parts or PARTS
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in chosen:
        script = Path(__file__).parent / f"{part}.py"
        subprocess.run([sys.executable, str(script)], check=True)


if __name__ == "__main__":
    main()
