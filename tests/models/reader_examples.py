"""What the tests of the reader share: documents with questions, and a model that is not trained."""

from pathlib import Path

import torch

from factloom.document import Answer, Document, Question
from factloom.encoders.encoder import Encoder
from factloom.models.reader import Reader, ReaderSettings
from factloom.text.sentences import find_sentences


def document(name: str, text: str, *asked: tuple[str, tuple[str, ...] | None]) -> Document:
    """Questions with their answers, each where its words stand first."""
    questions = tuple(
        Question(
            words,
            f"{name}-{number}",
            None if answers is None else tuple(Answer(a, text.index(a)) for a in answers),
        )
        for number, (words, answers) in enumerate(asked)
    )
    return Document(text, name, find_sentences(text), questions=questions)


ASKED = [
    document(
        "mara",
        "Mara Velden was born in Torvik on 3 May 1931. She studied at Halden College.",
        ("Where was Mara Velden born?", ("Torvik", "in Torvik")),
        ("When was she born?", ("3 May 1931", "1931")),
        ("Where did she study?", ("Halden College",)),
        ("Which company has she founded?", ()),
    ),
    document(
        "quillmark",
        "She founded Quillmark Ltd in 1956; the company has its headquarters in Ashmere, Norvania.",
        ("Which company has she founded?", ("Quillmark Ltd",)),
        ("Where was Mara Velden born?", ()),
        ("Who is she?", None),  # nobody has said
    ),
    document("chinese", "马云出生于杭州。", ("马云出生于 ?", ("杭州",))),
    document("nothing", "", ("Who is she?", ())),
    document("unasked", "Mara."),
]


def make_model(path: Path, window: int = 512, **settings: object) -> Reader:
    """An untrained model in double precision whose scores are far apart."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        encoder = Encoder.load(str(path), window=window, overlap=8)
        model = Reader(encoder, ReaderSettings.model_validate(settings))
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.3)
    return model.double().eval()
