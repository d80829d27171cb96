"""What the tests share: no network, one thread a process, a tiny encoder, example documents."""

import os
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import settings

from factloom import formats
from factloom.document import Document
from tiny_bert import save_tiny_bert

# Before the first import of torch or transformers, which the tests that need neither are spared.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["OMP_NUM_THREADS"] = "1"  # tests run beside each other, a process a core
# Some virtual machines announce matrix units and kill who uses them; without, bf16 is only slower.
os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16"

# A slow machine is no failure.
settings.register_profile("factloom", deadline=None)
settings.load_profile("factloom")

EXAMPLES = Path(__file__).parent.parent / "examples"
SENTENCES = (  # the words of the tiny vocabulary; the characters cover other text too
    "Mara Velden was born in Torvik on 3 May 1931 and studied at Halden College.",
    "She founded Quillmark Ltd in 1956; the company has its headquarters in Ashmere, Norvania.",
    'The * marker * stands (before, and after) a mention: it\'s "one" token.',
    "abcdefghijklmnopqrstuvwxyz 0123456789 . , ; : ! ? ' - / & %",
    "马云出生于杭州。",
)


@pytest.fixture(scope="session")
def profiles() -> list[Document]:
    """The first eight training documents of the examples, with gold relations."""
    return list(islice(formats.read(EXAMPLES / "profiles-train.jsonl"), 8))


@pytest.fixture(scope="session")
def tiny_encoder_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a random BERT (2 layers, width 32, 4 heads) and its fast tokenizer."""
    words = [word for text in SENTENCES for word in re.findall(r"\w+|[^\w\s]", text.lower())]
    letters = sorted({letter for word in words for letter in word})
    pieces = [*letters, *(f"##{letter}" for letter in letters), *sorted(set(words))]
    return save_tiny_bert(tmp_path_factory.mktemp("encoders") / "tiny-bert", pieces)
