"""Spans of texts, and of the windows that hold them."""

import torch

from factloom.modules.text_spans import TextSpans, spans_in_windows

STATES = torch.arange(2 * 5 * 3, dtype=torch.float).view(2, 5, 3)
SPANS = TextSpans(torch.tensor([0, 0, 1]), torch.tensor([1, 0, 4]), torch.tensor([2, 3, 4]))


def test_ends_and_tokens_are_those_of_a_loop() -> None:
    tokens, counts = SPANS.tokens(STATES)
    for span in range(3):
        text, first, last = (int(part[span]) for part in (SPANS.text, SPANS.first, SPANS.last))
        ends = torch.cat([STATES[text, first], STATES[text, last]])
        assert torch.equal(SPANS.ends(STATES)[span], ends)
        assert torch.equal(tokens[span][counts[span]], STATES[text, first : last + 1])


def test_places_count_the_spans_of_each_text_that_has_some() -> None:
    spans = TextSpans(torch.tensor([1, 1, 3]), torch.zeros(3).long(), torch.zeros(3).long())
    row, place = spans.places()
    assert (row.tolist(), place.tolist()) == ([0, 0, 1], [0, 1, 0])


def test_a_span_is_found_in_every_window_that_holds_it_whole() -> None:
    # one document of the slots 0 to 6 in two windows, another one in the third
    slots = torch.tensor([[0, 1, 2, 3, 6], [0, 3, 4, 5, 6], [0, 1, 2, 7, 7]])
    document, first, last = torch.tensor([[0, 0, 0, 1], [1, 3, 2, 1], [3, 3, 4, 2]])
    spans, which = spans_in_windows(document, first, last, torch.tensor([0, 0, 1]), slots)
    found = torch.stack([which, spans.text, spans.first, spans.last], 1).tolist()
    assert sorted(map(tuple, found)) == [(0, 0, 1, 3), (1, 0, 3, 3), (1, 1, 1, 1), (3, 2, 1, 2)]


def test_no_spans() -> None:
    none = torch.zeros(0, dtype=torch.long)
    spans, which = spans_in_windows(none, none, none, torch.tensor([0]), torch.tensor([[0, 1]]))
    assert len(spans) == len(which) == 0
