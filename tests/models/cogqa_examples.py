"""What the tests of CogQA share: questions about several paragraphs, one of each kind."""

from factloom.document import Answer, Document, Question
from factloom.text.paragraphs import ATTRIBUTE, join_paragraphs, join_sentences

TEXTS = {
    "Quillmark Ltd": ["Quillmark Ltd is a company.", "It was founded by Mara Velden in 1956."],
    "Mara Velden": ["Mara Velden was born in Torvik.", "She studied at Halden College."],
    "Halden College": ["Halden College was founded in 1931."],
    "Ashmere": ["Ashmere is before Norvania.", "It has a company."],
}


def asked(name: str, question: str, answer: str | None, *evidence: int) -> Document:
    """About the paragraphs above; sentence 0 is the title of the first."""
    joined = join_paragraphs((title, *join_sentences(given)) for title, given in TEXTS.items())
    answers = () if answer is None else (Answer(answer),)
    return Document(
        joined.text,
        name,
        joined.sentences,
        questions=(Question(question, name, answers, evidence),),
        attributes={ATTRIBUTE: list(joined.titles)},
    )


COGNITIVE = [
    asked("bridge", "Where was the founder of Quillmark Ltd born?", "Torvik", 2, 4),
    asked("title", "Who founded Quillmark Ltd?", "Mara Velden", 2),
    asked("either", "Which is a company, Quillmark Ltd or Ashmere?", "Quillmark Ltd", 1, 9),
    asked("yes", "Are Quillmark Ltd and Ashmere a company?", "no", 1, 9),
    asked("none", "Which marker stands before Norvania?", None),
]
