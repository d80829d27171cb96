"""What the tests of objectives share: a tiny network that is far from uniform, and some text."""

from pathlib import Path

import pytest
from objective_checks import TEXT, enlarge, stretch_of

from factloom.encoders.encoder import Encoder
from factloom.objectives import Stretch
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


@pytest.fixture
def network(tiny_encoder_path: Path) -> Network:
    network = Network(Encoder.load(str(tiny_encoder_path), window=64, overlap=0)).eval()
    enlarge(network)
    return network


@pytest.fixture
def vocabulary(network: Network) -> Vocabulary:
    return Vocabulary.of(network.encoder)


@pytest.fixture
def stretch(network: Network) -> Stretch:
    """17 words in three sentences, some of several tokens, two names."""
    return stretch_of(network.encoder, TEXT)
