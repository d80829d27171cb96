"""Word lists are read with clear errors; matches equal a search of every word at every place."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.errors import InputError, ModelError
from factloom.text.lexicon import Entry, Lexicon, Matcher, read_lexicon, read_word_list


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def found_by_search(words: list[str], tokens: list[str], shortest: int) -> list[tuple[int, ...]]:
    """All matches by trying every word on every stretch of tokens."""
    found = []
    for start in range(len(tokens)):
        for end in range(start + shortest, len(tokens) + 1):
            stretch = "".join(tokens[start:end])
            for index, word in enumerate(words):
                if stretch and "".join(word.split()) == stretch:
                    found.append((index, start, end))
    return found


# --- reading ---------------------------------------------------------------------------------


def test_plain_lines_are_words_also_with_spaces_in_them(tmp_path: Path) -> None:
    path = written(tmp_path / "words.txt", "南京\n\n  New York \r\n大桥")
    assert list(read_word_list(path)) == [Entry("南京"), Entry("New York"), Entry("大桥")]


def test_columns_are_type_and_frequency_or_one_of_both(tmp_path: Path) -> None:
    lines = ("南京\tLOC\t12", "大桥\t7", "阿里\tORG", "水\t\t3", "火\tX\t", "风\t", "雪\t3D")
    path = written(tmp_path / "words.tsv", "\n".join(lines))
    assert list(read_word_list(path)) == [
        Entry("南京", "LOC", 12),
        Entry("大桥", None, 7),
        Entry("阿里", "ORG", None),
        Entry("水", None, 3),
        Entry("火", "X", None),
        Entry("风"),
        Entry("雪", "3D"),
    ]


def test_spaces_around_tabs_and_old_line_ends_are_taken_as_in_thuocl(tmp_path: Path) -> None:
    path = written(tmp_path / "thuocl.txt", b"\xef\xbb\xbf" + "中国 \t 5\r北京\t4\r".encode())
    assert list(read_word_list(path)) == [Entry("中国", None, 5), Entry("北京", None, 4)]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("南京\tLOC\tmany", "lexicon-frequency", "'many'"),
        ("南京\tLOC\t-3", "lexicon-frequency", "'-3'"),
        ("南京\t-3", "lexicon-frequency", "'-3'"),
        ("南京\t3.5", "lexicon-frequency", "'3.5'"),
        ("南京\t.5", "lexicon-frequency", "'.5'"),
        ("南京\t1,200", "lexicon-frequency", "'1,200'"),
        ("南京\t1e5", "lexicon-frequency", "'1e5'"),
        ("\tLOC\t3", "lexicon-no-word", "tab"),
        ("南京\tLOC\t3\tmore", "lexicon-columns", "4 columns"),
    ],
)
def test_a_wrong_line_is_told_with_its_number(
    tmp_path: Path, line: str, code: str, said: str
) -> None:
    path = written(tmp_path / "words.tsv", f"大桥\n\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_lexicon([path])
    assert caught.value.code == code
    assert "words.tsv, line 3" in str(caught.value)
    assert said in str(caught.value)


def test_a_missing_file_and_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_lexicon([tmp_path / "none.txt"])
    assert caught.value.code == "file-missing"
    with pytest.raises(InputError) as caught:
        read_lexicon([written(tmp_path / "broken.txt", b"a\n\xff\n")])
    assert caught.value.code == "wrong-encoding"
    assert "line 2" in str(caught.value)


def test_a_folder_is_all_its_lists_and_the_first_entry_of_a_word_stays(tmp_path: Path) -> None:
    written(tmp_path / "b.txt", "南京\t9\n大桥\t1")
    written(tmp_path / "a.txt", "南京\t2\n")
    written(tmp_path / "README.md", "no words")
    lexicon = read_lexicon([tmp_path])
    assert lexicon == Lexicon((Entry("南京", None, 2), Entry("大桥", None, 1)))
    assert lexicon.words == ("南京", "大桥")
    assert len(lexicon) == 2


def test_a_folder_without_a_list_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_lexicon([tmp_path])
    assert caught.value.code == "lexicon-empty-folder"


def test_rare_words_can_be_left_out_but_not_those_without_a_frequency(tmp_path: Path) -> None:
    path = written(tmp_path / "words.txt", "一二\t5\n三四\t4\n五六\n")
    assert read_lexicon([path], least_frequency=5).words == ("一二", "五六")


def test_the_dictionary_of_jieba_is_read() -> None:
    lexicon = read_lexicon(["jieba"])
    assert len(lexicon) > 300_000
    assert {"中国", "长江大桥"} <= set(lexicon.words)
    assert all(entry.frequency is not None for entry in lexicon.entries)


def test_without_jieba_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"factloom\[lexicon\]") as caught:
        read_lexicon(["jieba"])
    assert caught.value.code == "jieba-missing"


# --- matching --------------------------------------------------------------------------------


def test_all_overlapping_words_are_found_in_order() -> None:
    words = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "桥"]
    found = Matcher(words).find("南京市长江大桥")
    assert [(words[w], a, b) for w, a, b in found.tolist()] == [
        ("南京", 0, 2),
        ("南京市", 0, 3),
        ("市长", 2, 4),
        ("长江", 3, 5),
        ("长江大桥", 3, 7),
        ("大桥", 5, 7),
        ("桥", 6, 7),
    ]


def test_positions_count_characters_also_outside_of_the_basic_plane() -> None:
    text = "😀𠮷野家😀家"
    found = Matcher(["𠮷野", "家"]).find(text)
    assert [text[a:b] for _, a, b in found.tolist()] == ["𠮷野", "家", "家"]
    assert found[:, 1].tolist() == [1, 3, 5]


def test_words_are_found_from_token_to_token_whatever_the_spaces() -> None:
    words = ["New York", "York", "ork", "Yorker"]
    found = Matcher(words).find(["New", "York", "er", "New", "Yorker"])
    assert [(words[w], a, b) for w, a, b in found.tolist()] == [
        ("New York", 0, 2),
        ("York", 1, 2),
        ("Yorker", 1, 3),
        ("Yorker", 4, 5),
    ]


@pytest.mark.parametrize("tokens", [[], [""], ["甲", "乙"]])
def test_nothing_is_found_where_nothing_is(tokens: list[str]) -> None:
    for words in ([], ["", " "], ["丙丁"]):
        assert Matcher(words).find(tokens).shape == (0, 3)


@given(
    st.lists(st.text("ab马𠮷 ", max_size=4), max_size=8),
    st.lists(st.text("ab马𠮷", max_size=3), max_size=12),
    st.integers(1, 3),
)
def test_matches_equal_a_search_of_every_word_at_every_place(
    words: list[str], tokens: list[str], shortest: int
) -> None:
    # an empty token has no place of its own: its borders are those of its neighbours
    tokens = [token for token in tokens if token]
    found = [tuple(match) for match in Matcher(words, shortest).find(tokens).tolist()]
    assert sorted(found) == sorted(found_by_search(words, tokens, shortest))
    assert found == sorted(found, key=lambda match: (match[1], match[2], match[0]))


@given(
    st.lists(st.text("ab马𠮷 ", max_size=4), max_size=8),
    st.lists(st.lists(st.text("ab马𠮷", min_size=1, max_size=3), max_size=6), max_size=5),
)
def test_many_sentences_have_the_matches_of_each_one(
    words: list[str], sentences: list[list[str]]
) -> None:
    matcher = Matcher(words)
    together = matcher.find_all(sentences)
    assert len(together) == len(sentences)
    for found, tokens in zip(together, sentences, strict=True):
        assert found.tolist() == matcher.find(tokens).tolist()
