import pytest

from factloom.text.scripts import main_script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Mara Velden (1931)", "Latin"),
        ("Zoë Łukasz", "Latin"),
        ("马云出生于杭州。", "Chinese"),
        ("Ада Лавлейс", "Cyrillic"),
        ("Ada met 马云 in Oslo", "Latin"),
        ("ab 马云", "Chinese"),
        ("abcdef 马云", None),
        ("1931, 1956!", None),
        ("", None),
    ],
)
def test_the_script_is_that_of_most_letters(text: str, script: str | None) -> None:
    assert main_script(text) == script


def test_the_beginning_of_a_long_text_decides() -> None:
    assert main_script("a" * 2_000 + "马" * 10_000) == "Latin"
