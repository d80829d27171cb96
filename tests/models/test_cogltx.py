"""CogLTX against plain loops: windows, losses, what is left, what leaving blocks out does."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cogltx_by_loops import block_scores, judge_loss
from model_checks import check_model
from reader_by_loops import gold_words, reader_by_loops
from reader_examples import ASKED, document

from factloom.answers.blocks import Block
from factloom.answers.cogltx import CogLtx, CogLtxSettings
from factloom.answers.memory_recall import recall
from factloom.document import Answer, Document, Question
from factloom.encoders.encoder import Encoder
from factloom.encoders.windows import TokenIds
from factloom.modules.windows import WindowBatch
from factloom.text.sentences import find_sentences

FILLER = "The company has its headquarters in Ashmere , Norvania . "
LONG = document(
    "long",
    FILLER * 12 + "Mara Velden was born in Torvik . " + FILLER * 12 + "She studied at Halden .",
    ("Where was Mara Velden born?", ("Torvik",)),
    ("Where did she study?", ("Halden",)),
    ("Which marker?", ()),
)
MANY_BLOCKS = {"block_tokens": 9, "kept": (2, 3)}


def make_model(path: Path, window: int = 64, **settings: object) -> CogLtx:
    """An untrained model in double precision whose scores are far apart."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        encoder = Encoder.load(str(path), window=window, overlap=8)
        model = CogLtx(encoder, CogLtxSettings.model_validate({**MANY_BLOCKS, **settings}))
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.3)
    model = model.double().eval()
    model.threshold.fill_(-1e6)  # it is not trained, and has to answer
    return model


class NaiveJudge:
    """Scores of blocks by plain loops."""

    def __init__(self, model: CogLtx, question: str, blocks: Sequence[Block]) -> None:
        self.model, self.question, self.blocks = model, question, blocks

    def __call__(self, windows: Sequence[list[int]]) -> list[list[float]]:
        together = [[self.blocks[number] for number in window] for window in windows]
        return [block_scores(self.model, self.question, blocks) for blocks in together]


def test_cogltx_passes_the_checks_of_every_model(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = CogLtx.from_documents(encoder, ASKED, CogLtxSettings(dropout=0.0, block_tokens=8))
    model.provenance = {"seed": 3, "data": {"a.json": "0123"}}
    check_model(model, ASKED, tmp_path)
    loaded = CogLtx.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.settings.longest_answer == 3


def test_what_is_left_equals_plain_loops(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    for question in LONG.questions:
        kept = model.recollect(question.text, [LONG])
        around = model.judge.encoder.question(question.text)
        sizes = [len(block.token_ids) + 1 for block in kept.blocks]
        judge = NaiveJudge(model, question.text, kept.blocks)
        assert len(kept.blocks) > 25
        assert kept.chosen == recall(sizes, 64 - around.count, (2, 3), judge)
        assert len(kept.chosen) == 3
        expected = block_scores(model, question.text, [kept.blocks[n] for n in kept.chosen])
        assert [float(np.mean(tokens)) for tokens in kept.relevance] == pytest.approx(expected)


def test_loss_equals_plain_loops(tiny_encoder_path: Path) -> None:
    """A window as in a rehearsal, one as in a competition, and the reasoner on what wins."""
    model = make_model(tiny_encoder_path)
    (asked, *_) = model.prepare([LONG])
    relevant = [
        number
        for number, block in enumerate(asked.blocks)
        if "Torvik" in LONG.text[block.start : block.end]
    ]
    assert len(relevant) == 1
    assert (asked.levels >= 1).nonzero()[0].tolist() == relevant

    def filled(order: Sequence[int]) -> list[int]:
        chosen, size = [], 0
        for number in order:
            size += len(asked.blocks[number].token_ids) + 1
            if size > 64 - asked.around.count:
                break
            chosen.append(number)
        return sorted(chosen)

    others = [number for number in range(len(asked.blocks)) if number not in relevant]
    rehearsal, row = filled([*relevant, *others]), filled(range(len(asked.blocks)))
    expected = sum(
        judge_loss(
            model,
            asked.text,
            [asked.blocks[number] for number in window],
            [number in relevant for number in window],
        )
        for window in (rehearsal, row)
    )
    read = model._asked(asked, model._read_in_training(asked))
    assert "Torvik" in read.text
    naive = reader_by_loops(model.reasoner, read, read.questions[0])
    spans = gold_words(naive, read.questions[0])
    expected = expected / 2 - math.log(sum(naive.probability(i, j) for i, j in spans)) / 2
    with torch.no_grad():
        assert float(model(model.collate([asked])).loss) == pytest.approx(expected, rel=1e-8)


def test_the_reasoner_reads_all_relevant_blocks_and_the_winners(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    (asked, *_) = model.prepare([LONG])
    chosen = model._read_in_training(asked)
    capacity = 64 - asked.around.count
    sizes = [len(block.token_ids) + 1 for block in asked.blocks]
    assert set((asked.levels >= 1).nonzero()[0].tolist()) < set(chosen)
    assert sum(sizes[number] for number in chosen) <= capacity


def test_answers_and_evidence_stand_where_they_are_said_to(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, longest_answer=4)
    model.support_threshold.fill_(0.5)
    (found,) = model.predict([LONG])
    for question in found.questions:
        (answer,) = question.answers or ()
        assert answer.start is not None
        assert LONG.text[answer.start :].startswith(answer.text)
        assert LONG.sentence_at(answer.start) in question.evidence


def test_several_documents_are_one_long_text(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, longest_answer=3)
    texts = [Document(FILLER * 5), Document(" "), Document("She founded Quillmark . " * 6)]
    found = model.ask("Who founded Quillmark?", texts, top=4)
    assert len(found) == 4
    assert [span.margin for span in found] == sorted((s.margin for s in found), reverse=True)
    for span in found:
        words = texts[span.document].text[span.start : span.end]
        assert words == words.strip()
        assert words
        for number, start, end in span.support:
            sentences = [(s.start, s.end) for s in find_sentences(texts[number].text)]
            assert (start, end) in sentences
    assert model.ask("Who?", [Document(" \n")]) == []
    assert model.ask("Who?", []) == []


def test_what_is_read_at_once_does_not_grow_with_the_text(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The windows grow in number as the text does, and a batch of them does not grow."""
    model = make_model(tiny_encoder_path)
    counts: list[int] = []
    largest: list[int] = []
    batch = Encoder.batch

    def watched(self: Encoder, documents: Sequence[TokenIds], **given: Any) -> WindowBatch:
        found = batch(self, documents, **given)
        counts.append(len(found.token_ids))
        largest.append(found.token_ids.numel())
        return found

    monkeypatch.setattr(Encoder, "batch", watched)
    windows = []
    for times in (40, 80, 160):
        counts.clear()
        model.ask("Where was Mara Velden born?", [Document(FILLER * times)])
        windows.append(sum(counts))
    assert windows[2] - windows[1] == pytest.approx(2 * (windows[1] - windows[0]), abs=3)
    assert max(largest) <= 4096


# --- intervention ----------------------------------------------------------------------------


def unlabelled() -> Document:
    """Nobody has said where the answer stands, or what proves it."""
    question = Question("Where was Mara Velden born?", "q", answers=(Answer("Torvik"),))
    text = "Mara Velden was born . " + FILLER * 3 + "In Torvik , that is . " + FILLER
    return Document(text, "u", find_sentences(text), questions=(question,))


def test_leaving_a_block_out_tells_what_the_reasoner_loses(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reasoner made by hand: it needs to read of the birth, and headquarters mislead it."""
    model = make_model(tiny_encoder_path, window=512)

    def losses(documents: Sequence[Document]) -> torch.Tensor:
        texts = [document.text for document in documents]
        return torch.tensor([2.0 - ("born" in t) + 0.1 * t.count("headquarters") for t in texts])

    monkeypatch.setattr(model, "_reasoner_losses", losses)
    (asked,) = model.prepare([unlabelled()])
    assert asked.guessed
    blocks, rises = model.rises(asked)
    assert blocks == list(range(len(asked.blocks)))
    for number, rise in zip(blocks, rises, strict=True):
        words = asked.source.text[asked.blocks[number].start : asked.blocks[number].end]
        expected = float("born" in words) - 0.1 * words.count("headquarters")
        assert rise == (math.inf if "Torvik" in words else pytest.approx(expected))


def test_a_guess_is_where_the_answer_s_words_and_the_question_s_stand(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    (asked,) = model.prepare([unlabelled()])
    texts = [asked.source.text[block.start : block.end] for block in asked.blocks]
    guessed = [texts[number] for number in (asked.levels >= 1).nonzero()[0]]
    assert any("Torvik" in text for text in guessed)
    assert any("born" in text for text in guessed)
    assert len(guessed) < len(texts)


def test_evidence_says_which_blocks_are_relevant(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    base = unlabelled()
    question = Question("Where was Mara Velden born?", "q", (Answer("yes"),), evidence=(0,))
    (asked,) = model.prepare([base.replace(questions=(question,))])
    pairs = zip(asked.blocks, asked.levels, strict=True)
    held = [base.text[b.start : b.end] for b, level in pairs if level > 0]
    assert "born" in " ".join(held)
    assert "Torvik" not in " ".join(held)
    assert (asked.judged, asked.guessed, asked.readable) == (True, False, False)
    (unknown,) = model.prepare([base.replace(questions=(Question("Where?", "q"),))])
    assert unknown.terms == 0
