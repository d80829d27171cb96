"""The next token, from all in front of it: the objective of the Transformer's decoder and of GPT.

Radford, Narasimhan, Salimans, Sutskever: Improving Language Understanding by Generative
Pre-Training, 2018; Vaswani et al.: Attention Is All You Need, NeurIPS 2017, arXiv 1706.03762.

    loss      - 1/(n + 1) sum over i of log p(x_i | x_1 ... x_(i-1)), the end of the text being one

    row sees column                 [CLS]  Ada  was  born
                             [CLS]    x                      asked: Ada
                             Ada      x     x                asked: was
                             was      x     x    x           asked: born
                             born     x     x    x    x      asked: [SEP]

Every token is a target, not one in seven as with masks, but none sees what follows it. `unilm`
mixes it with masks, `xlnet` and `mpnet` take other orders than that from left to right.
"""

import numpy as np
from pydantic import BaseModel, ConfigDict
from torch import nn

from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.masking import told_tokens
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


class CausalSettings(BaseModel):
    """There is nothing to choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Causal(nn.Module):
    """Tokens from left to right."""

    pairs, says_tokens, fills = False, True, False

    def __init__(
        self, settings: CausalSettings, vocabulary: Vocabulary, network: Network | None = None
    ) -> None:
        del network  # no further layers
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary

    def slots(self, tokens: int) -> int:
        return tokens + self.vocabulary.special_count

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:  # noqa: ARG002
        tokens = self.vocabulary.around(stretch.ids)
        length = len(tokens)
        return Corrupted(
            tokens=tokens,
            slots=np.arange(length - 1),
            wanted=tokens[1:],
            visible=np.tril(np.ones((length, length), bool)),
        )

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        return told_tokens(network, batch)


OBJECTIVE, SETTINGS = Causal, CausalSettings
