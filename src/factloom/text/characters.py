"""Sentences of single characters, for models that read no larger tokens."""

from factloom.document import Document, Sentence, Span
from factloom.text.sentences import find_sentences
from factloom.text.tokens import name_spans, tokenised_sentences


def character_sentences(document: Document) -> tuple[Sentence, ...]:
    """The sentences with a token a character, white space left out.

    The source's own tokens are kept where there are some: a model trained on them wants them.
    """
    sentences = document.sentences or find_sentences(document.text, whole=name_spans(document))
    with_characters = tuple(
        sentence if sentence.tokens else _with_characters(document.text, sentence)
        for sentence in sentences
    )
    return tokenised_sentences(document.replace(sentences=with_characters))


def _with_characters(text: str, sentence: Sentence) -> Sentence:
    characters: tuple[Span, ...] = tuple(
        (offset, offset + 1)
        for offset in range(sentence.start, sentence.end)
        if not text[offset].isspace()
    )
    return Sentence(sentence.start, sentence.end, characters)
