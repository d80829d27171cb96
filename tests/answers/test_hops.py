"""Questions taken apart into hops."""

import pytest

from factloom.answers.hops import MOST_HOPS, SAME_WAY_BACK, readings


@pytest.mark.parametrize(
    ("phrase", "reading"),
    [
        ("where was X born", ("where was X born",)),
        ("where did the founder of X study", ("founder of X", "where did X study")),
        ("who is X 's father", ("father of X",)),
        ("where was X 's mother born", ("mother of X", "where was X born")),
        (
            "what is the capital of the country where X was born",
            ("country where X was born", "capital of X"),
        ),
        ("who founded the company X works for", ("company X works for", "who founded X")),
        (
            "who acted in the movies directed by the director of X",
            ("director of X", "movies directed by X", "who acted in X"),
        ),
        (
            "the films that share directors with X were in which genres",
            ("directors of X", SAME_WAY_BACK, "X were in which genres"),
        ),
        ("which films have the same director as X", ("director of X", SAME_WAY_BACK)),
        ("what are the languages in X directed films", ("films directed by X", "languages in X")),
        ("where is X", ("where is X",)),
        ("who co-wrote films with X", ("which films did X wrote", SAME_WAY_BACK)),
        ("X starred together with whom", ("what did X starred", SAME_WAY_BACK)),
        ("who acted in the same film as X", ("which film did X acted", SAME_WAY_BACK)),
        ("where was the X director born", ("director of X", "where was X born")),
        ("where were the actors in X born", ("actors of X", "where were X born")),
    ],
)
def test_the_right_reading_is_among_those_given(phrase: str, reading: tuple[str, ...]) -> None:
    assert reading in readings(phrase)


def test_no_reading_has_more_hops_than_allowed() -> None:
    nested = "who is the father of the mother of the wife of the brother of the son of X"
    assert max(map(len, readings(nested))) == MOST_HOPS


def test_a_question_that_asks_nothing_of_x_has_no_reading() -> None:
    assert readings("who is X") == []
