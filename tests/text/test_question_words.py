"""Forms of questions."""

import pytest

from factloom.text.question_words import form_of, question_language


@pytest.mark.parametrize(
    ("question", "asks", "wanted"),
    [
        ("Who founded Quillmark?", "one", {"PER", "ORG"}),
        ("Where was she born?", "one", {"LOC", "ORG"}),
        ("When did it open?", "one", {"TIME"}),
        ("In which year did it open?", "one", {"TIME"}),
        ("Which companies are in Torvik?", "list", {"ORG", "MISC"}),
        ("Who are the parents of Ada?", "list", {"PER", "ORG"}),
        ("How many children has she?", "count", {"PER"}),
        ("Was Ada born in Torvik?", "yes/no", set()),
        ("What is it?", "one", set()),
        ("What were the release years of it?", "list", {"TIME"}),
        ("What is the capital of it?", "one", set()),
    ],
)
def test_the_form_of_a_question(question: str, asks: str, wanted: set[str]) -> None:
    form = form_of(question)
    assert (form.asks, form.wanted) == (asks, wanted)


def test_types_of_the_users_own_are_always_allowed() -> None:
    form = form_of("Who is it?")
    assert form.allows("PERSON")
    assert form.allows("GENE")
    assert not form.allows("DATE")


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer gründete Quillmark?", "de"),
        ("Où est née Mara Velden ?", "fr"),
        ("¿Dónde nació Mara Velden?", "es"),
        ("Who founded Où?", None),
        ("Mara Velden", None),
        ("Who is Van de Velden?", None),
    ],
)
def test_the_language_of_a_question_that_is_not_english(
    question: str, language: str | None
) -> None:
    assert question_language(question) == language
