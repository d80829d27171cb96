"""Uploaded files become texts in a process of their own, which can be ended (upload_process.py)."""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factloom.document import Document, Sentence
from factloom.errors import FactloomError, Flaw, InputError, Place, RequestError
from factloom.serving.settings import ServiceSettings

_UNSAFE = re.compile(r"[^A-Za-z0-9.]")
_WAITING = 2.0  # seconds of waiting for one of a processor: others want it, too
_LARGER = 4  # times the body: what is compressed, or escaped, may become larger
_A_CHARACTER = 40  # bytes of a line for a character: escaped, and a sentence of its own


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent: its bytes, and how it is called."""

    name: str
    content: bytes

    @property
    def suffix(self) -> str:
        """Of the name, as far as it may become part of a path."""
        safe = "".join(_UNSAFE.sub("", suffix) for suffix in Path(self.name).suffixes[-2:])
        return safe[-20:]


@dataclass(slots=True)
class UploadedTexts:
    """What the files held."""

    documents: list[Document] = field(default_factory=list)
    problems: list[FactloomError] = field(default_factory=list)


def file_name(given: str | None, number: int) -> str:
    """The last part of a name that was sent; folders of another machine mean nothing here."""
    name = re.split(r"[/\\]", given or "")[-1].strip()
    printed = "".join(sign for sign in name if sign.isprintable())[:200]
    return printed if printed.strip(". ") else f"file-{number}"


async def texts_of(uploads: Sequence[Upload], settings: ServiceSettings) -> UploadedTexts:
    """The texts of the files, as documents without anything that was said about them."""
    found = UploadedTexts()
    with tempfile.TemporaryDirectory(prefix="factloom-upload-") as folder:
        _lay_down(uploads, Path(folder))
        try:
            async with asyncio.timeout(_WAITING * settings.upload_seconds):
                async for told in _told_by_process(Path(folder), settings):
                    _take(found, told)
                    if len(found.documents) > settings.documents:
                        count, limit = len(found.documents), settings.documents
                        raise RequestError("too-many-texts", count=count, limit=limit)
        except TimeoutError:
            raise RequestError("upload-limit") from None
    return found


def _lay_down(uploads: Sequence[Upload], folder: Path) -> None:
    """Each in a folder of its own: some formats look for files beside theirs."""
    (folder / "names").write_text(json.dumps([upload.name for upload in uploads]))
    for number, upload in enumerate(uploads):
        (folder / str(number)).mkdir()
        (folder / str(number) / f"file{upload.suffix}").write_bytes(upload.content)


async def _told_by_process(
    folder: Path, settings: ServiceSettings
) -> AsyncIterator[dict[str, Any]]:
    limits = (settings.upload_seconds, settings.upload_megabytes, settings.text_characters)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "factloom.serving.upload_process"),
        *(str(folder), *map(str, limits)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_A_CHARACTER * settings.text_characters + (1 << 16),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    told = 0
    try:
        async for line in process.stdout:
            told += len(line)
            if told > _LARGER * settings.body_bytes + (1 << 16):
                raise RequestError("upload-limit")
            yield json.loads(line)
        if await process.wait() != 0:
            raise RequestError("upload-limit")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _take(found: UploadedTexts, told: dict[str, Any]) -> None:
    if "problem" in told:
        flaw = told["problem"]
        found.problems.append(InputError(Flaw(**{**flaw, "place": Place(**flaw["place"])})))
        return
    sentences = tuple(Sentence(*bounds) for bounds in told["sentences"])
    source = {"source": told["file"]}
    found.documents.append(Document(told["text"], told["id"], sentences, attributes=source))
