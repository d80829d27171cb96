"""When a span read among many passages is an answer, and how likely it is right."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from factloom.answers.abstaining import (
    FILE,
    Decision,
    fit_decision,
    fit_logistic,
    read_decision,
    sigmoid,
    write_decision,
)
from factloom.errors import FactloomError
from factloom.models.answer_decisions import FoundSpan


def span(margin: float) -> FoundSpan:
    return FoundSpan(document=0, question=0, start=0, end=1, margin=margin, logit=0.0)


def test_the_chances_that_made_the_data_are_found_again() -> None:
    random = np.random.default_rng(0)
    margins = random.normal(0, 3, 20_000)
    right = random.random(20_000) < sigmoid(0.7 * margins - 1.2)
    slope, offset = fit_logistic(margins, right)
    assert slope == pytest.approx(0.7, abs=0.05)
    assert offset == pytest.approx(-1.2, abs=0.08)


def test_no_other_slope_and_offset_are_likelier() -> None:
    margins = np.array([-2.0, -1.0, 0.5, 1.0, 2.0, 4.0])
    right = np.array([False, True, False, True, True, True])

    def loss(slope: float, offset: float) -> float:
        chances = sigmoid(slope * margins + offset)
        fit = np.where(right, np.log(chances), np.log1p(-chances)).sum()
        return float(0.005 * (slope**2 + offset**2) - fit)

    best = loss(*fit_logistic(margins, right))
    grid = np.linspace(-4, 4, 161)
    assert best <= min(loss(slope, offset) for slope in grid for offset in grid) + 1e-12


@pytest.mark.parametrize("right", [[True] * 3, [False] * 3, [False, True, True]])
def test_numbers_are_finite_where_nothing_is_mixed(right: list[bool]) -> None:
    assert np.isfinite(fit_logistic([-1.0, 5.0, 30.0], right)).all()


def test_the_threshold_is_where_most_is_right() -> None:
    decision = fit_decision(
        margins=[5.0, 4.0, 1.0, 0.0],
        likeness=[1.0, 1.0, 0.0, 0.0],
        right=[True, True, False, False],
        has=[True, True, False, False],
    )
    assert decision.threshold == pytest.approx(2.5)
    assert decision.answers(span(4.0))
    assert not decision.answers(span(1.0))
    assert decision.score(span(5.0)) > 0.5 > decision.score(span(0.0))


def test_what_is_less_likely_right_than_asked_for_is_not_answered() -> None:
    decision = Decision(threshold=1.0, slope=0.5, offset=-2.0, questions=9)
    surer = decision.at_least(0.5)
    assert surer.score(span(surer.threshold)) == pytest.approx(0.5)
    assert decision.answers(span(3.9))
    assert not surer.answers(span(3.9))
    assert surer.answers(span(4.1))
    assert surer.at_least(0.2) == surer  # never less sure than before
    assert decision.at_least(0.0) == decision


def test_without_questions_nothing_can_be_chosen() -> None:
    with pytest.raises(FactloomError) as found:
        fit_decision([], [], [], [])
    assert found.value.code == "no-held-out-questions"


def test_a_decision_lies_beside_its_reader(tmp_path: Path) -> None:
    assert read_decision(tmp_path) is None
    decision = Decision(1.5, 0.4, -1.0, 200)
    write_decision(tmp_path, decision)
    assert read_decision(tmp_path) == decision


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"threshold": NaN}', '{"threshold": "x"}'])
def test_a_damaged_decision_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(FactloomError) as found:
        read_decision(tmp_path)
    assert found.value.code == "model-damaged"


def test_the_room_is_there_without_the_store() -> None:
    """Training, compressing and exporting read decisions where only factloom[train] is."""
    code = "import sys; sys.modules['pyoxigraph'] = None; import factloom.answers.abstaining"
    subprocess.run([sys.executable, "-c", code], check=True)
