"""Tokenised text: what is in it, that it is made once, and that memory does not grow."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from factloom import formats
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import InputError
from factloom.formats.gathering import Problem
from factloom.objectives import corpus as module
from factloom.objectives.corpus import NAME, NAMED, SENTENCE, WORD, Corpus, TextReading


@pytest.fixture(scope="module")
def encoder(tiny_encoder_path: Path) -> Encoder:
    return Encoder.load(str(tiny_encoder_path), overlap=0)


def build(path: Path, encoder: Encoder, folder: Path, **reading: object) -> Corpus:
    problems: list[Problem] = []
    settings = TextReading(**reading)  # type: ignore[arg-type]
    found = Corpus.build([str(path)], encoder, folder, settings, problems.append)
    assert not problems
    return found


def texts(folder: Path, *contents: str) -> Path:
    folder.mkdir()
    for number, content in enumerate(contents):
        (folder / f"{number}.txt").write_text(content, encoding="utf-8")
    return folder


def test_tokens_documents_words_and_sentences_are_those_of_the_texts(
    encoder: Encoder, tmp_path: Path
) -> None:
    contents = ("She was born in Torvik. She founded Quillmark!", "马云出生于杭州。")
    found = build(texts(tmp_path / "in", *contents), encoder, tmp_path / "out")
    tokens = [encoder.tokenize([content])[0].ids.tolist() for content in contents]
    assert found.ids.tolist() == [token for text in tokens for token in text]
    assert found.documents.tolist() == [0, len(tokens[0]), len(tokens[0]) + len(tokens[1])]
    names = np.array(encoder.tokenizer.convert_ids_to_tokens(found.ids.tolist()))
    first = found.marks[: len(tokens[0])]
    assert names[: len(first)][first & SENTENCE > 0].tolist() == ["she", "she"]
    begun = names[found.marks & WORD > 0]
    assert [name for name in begun if name.startswith("##")] == []
    assert begun.tolist()[:5] == ["she", "was", "born", "in", "torvik"]
    assert (found.marks[len(first) :] & WORD > 0).all()  # a character is a word by rule


def test_names_are_marked_from_end_to_end(
    encoder: Encoder, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write(profiles[:2], tmp_path / "some.jsonl")
    found = build(tmp_path / "some.jsonl", encoder, tmp_path / "out")
    for document, start in zip(profiles[:2], found.documents, strict=False):
        (tokens,) = encoder.tokenize([document.text])
        inside = np.zeros(len(tokens.ids), bool)
        for mention in document.mentions:  # the naive way
            inside |= (tokens.offsets[:, 0] >= mention.start) & (
                tokens.offsets[:, 1] <= mention.end
            )
        marks = found.marks[start : start + len(inside)]
        assert (marks & NAMED > 0).tolist() == inside.tolist()
        starts = {mention.start for mention in document.mentions}
        assert set(tokens.offsets[marks & NAME > 0, 0].tolist()) == starts


def test_chinese_words_are_those_of_jieba(encoder: Encoder, tmp_path: Path) -> None:
    pytest.importorskip("jieba")
    folder = texts(tmp_path / "in", "马云出生于杭州。")
    found = build(folder, encoder, tmp_path / "out", words="jieba")
    assert int((found.marks & WORD).sum()) < len(found.ids)


def test_a_corpus_is_made_once_and_again_when_its_files_change(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = texts(tmp_path / "in", "She was born in Torvik.")
    first = build(folder, encoder, tmp_path / "out")
    calls: list[object] = []
    write = module._write
    monkeypatch.setattr(module, "_write", lambda *a: (calls.append(a), write(*a))[1])
    again = build(folder, encoder, tmp_path / "out")
    assert again.fingerprint == first.fingerprint
    assert not calls
    (folder / "more.txt").write_text("She studied.")
    assert build(folder, encoder, tmp_path / "out").fingerprint != first.fingerprint
    assert len(calls) == 1
    build(folder, encoder, tmp_path / "out", division="line")
    assert len(calls) == 2


def test_an_unfinished_corpus_is_made_again(encoder: Encoder, tmp_path: Path) -> None:
    folder = texts(tmp_path / "in", "She was born in Torvik.")
    first = build(folder, encoder, tmp_path / "out")
    (tmp_path / "out" / "corpus.json").unlink()
    (tmp_path / "out" / "tokens.bin").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        Corpus.open(tmp_path / "out")
    assert caught.value.code == "no-corpus"
    assert build(folder, encoder, tmp_path / "out").ids.tolist() == first.ids.tolist()


def test_parts_of_a_long_document_are_one_document(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from factloom.formats import text_parts

    monkeypatch.setattr(text_parts, "_PART", 20)
    folder = texts(tmp_path / "in", "She was born in Torvik. " * 20, "She studied. " * 20)
    found = build(folder, encoder, tmp_path / "out")
    assert len(found.documents) == 3
    (whole,) = encoder.tokenize(["She was born in Torvik. " * 20])
    assert found.ids[: found.documents[1]].tolist() == whole.ids.tolist()


def test_memory_does_not_grow_with_the_text(encoder: Encoder, tmp_path: Path) -> None:
    line = "She was born in Torvik and studied at Halden College.\n"

    def peak(lines: int) -> int:
        path = tmp_path / f"{lines}.txt"
        path.write_text(line * lines)
        tracemalloc.start()
        build(path, encoder, tmp_path / str(lines))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = peak(20_000), peak(80_000)  # one and four megabytes
    assert large < 1.3 * small


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_no_text_is_an_error(content: str, encoder: Encoder, tmp_path: Path) -> None:
    folder = texts(tmp_path / "in", content)
    with pytest.raises(InputError) as caught:
        Corpus.build([str(folder)], encoder, tmp_path / "out", TextReading(), lambda _: None)
    assert caught.value.code == "nothing-to-learn"
