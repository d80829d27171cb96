"""One text is read and another is written: what the objectives with a decoder have in common.

loss = - mean over the tokens y_i of the other text of log p(y_i | y_1 ... y_(i-1), what is read)
"""

from collections.abc import Callable

import numpy as np
from pydantic import BaseModel
from torch import Tensor, nn
from torch.nn import functional

from factloom.objectives import Corrupted, Integers, Stretch, Written
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.blanks import Blanks
from factloom.objectives.decoder import Decoder
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary

Rewrite = Callable[[Stretch, np.random.Generator], Corrupted]


class Rewriting(nn.Module):
    """The objective of whoever asks for nothing but the tokens of the other text.

    `rewrite` says what is read of a stretch, and what is written; `blanks` how it can be asked for
    blanks of any length, if it can.
    """

    pairs, says_tokens, fills = False, True, False

    def __init__(
        self,
        settings: BaseModel,
        vocabulary: Vocabulary,
        network: Network,
        rewrite: Rewrite,
        blanks: Blanks | None = None,
    ) -> None:
        super().__init__()
        self.settings, self.vocabulary, self.rewrite = settings, vocabulary, rewrite
        self.blanks = blanks
        self.decoder = Decoder(network)

    def slots(self, tokens: int) -> int:
        return rewriting_slots(tokens, self.vocabulary)

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        return self.rewrite(stretch, randomness)

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        logits = network.logits(self.asked_states(network, batch))
        return Losses(functional.cross_entropy(logits, batch.wanted, reduction="none"))

    def asked_states(self, network: Network, batch: TextBatch) -> Tensor:
        """(targets, width)"""
        assert batch.written is not None
        states = self.decoder.states(batch.written, network.states(batch.windows))
        return states.index_select(0, batch.slots)


def rewriting_slots(tokens: int, vocabulary: Vocabulary) -> int:
    """What is read is never longer than the text; what is written has a start and an end."""
    return tokens + max(vocabulary.special_count, 2)


def rewritten(source: Integers, target: Integers, vocabulary: Vocabulary) -> Corrupted:
    """A text that is read, and one that is written, which is asked for token by token."""
    return Corrupted(
        tokens=vocabulary.around(source),
        slots=np.arange(len(target)),
        wanted=target.astype(np.int64),
        written=Written(
            np.concatenate([[vocabulary.start], target[:-1]]).astype(np.int64),
            np.arange(len(target)),
        ),
    )
