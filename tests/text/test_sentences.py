from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factloom.text.sentences import split_sentences

searched = settings(deadline=None)
texts = st.text("abAB1 \t\n\u3000.!?…。！？；\"')”」(“「e.g,马云", max_size=60)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@searched
@given(texts | st.text(max_size=40))
def test_sentences_stand_in_order_and_hold_every_character_but_white_space_once(text: str) -> None:
    found = split_sentences(text)
    assert all(end <= start for (_, end), (start, _) in pairwise(found))
    covered = [index for start, end in found for index in range(start, end)]
    assert {index for index, sign in enumerate(text) if not sign.isspace()} <= set(covered)
    for start, end in found:
        assert start < end
        assert not text[start].isspace()
        assert not text[end - 1].isspace()


@searched
@given(texts, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=4))
def test_no_sentence_ends_inside_a_span_that_is_kept_whole(
    text: str, spans: list[tuple[int, int]]
) -> None:
    whole = [(start, min(start + length, len(text))) for start, length in spans]
    whole = [(start, end) for start, end in whole if start < end]
    found = split_sentences(text, whole=whole)
    for start, end in whole:
        touched = [span for span in found if span[0] < end and span[1] > start]
        assert len(touched) <= 1


@searched
@given(texts, st.integers(0, 60))
def test_a_sentence_begins_at_a_given_break(text: str, place: int) -> None:
    for start, end in split_sentences(text, breaks=[min(place, len(text))]):
        assert not start < place < end


@pytest.mark.parametrize(
    "expected",
    [
        # abbreviations and initials
        ["Dr. A. B. Smith of the U.S. Army met Mr. Brown.", "He left."],
        ["It is 3.5 km to St. Louis.", "Go."],
        ["He works at Apple Inc. in Ohio."],
        ["He works at Apple Inc.", "The company is large."],
        ["We met at 3 p.m.", "The talk was short."],
        ["We used e.g. mice (see Fig. 2).", "Rats were not used."],
        ["William P. Carey left."],
        ["See No. 5 and p. 12.", "He said no.", "Then he left."],
        ["The paper by Jones et al. 2011 is old."],
        ["J. R. R. Tolkien and J.R.R. Smith met H. G. Wells.", "Wells left."],
        ["U.S. President Ada Brown spoke.", "She left the U.S.", "It rained."],
        ["Apple Inc. CEO Tim Brown met Acme Corp. and Bolt Ltd. of Ohio."],
        ["Martin Luther King Jr. Day is in Jan. or Feb. 2020.", "We met in May.", "Ada left."],
        ["He is a sales rep.", "Mary is in the U.K. Parliament.", "The cat sat.", "Bo fell ill."],
        ["Lt. Gen. Ada Brown, Maj. Bo and DR. Who live in Springfield, Ill. near St. Anne."],
        ["It opens at 5 p.m. Monday and at 6 a.m. GMT.", "We left at 7 p.m.", "Ada stayed."],
        ["Rue du Petit-Lion-St. Sauveur is near.", "They sell pens, ink, etc.", "Ada buys ink."],
        ["Roe vs. Wade, op. 27, vol. 3, cf. Smith, ca. 1900.", "Vitamin C.", "The end."],
        # names with marks, addresses, numbers
        ["Bo (a.k.a. Robert Brown), tel. +64 4 555 0142, is here.", "Call him."],
        ["Yahoo! Inc. bought it.", "Who wrote Jeopardy! and what is Yahoo! now?", "Ada."],
        [
            "Write to a.b@c.org.",
            "See www.a.org/b?c=d.",
            "See https://a.org/b.html?x=1&y=2. for it.",
        ],
        ["Pi is 3.14.", "Version 2.0.1 costs $5.", "He paid 1.000,50 euros.", "2001 was good."],
        # quotes and brackets behind the end
        ['"Really?" he asked.', '"Yes!"', "She left."],
        ["(It did.)", "So it was (really).", "“Good.”", "Next."],
        ["Wait... what?", "No!"],
        ["Wait...", "The end."],
        ["Wait …", "What?!", "No?!", "Well . . . yes . . .", "So it is."],
        ["He said, 'It is late.'", "Then: “Go (now!).”", "[It was.]", "«Oui.»", "She left."],
        ['She sang "Who Are You?" and "Help!" there.', '"I am here," he said.', "Gone."],
        # science
        ["OBJECTIVE: p53 was high.", "mRNA fell.", "5 mg were given."],
        # tokenised text
        ["He is an actor .", "He had a role in 2000 ."],
        ['He said : " It is late . "', '" Go ! " she cried .', '" No . "', "She left ."],
        ["He lived in Rome , Paris , etc. , and sang Charro ! , a song .", "“ Good . ”", "Next ."],
    ],
)
def test_english_rules(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["他说：“你好！”", "她笑了。", "今天天气好吗？", "好；", "走吧。", "（见图。）", "完"],
        ["他在3.5公里外。", "OK?", "好。"],
        ["GPT-4很好!", "我喜欢。"],
        ["“真的吗？！”", "他问。", "《三国》很长……很好！！！", "（完。）", "『是。』", "她笑了。"],
        ['他说："你好。"', "她走了。", '"再见。"', "他答。"],
        ["J. R. R. Tolkien著《魔戒》。", "网址是www.a.cn/b.html。", "1.5米、10.2%。", "第3章。"],
    ],
)
@pytest.mark.parametrize("space", ["", "\u3000"])
def test_chinese_rules(expected: list[str], space: str) -> None:
    assert sentences(space.join(expected)) == expected


def test_blank_lines_and_line_ends_are_boundaries() -> None:
    text = "A Title\nby Somebody\n\n1. First thing\n2. Second thing\n  \nthe end"
    expected = ["A Title\nby Somebody", "1. First thing", "2. Second thing", "the end"]
    assert sentences(text) == expected


def test_wrapped_lines_are_no_boundaries() -> None:
    text = (
        "The sentence goes on for a while until the editor broke the line before\n"
        "Paris, a city that lies on the river Seine, somewhere in the north of\n"
        "France. Then it ends."
    )
    assert sentences(text) == [text[: text.index(" Then")], "Then it ends."]


def test_lines_as_wide_as_wrapped_ones_go_on_too() -> None:
    wrapped = (
        "The sentence goes on for a while until the editor broke the line before\n"
        "Paris, a city that lies on the river Seine, somewhere in the north of\n"
        "France."
    )
    headed = (
        "Heading\nAnother sentence that an editor has broken, this time in front of\n"
        "London. It ends."
    )
    alone = "Members of\nParliament:\nAda,\nBo"
    assert sentences(f"{wrapped}\n\n{headed}\n\n{alone}") == [
        wrapped,
        "Heading",
        headed[8 : headed.index(" It")],
        "It ends.",
        "Members of\nParliament:",
        "Ada,\nBo",
    ]


def test_headings_bullets_and_numbers_begin_lines() -> None:
    lines = [
        "Members",
        "• Ada Brown",
        "• bo",
        "- Cy",
        "* di",
        "a) one",
        "(b) Two",
        "1. Three. ",
        "2) Four",
    ]
    expected = [*lines[:-2], "1. Three.", "2) Four"]
    assert sentences("\n".join(lines)) == expected


def test_windows_line_ends_are_line_ends() -> None:
    assert sentences("One\r\n\r\nTwo\r\nThree") == ["One", "Two", "Three"]


@pytest.mark.parametrize(
    "text",
    [
        "Ada Brown is the head of the\nUnited Mills.",
        "Ada,\nBo\nCy",
        f"{'wide ' * 12}\n{'wide ' * 9}wide\nNarrow.\n\n{'x' * 46} x\nY.",
    ],
)
def test_windows_line_ends_cut_no_other_sentences_than_others(text: str) -> None:
    expected = [sentence.replace("\n", "\r\n") for sentence in sentences(text)]
    assert sentences(text.replace("\n", "\r\n")) == expected
