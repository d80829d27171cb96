"""Names and phrases are masked as a whole: ERNIE's objective.

Sun et al.: ERNIE: Enhanced Representation through Knowledge Integration, 2019, arXiv 1904.09223.

    text      x in units: the names that are marked in it, and the words between them; units are
              drawn until 15 % of the tokens are hidden
    loss      as `masked`

    all see all                 [CLS] [MASK] [MASK] was born in Torvik [SEP]
    asked                              Mara  Velden

A name has to be told from what is said about it, not from its other half. The names are the
mentions of the documents (any format that holds some), or those that a model of ours finds:
`data.names = "runs/tagger/best"`. The paper goes through three stages (tokens, phrases, names);
here names and words are hidden side by side. Without names it is `whole_word`.
"""

import numpy as np

from factloom.objectives import Booleans, Stretch
from factloom.objectives.corpus import NAME, NAMED, WORD
from factloom.objectives.masking import MaskedUnits, MaskSettings, Unit, draw_units, units_at
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


def draw_names_and_words(
    stretch: Stretch, budget: int, randomness: np.random.Generator
) -> list[Unit]:
    """Any name or word is as likely to be hidden as any other."""
    return draw_units(units_at(_begins(stretch)), budget, randomness)


def _begins(stretch: Stretch) -> Booleans:
    """Where a name begins or ends, and words outside of names."""
    named = stretch.marks & NAMED > 0
    behind = ~named & np.append(False, named[:-1])  # a name may end within a word
    words = (stretch.marks & WORD > 0) & ~named
    return np.asarray(words | behind | (stretch.marks & NAME > 0))


def ernie(settings: MaskSettings, vocabulary: Vocabulary, network: Network) -> MaskedUnits:  # noqa: ARG001
    """The objective."""
    return MaskedUnits(settings, vocabulary, draw_names_and_words)


OBJECTIVE, SETTINGS = ernie, MaskSettings
