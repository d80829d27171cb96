"""Tag schemes: reading as conlleval and seqeval count, writing, what may follow what."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.errors import InputError
from factloom.text.tags import (
    SCHEMES,
    UNKNOWN,
    UNKNOWN_TAG,
    Scheme,
    TypedSpan,
    allowed_transitions,
    find_scheme,
    parse_tag,
    spans_of,
    tag_names,
    tag_numbers,
    tags_of,
    without_overlap,
)


def test_tags_have_their_numbers_and_those_that_say_nothing_none() -> None:
    numbers = tag_numbers(tag_names(["PER"], "BIO"))
    assert numbers == {"O": 0, "B-PER": 1, "I-PER": 2, UNKNOWN_TAG: UNKNOWN}


ENDED = ("BIOES", "BMES", "BILOU")

# What seqeval 1.2.2 (default mode) and conlleval.pl give on sequences that no scheme allows.
TRICKY = [
    ("BIO", "I-PER I-PER O", "0-2 PER"),
    ("BIO", "O I-PER O I-PER", "1-2 PER, 3-4 PER"),
    ("BIO", "B-PER I-LOC I-LOC", "0-1 PER, 1-3 LOC"),
    ("BIO", "I-PER B-PER I-PER", "0-1 PER, 1-3 PER"),
    ("BIO", "B-PER B-PER", "0-1 PER, 1-2 PER"),
    ("BIO", "I-PER I-LOC I-PER", "0-1 PER, 1-2 LOC, 2-3 PER"),
    ("BIO", "B-PER I-PER B-LOC I-PER", "0-2 PER, 2-3 LOC, 3-4 PER"),
    ("IOB1", "I-PER I-PER B-PER I-LOC", "0-2 PER, 2-3 PER, 3-4 LOC"),
    ("IOB1", "B-PER I-PER O B-LOC", "0-2 PER, 3-4 LOC"),
    ("BIOES", "B-PER O", "0-1 PER"),
    ("BIOES", "B-PER I-PER B-PER E-PER", "0-2 PER, 2-4 PER"),
    ("BIOES", "E-PER", "0-1 PER"),
    ("BIOES", "O E-PER E-PER", "1-2 PER, 2-3 PER"),
    ("BIOES", "B-PER E-PER I-PER", "0-2 PER, 2-3 PER"),
    ("BIOES", "S-PER I-PER E-PER", "0-1 PER, 1-3 PER"),
    ("BIOES", "S-PER E-PER", "0-1 PER, 1-2 PER"),
    ("BIOES", "B-PER S-PER", "0-1 PER, 1-2 PER"),
    ("BIOES", "I-PER E-PER", "0-2 PER"),
    ("BIOES", "B-PER E-LOC", "0-1 PER, 1-2 LOC"),
    ("BIOES", "B-PER I-LOC E-PER", "0-1 PER, 1-2 LOC, 2-3 PER"),
    ("BIOES", "S-PER S-PER E-LOC I-LOC", "0-1 PER, 1-2 PER, 2-3 LOC, 3-4 LOC"),
    ("BMES", "M-PER E-PER M-PER", "0-2 PER, 2-3 PER"),
    ("BILOU", "I-PER L-PER L-PER U-LOC", "0-2 PER, 2-3 PER, 3-4 LOC"),
]


def typed(text: str) -> list[TypedSpan]:
    """ "0-2 PER, 3-4 LOC" as spans."""
    spans = []
    for part in filter(None, text.split(", ")):
        span, kind = part.split()
        start, end = span.split("-")
        spans.append(TypedSpan(int(start), int(end), kind))
    return spans


@pytest.mark.parametrize(("scheme", "tags", "expected"), TRICKY)
def test_illegal_sequences_count_as_in_conlleval(scheme: Scheme, tags: str, expected: str) -> None:
    assert spans_of(tags.split(), scheme) == typed(expected)


WRITTEN = {
    "BIO": "B-PER I-PER I-PER B-PER B-LOC I-LOC O B-LOC",
    "IOB1": "I-PER I-PER I-PER B-PER I-LOC I-LOC O I-LOC",
    "BIOES": "B-PER I-PER E-PER S-PER B-LOC E-LOC O S-LOC",
    "BMES": "B-PER M-PER E-PER S-PER B-LOC E-LOC O S-LOC",
    "BILOU": "B-PER I-PER L-PER U-PER B-LOC L-LOC O U-LOC",
}
SPANS = typed("0-3 PER, 3-4 PER, 4-6 LOC, 7-8 LOC")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_scheme_writes_its_own_letters(scheme: Scheme) -> None:
    assert tags_of(SPANS, 8, scheme) == WRITTEN[scheme].split()
    assert tags_of(reversed(SPANS), 8, scheme) == WRITTEN[scheme].split()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_scheme_is_found_by_its_letters(scheme: Scheme) -> None:
    assert find_scheme([["O"], WRITTEN[scheme].split()]) == scheme


def test_a_slip_does_not_make_bio_another_scheme() -> None:
    assert find_scheme([["O", "I-PER"], ["B-LOC", "I-LOC"]]) == "BIO"
    assert find_scheme([["O", "O"]]) == "BIO"


flat_spans = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(["PER", "LOC", "A-B"])),
    max_size=6,
)


@given(flat_spans, st.integers(0, 2), st.sampled_from(SCHEMES))
def test_what_is_written_is_read_back(
    parts: list[tuple[int, int, str]], rest: int, scheme: Scheme
) -> None:
    spans, position = [], 0
    for gap, width, kind in parts:
        spans.append(TypedSpan(position + gap, position + gap + width, kind))
        position += gap + width
    tags = tags_of(spans, position + rest, scheme)
    assert len(tags) == position + rest
    assert spans_of(tags, scheme) == spans
    assert is_allowed(tags, scheme)


def is_allowed(tags: list[str], scheme: Scheme) -> bool:
    """Whether the whole sequence is legal, by the table of transitions."""
    names = tag_names(["A-B", "LOC", "PER"], scheme)
    allowed = allowed_transitions(names, scheme)
    index = [names.index(tag) for tag in tags]
    if not index:
        return True
    return bool(
        allowed.start[index[0]]
        and allowed.end[index[-1]]
        and all(allowed.between[a, b] for a, b in itertools.pairwise(index))
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_allowed_sequences_are_exactly_those_that_spans_write(scheme: Scheme, length: int) -> None:
    # a sequence is legal if and only if it comes back from its own spans
    for tags in itertools.product(tag_names(["LOC", "PER"], scheme), repeat=length):
        came_back = tags_of(spans_of(tags, scheme), length, scheme)
        assert is_allowed(list(tags), scheme) == (came_back == list(tags)), tags


def test_tag_names_begin_with_outside() -> None:
    assert tag_names(["LOC"], "BIOES") == ["O", "B-LOC", "I-LOC", "E-LOC", "S-LOC"]
    assert tag_names([], "BIO") == ["O"]


def test_a_tag_without_type_is_read_as_seqeval_does() -> None:
    assert spans_of(["B", "I", "O"], "BIO") == [TypedSpan(0, 2, "_")]
    assert parse_tag("B-A-B", "BIO").type == "A-B"


@pytest.mark.parametrize(("tag", "scheme"), [("E-PER", "BIO"), ("PER", "BIO"), ("", "BMES")])
def test_a_letter_of_another_scheme_is_told(tag: str, scheme: Scheme) -> None:
    with pytest.raises(InputError) as caught:
        spans_of(["O", tag], scheme)
    assert caught.value.code == "unknown-tag"
    assert repr(tag) in str(caught.value)
    assert scheme in str(caught.value)


@pytest.mark.parametrize("spans", ["0-2 PER, 1-3 LOC", "1-1 PER", "3-5 PER", "2-1 PER"])
def test_spans_that_tags_cannot_hold_are_refused(spans: str) -> None:
    with pytest.raises(InputError) as caught:
        tags_of(typed(spans), 4, "BIO")
    assert caught.value.code == "span-not-flat"


def test_of_overlapping_spans_the_outermost_stay() -> None:
    nested = typed("0-1 PER, 0-4 ORG, 3-4 LOC, 5-6 LOC, 5-6 ORG, 7-9 A, 8-10 B")
    assert without_overlap(nested) == typed("0-4 ORG, 5-6 LOC, 7-9 A")
