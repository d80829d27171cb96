"""Four documents of two sentences, each with a question that it answers."""

from factloom.document import Answer, Document, Question

TEXTS = {
    "Mara Velden was born in Torvik. She left in May.": ("Where was Mara Velden born?", "Torvik"),
    "Halden College was founded in 1956. It is old.": ("When was Halden College founded?", "1956"),
    "She studied in Ashmere, and left. Then she came.": ("Where did she study?", "Ashmere"),
    "The company is in Norvania. Its college is not.": ("Where is the company?", "Norvania"),
}
DOCUMENTS = [
    Document(
        text,
        f"d{number}",
        attributes={"title": "T"},
        questions=(Question(words, f"q{number}", (Answer(answer, text.index(answer)),)),),
    )
    for number, (text, (words, answer)) in enumerate(TEXTS.items())
]
