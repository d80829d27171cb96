"""The vectors of a corpus, made anew by another process while training goes on.

    background = BackgroundVectors(folder, corpus, embedder)
    background.begin(step=500)     the weights as they are go to a file, and a process begins
    background.take()              500, once its vectors are whole and in use; None before

Guu et al.: REALM, ICML 2020, section 3.3: passages are found by vectors that are some hundred steps
old, and scored by the encoder as it is. Nobody waits for the process: until it has ended, training
goes on with the vectors that there are. It writes them under another name, and gives them theirs
when they lie safely on the disk, so that whoever sees the name sees all of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file, save_file

from factloom.answers.dual_encoder import TextEmbedder
from factloom.answers.open_corpus import OpenCorpus
from factloom.encoders.encoder import Encoder

COMMAND = (sys.executable, "-m", "factloom.answers.background_vectors")
_NICE = 10  # the process gives way to the training


class BackgroundVectors:
    """One process at a time that embeds a corpus; files are in a folder of the training's."""

    def __init__(self, folder: Path, corpus: OpenCorpus, embedder: TextEmbedder) -> None:
        self.folder, self.corpus, self.embedder = folder, corpus, embedder
        self.process: subprocess.Popen[bytes] | None = None
        self.newest = -1  # the step of the vectors in use
        self._told = True  # how the last process ended

    def prepare(self) -> None:
        """Write what does not change; files of an earlier training go."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in (*self.folder.glob("vectors-*"), *self.folder.glob("weights-*")):
            old.unlink()
        embedder = self.embedder
        embedder.encoder.save(self.folder / "encoder")
        options = {"width": embedder.width, "pooling": embedder.pooling}
        content = json.dumps({**options, "encoder": embedder.encoder.options()})
        (self.folder / "embedder.json").write_text(content, encoding="utf-8")
        tokens = self.corpus.tokens(embedder)
        ends = np.cumsum([len(ids) for ids in tokens])
        np.savez(self.folder / "tokens.npz", ids=np.concatenate(tokens), ends=ends)

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def begin(self, step: int) -> bool:
        """Start a process with the weights of now; False while the last one is at work."""
        if self.running:
            return False
        weights = {name: value.contiguous() for name, value in self.embedder.state_dict().items()}
        save_file(weights, self.folder / f"weights-{step}.safetensors")
        with (self.folder / "errors.txt").open("wb") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, str(self.folder), str(step)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        self._told = False
        return True

    def take(self) -> int | None:
        """Put newer vectors into use if they are whole; the step that they were begun at."""
        newer = [
            step for step in map(_step, self.folder.glob("vectors-*.npy")) if step > self.newest
        ]
        if not newer:
            return None
        self.newest = max(newer)
        # mapped: only what is looked at comes into memory; a change of it would stay in memory
        self.corpus.put(np.load(self.folder / f"vectors-{self.newest}.npy", mmap_mode="c"))
        for path in (*self.folder.glob("vectors-*.npy"), *self.folder.glob("weights-*")):
            if _step(path) < self.newest:
                path.unlink(missing_ok=True)  # whoever has mapped it keeps it
        return self.newest

    def failure(self) -> str | None:
        """Why the last process ended without vectors; told once."""
        if self._told or self.process is None or self.process.poll() is None:
            return None
        self._told = True
        if self.process.returncode == 0:
            return None
        lines = (self.folder / "errors.txt").read_text("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with {self.process.returncode}"

    def stop(self) -> None:
        """End the process, whose vectors nobody needs any more."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def make_vectors(folder: Path, step: int) -> None:
    """What the process does."""
    options = json.loads((folder / "embedder.json").read_text(encoding="utf-8"))
    encoder = Encoder.from_directory(folder / "encoder", **options["encoder"])
    embedder = TextEmbedder(encoder, options["width"], options["pooling"])
    embedder.load_state_dict(load_file(folder / f"weights-{step}.safetensors"))
    with np.load(folder / "tokens.npz") as kept:
        tokens = np.split(kept["ids"], kept["ends"][:-1])
    write_whole(folder / f"vectors-{step}.npy", embedder.encode(tokens))


def write_whole(path: Path, vectors: Any) -> None:
    """The file has its name when all of it is on the disk, and not before."""
    part = path.with_suffix(".part")
    with part.open("wb") as stream:
        np.save(stream, vectors)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)


def _step(path: Path) -> int:
    return int(path.stem.split("-")[1])


if __name__ == "__main__":
    os.nice(_NICE)
    make_vectors(Path(sys.argv[1]), int(sys.argv[2]))
