"""Texts as the encoder of a model sees them, read by its tokenizer alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from factloom.encoders.long_documents import POLICIES
from factloom.encoders.special_tokens import SpecialTokens, require_room
from factloom.encoders.tokens import Tokens, tokens_of
from factloom.encoders.windows import TokenIds, batch_windows
from factloom.errors import ModelError, Place
from factloom.light.folder import Around
from factloom.modules.devices import Numbers
from factloom.modules.windows import WindowBatch

TOKENIZER = "tokenizer.json"


class TextReader:
    """A `QuestionReader` (encoders/tokens.py) with the tokenizer of a folder.

    `options` are those of the encoder in config.json.
    """

    def __init__(self, folder: Path, around: Around, options: Mapping[str, Any]) -> None:
        self.special = around.special.special
        self.class_token = around.class_token
        self._pair = around.question
        self.window = int(options["window"])
        self.overlap = int(options["overlap"])
        self.policy = POLICIES[options["long_documents"]](self.overlap)
        file = folder / TOKENIZER
        try:
            self.tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library has no error of its own
            detail = str(error).splitlines()[0]
            raise ModelError("model-damaged", Place(file=str(file)), detail=detail) from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    @property
    def capacity(self) -> int:
        """How many tokens a window holds beside the special ones."""
        return self.window - self.special.count

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""
        return tokens_of(texts, self._tokens)

    def _tokens(self, texts: list[str]) -> list[Tokens]:
        return [
            Tokens(
                np.asarray(found.ids, np.int64), np.asarray(found.offsets, np.int64).reshape(-1, 2)
            )
            for found in self.tokenizer.encode_batch(texts, add_special_tokens=False)
        ]

    def question(self, question: str) -> SpecialTokens:
        """What surrounds every window of a text that is read with the question in front."""
        if self._pair is None:
            raise ModelError("no-separator")
        ids = self.tokenize([question])[0].ids.tolist()
        found = self._pair.with_question(ids)
        require_room(found, len(ids), question, self.window, self.overlap)
        return found

    def lay_out(
        self,
        documents: Sequence[TokenIds],
        rows: Sequence[NDArray[np.int64]] | None = None,
        special: Sequence[SpecialTokens] | None = None,
    ) -> WindowBatch[Numbers]:
        """Documents as windows; see `Encoder.batch`."""
        asked = [np.zeros(0, np.int64)] * len(documents) if rows is None else rows
        around = [self.special] * len(documents) if special is None else special
        return batch_windows(documents, asked, around, self.window, self.policy)
