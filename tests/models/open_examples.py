"""What the tests of models with a corpus share: a small corpus, questions to it, plain loops."""

import re
from pathlib import Path

import torch

from factloom import formats
from factloom.document import Answer, Document, Mention, Question
from factloom.text.sentences import find_sentences

TEXTS = {
    "mara": "Mara Velden was born in Torvik on 3 May 1931. She studied at Halden College.",
    "quill": "She founded Quillmark Ltd in 1956. The company has its headquarters in Ashmere.",
    "halden": "Halden College stands in Norvania. Mara studied there before she founded Quillmark.",
    "torvik": "Torvik stands in Norvania and not in Ashmere.",
}
ASKED = {
    "mara": [("Where was Mara born?", ("Torvik",)), ("Where did she study?", ("Halden College",))],
    "quill": [("Which company has she founded?", ("Quillmark Ltd", "Quillmark"))],
    "halden": [("Where is the college?", ("Norvania",)), ("Who is she?", None)],
    "torvik": [("When was Torvik founded?", ())],
}
NAMES = ("Mara Velden", "Torvik", "Halden College", "Quillmark", "Norvania", "Ashmere")


def documents() -> list[Document]:
    """Each with its questions, its names marked."""
    return [
        Document(
            text,
            name,
            find_sentences(text),
            mentions=tuple(
                Mention(*found.span(), "NAME")
                for found in re.finditer("|".join(map(re.escape, NAMES)), text)
            ),
            questions=tuple(
                Question(
                    words,
                    f"{name}-{number}",
                    None if answers is None else tuple(map(Answer, answers)),
                )
                for number, (words, answers) in enumerate(ASKED[name])
            ),
        )
        for name, text in TEXTS.items()
    ]


def corpus_file(folder: Path) -> str:
    path = folder / "corpus.jsonl"
    formats.write(documents(), path)
    return str(path)


def far_apart(model: torch.nn.Module) -> None:
    """Weights under which no two scores are alike."""
    with torch.random.fork_rng():
        torch.manual_seed(11)
        for name, weights in model.named_parameters():
            if "embeddings" not in name and ("Norm" not in name and "norm" not in name):
                torch.nn.init.normal_(weights, std=0.3 if weights.dim() > 1 else 0.1)
    model.double().eval()
