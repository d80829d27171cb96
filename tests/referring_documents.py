"""Texts whose pronouns and nominals are marked, in words that the tiny encoder has."""

from pathlib import Path
from typing import TYPE_CHECKING

from factloom import formats
from factloom.document import Document

if TYPE_CHECKING:
    from factloom.models.joint import Joint

ENGLISH = """
=== letter-1
[Mara Velden|PER mara] was born in [Torvik|LOC torvik].
{She|mara} founded [Quillmark Ltd|ORG quill] in [1956|TIME y].
{The company|quill} has {its|quill} headquarters in [Ashmere|LOC ash]; {it|-} stands before.
--
mara | place of birth | torvik | 1
quill | founded by | mara | 1 2
quill | headquarters location | ash | 2 3
not mara | place of birth | ash | 3 | other
=== letter-2
{She|mara} was born in [Norvania|LOC norvania].
[Mara|PER mara] studied at [Halden College|ORG halden].
The college was founded in [1931|TIME y].
{It|halden} has {its|halden} headquarters in [Torvik|LOC torvik].
--
mara | place of birth | norvania | 1
mara | educated at | halden | 2
halden | inception | y | 3
halden | headquarters location | torvik | 4
=== letter-3
[Ashmere Company|ORG ash] has {its|ash} headquarters in [Norvania|LOC norvania].
{The company|ash} was founded by [Velden|PER velden]; {he|velden} was born in [Halden|LOC halden].
It is a company, and the company has one token.
--
ash | headquarters location | norvania | 1
ash | founded by | velden | 1 2
velden | place of birth | halden | 2
"""

CHINESE = """
=== 信-1
[马云|PER ma]出生于[杭州|LOC hangzhou]。
{他|ma}于杭州出生，{该公司|-}于[云州|LOC yun]。
--
ma | place of birth | hangzhou | 1
=== 信-2
[杭马公司|ORG hang]于[云州|LOC yun]，{该公司|hang}出生于{其|hang}杭州。
{该公司|hang}于[马州|LOC ma]。
--
hang | headquarters location | yun | 1
"""


def referring_documents(folder: Path, text: str = ENGLISH) -> list[Document]:
    file = folder / "letters.loom"
    file.write_text(text, encoding="utf-8")
    return list(formats.read(file))


def learned(model: "Joint", documents: list[Document], steps: int = 150) -> "Joint":
    """The model when it knows the documents by heart."""
    import torch

    batch = model.collate(model.prepare(documents))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    return model.eval()
