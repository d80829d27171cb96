"""Every model is trained by two processes, as by one with twice the batch.

Of those that draw lots in training, or set the examples of a batch against each other, no more is
asked than that both processes end with the same weights.
"""

import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import launched_models
import pytest
import test_entities_as_experts
import test_facts_as_experts
import test_flat
import test_inverse_cloze
import test_positive_unlabelled
import test_rag
import test_realm
import test_realm_pretraining
import test_soft_lexicon
import test_tagger
import torch
from cogqa_examples import COGNITIVE
from lexicon_examples import documents as in_chinese
from mrc_examples import NESTED
from open_examples import documents as open_documents
from reader_examples import ASKED
from test_knowbert import ambiguous, linked_profiles, settings_for  # noqa: F401 - a fixture

from factloom.answers.cogltx import CogLtx, CogLtxSettings
from factloom.answers.cogqa import CogQa, CogQaSettings
from factloom.components import KINDS
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.coreference import Coreference, CoreferenceSettings
from factloom.models.docre_sd import DocreSd, DocreSdSettings
from factloom.models.entities_as_experts import EntitiesAsExperts
from factloom.models.facts_as_experts import FactsAsExperts
from factloom.models.joint import Joint, JointSettings
from factloom.models.knowbert import Knowbert
from factloom.models.mrc import Mrc, MrcSettings
from factloom.models.reader import Reader, ReaderSettings
from factloom.models.tagger import Tagger, TaggerSettings
from factloom.training import reporting

DRAW_LOTS = {"cogltx", "entities_as_experts", "facts_as_experts", "inverse_cloze"}
ONE_BATCH = {"inverse_cloze", "positive_unlabelled"}  # the loss of two is not the mean of their own


@pytest.fixture(scope="module")
def trainings(
    tiny_encoder_path: Path,
    profiles: list[Document],
    linked_profiles: list[Document],  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Path]:
    given, one, two = (tmp_path_factory.mktemp(name) for name in ("given", "one", "two"))
    folder = tmp_path_factory.mktemp("corpora")
    torch.manual_seed(0)
    models = _models(tiny_encoder_path, folder, profiles[:4], linked_profiles)
    for name, (model, documents) in models.items():
        examples = [each for each in model.prepare(documents) if each.terms]
        assert len(examples) > 1, name
        (given / name).write_bytes(pickle.dumps((model, examples)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reporting, "draw_curves", lambda *_: None)
        launched_models.train_all(given, 2, one)
    launch(given, two)
    return one, two


def launch(given: Path, output: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"]
    command += ["--num_processes=2", f"--main_process_port={port}", launched_models.__file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # of the examples' classes
    done = subprocess.run(
        [*command, str(given), "1", str(output)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr


def _models(
    path: Path, folder: Path, profiles: Sequence[Document], linked: Sequence[Document]
) -> dict[str, tuple[Any, Sequence[Document]]]:
    def encoder() -> Encoder:
        return Encoder.load(str(path), overlap=16)

    def made(kind: Any, settings: Any, documents: Sequence[Document]) -> Any:
        return kind.from_documents(encoder(), documents, settings), documents

    ambiguous(list(linked)).save(folder / "base")
    base = folder / "base", path
    open_ones = open_documents()
    return {
        "tagger": made(Tagger, TaggerSettings(), test_tagger.DOCUMENTS),
        "mrc": made(Mrc, MrcSettings(negative_questions=1.0), NESTED),
        "flat": (test_flat.make_model(folder), in_chinese()),
        "soft_lexicon": (test_soft_lexicon.make_model(folder), in_chinese()),
        "positive_unlabelled": (
            test_positive_unlabelled.make_model(path),
            test_positive_unlabelled.DOCUMENTS,
        ),
        "coreference": made(Coreference, CoreferenceSettings(hidden=8), profiles),
        "atlop": made(Atlop, AtlopSettings(block_size=8), profiles),
        "docre_sd": made(DocreSd, DocreSdSettings(width=16), profiles),
        "joint": made(Joint, JointSettings(block_size=8), profiles),
        "reader": made(Reader, ReaderSettings(), ASKED),
        "cogltx": made(CogLtx, CogLtxSettings(block_tokens=8), ASKED),
        "cogqa": made(CogQa, CogQaSettings(), COGNITIVE),
        "knowbert": made(Knowbert, settings_for(*base), linked),
        "entities_as_experts": made(
            EntitiesAsExperts, test_entities_as_experts.settings_for(*base), linked
        ),
        "facts_as_experts": made(FactsAsExperts, test_facts_as_experts.settings_for(*base), linked),
        "inverse_cloze": (test_inverse_cloze.make_model(path, folder), open_ones),
        "realm_pretraining": (test_realm_pretraining.make_model(path, folder), open_ones),
        "realm": (test_realm.make_model(path, folder), open_ones),
        "rag": (test_rag.make_model(path, folder), open_ones),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_both_processes_end_with_the_same_weights(trainings: tuple[Path, Path], kind: str) -> None:
    _, two = trainings
    assert (two / f"{kind}.same").read_text() == "True"


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - DRAW_LOTS - ONE_BATCH))
def test_two_processes_train_as_one_with_twice_the_batch(
    trainings: tuple[Path, Path], kind: str
) -> None:
    one, two = (torch.load(output / f"{kind}.weights") for output in trainings)
    assert one.keys() == two.keys()
    for name in one:
        # Adam makes steps of 1e-3 of gradients that are nothing but rounding, where weights such as
        # the bias of keys have none.
        torch.testing.assert_close(two[name], one[name], rtol=1e-3, atol=1e-4, msg=name)
