"""The process that reads uploaded files: whatever they hold, it has its time and memory, and ends.

    python -m factloom.serving.upload_process FOLDER SECONDS MEGABYTES MOST_CHARACTERS

Each file lies in a folder of its own, under a number and the suffix that it came with, and `names`
holds what they are called. Standard output gets a line of JSON a document or problem. Nothing but
these files is read: what a file names is not followed.
"""

import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factloom.errors import FactloomError, InputError, Place
from factloom.files.source import Source
from factloom.formats.gathering import (
    FoundFile,
    Problem,
    documents_of,
    format_of,
    problem_of,
    with_own_ids,
)
from factloom.formats.registry import FORMATS
from factloom.process_limits import bound

ACCEPTED = ("text", "markdown", "html", "pdf", "jsonl")


def main() -> None:
    folder, seconds, megabytes, longest = sys.argv[1:]
    bound(float(seconds), int(megabytes) << 20)
    for number, name in enumerate(json.loads((Path(folder) / "names").read_text())):
        (path,) = (Path(folder) / str(number)).iterdir()
        for told in _told(FoundFile(path, name, name), int(longest)):
            print(json.dumps(told), flush=True)


def _told(file: FoundFile, longest: int) -> Iterator[dict[str, Any]]:
    """The documents of a file, or the problems with it."""
    problems: list[Problem] = []
    try:
        format = format_of(Source(file.path))
        if format not in ACCEPTED:
            known = ", ".join(ACCEPTED)
            raise InputError("upload-kind", Place(file=file.given), format=format, known=known)
        whole = FORMATS[format].whole_file
        for document in with_own_ids(documents_of(file, format, whole, problems.append)):
            if len(document.text) > longest:
                limits = {"length": len(document.text), "limit": longest}
                place = Place(file=file.given, document=document.id)
                problems.append(Problem(place, InputError("text-too-long", place, **limits)))
            else:
                bounds = [(sentence.start, sentence.end) for sentence in document.sentences]
                found = {"id": document.id, "text": document.text, "sentences": bounds}
                yield {**found, "file": file.given}
    except FactloomError as error:
        problems.append(problem_of(error, file))
    for problem in problems:
        flaw = problem.error.flaw
        yield {"problem": dataclasses.asdict(flaw)}


if __name__ == "__main__":
    main()
