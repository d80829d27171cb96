"""What the tests of MRC share: documents with nested names, and a model that is not trained."""

from collections.abc import Sequence
from pathlib import Path

import torch

from factloom.document import Document, Mention
from factloom.encoders.encoder import Encoder
from factloom.layouts.asked_passages import AskedBatch
from factloom.models.mrc import Mrc, MrcSettings
from factloom.text.tokens import join_tokens

TYPES = ("LOC", "ORG", "PER")
EVERYTHING = dict.fromkeys(("start_threshold", "end_threshold", "span_threshold"), 1e-12)
QUESTIONS = {"ORG": "Which company, such as Quillmark Ltd?"}


def document(name: str, sentences: list[str], *mentions: tuple[str, str]) -> Document:
    """Mentions as (text, type), each where its text stands first."""
    text, found = join_tokens([sentence.split() for sentence in sentences])
    spans = [(text.index(words), text.index(words) + len(words), kind) for words, kind in mentions]
    return Document(
        text, id=name, sentences=found, mentions=tuple(Mention(*span) for span in spans)
    )


NESTED = [
    document(
        "nested",
        ["Halden College of Torvik was founded by Mara Velden .", "It is in Norvania ."],
        ("Halden College of Torvik", "ORG"),
        ("Halden", "PER"),
        ("Torvik", "LOC"),
        ("Mara Velden", "PER"),
        ("Norvania", "LOC"),
    ),
    document(
        "overlapping",
        ["She studied at Ashmere Quillmark Norvania in 1956 ."],
        ("Ashmere Quillmark", "ORG"),
        ("Quillmark Norvania", "ORG"),  # overlaps, neither holds the other
        ("Ashmere", "LOC"),
        ("Ashmere", "PER"),  # two types of one span
    ),
    document("nobody", ["The company has its headquarters ."]),
    document("short", ["Mara ."], ("Mara", "PER")),
]


def make_model(
    path: Path, window: int = 512, types: Sequence[str] = TYPES, **settings: object
) -> Mrc:
    """An untrained model in double precision whose scores are on both sides of 0."""
    chosen = MrcSettings.model_validate({"questions": QUESTIONS, **settings})
    with torch.random.fork_rng():
        torch.manual_seed(11)
        encoder = Encoder.load(str(path), window=window, overlap=8)
        model = Mrc(encoder, types, chosen)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.3)
    model.double().eval()
    with torch.no_grad():
        found = model(model.collate(model.prepare(NESTED)))
        model.scores.start.bias -= found.logits[:, 0].mean()
        model.scores.end.bias -= found.logits[:, 1].mean()
        model.scores.span.bias -= found.span_logits.mean()
    return model


def collated(model: Mrc, documents: list[Document], *, training: bool = False) -> AskedBatch:
    """A batch with what training draws, for a model that then computes without dropout."""
    model.train(training)
    batch = model.collate(model.prepare(documents))
    model.eval()
    return batch
