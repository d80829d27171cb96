"""Answers of readers that go several steps or read documents whole, with proofs and paths."""

from collections.abc import Sequence
from typing import Any

from factloom.answers.text_questions import whole_texts
from factloom.document import Document
from factloom.models.answer_decisions import FoundSpan

TEXTS = (
    "Quillmark is a company. It was founded by Mara Velden.",
    "Mara Velden was an engineer. She studied at Halden College. It lies in Torvik.",
)


class Walker:
    """Finds what it is told to."""

    threshold, temperature = 0.0, 1.0

    def __init__(self, *spans: FoundSpan) -> None:
        self.spans = list(spans)

    def ask(self, question: str, documents: Sequence[Document], *, top: int) -> list[FoundSpan]:  # noqa: ARG002
        assert [document.text for document in documents] == list(TEXTS)
        return self.spans[:top]


def told(margin: float = 2.0, **more: Any) -> FoundSpan:
    start = TEXTS[1].index("Halden")
    return FoundSpan(1, 0, start, start + 14, margin, margin, **more)


def answers(*spans: FoundSpan) -> Any:
    documents = [Document(text, name) for text, name in zip(TEXTS, "ab", strict=True)]
    return whole_texts(documents, Walker(*spans), None).answers("Where did she study?")


def test_the_path_is_told_and_every_clue_proves() -> None:
    founded = TEXTS[0].index("It was")
    (found,) = answers(told(support=((0, founded, len(TEXTS[0])),), path="Quillmark → Mara"))
    assert (found.text, found.kind) == ("Halden College", "span")
    assert found.explanation == "read in b; Quillmark → Mara"
    assert [(proof.document, proof.sentence, proof.start) for proof in found.evidence] == [
        ("b", "She studied at Halden College.", 29),
        ("a", "It was founded by Mara Velden.", founded),
    ]


def test_yes_and_no_are_told_with_what_they_rest_on() -> None:
    (found,) = answers(told(word="no"))
    assert (found.text, found.kind) == ("no", "yes/no")
    assert found.evidence[0].sentence == "She studied at Halden College."


def test_what_is_too_unsure_is_not_told() -> None:
    (none,) = answers(told(margin=-1.0))
    assert none.kind == "none"
    assert "Halden College" in none.explanation
    assert answers() == []
