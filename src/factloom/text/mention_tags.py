"""The tags of a document's words, by its mentions."""

from collections.abc import Sequence

from factloom.document import Document, Sentence
from factloom.text.covered import Covered
from factloom.text.tags import (
    UNKNOWN_TAG,
    UNKNOWN_TYPE,
    Scheme,
    TypedSpan,
    tags_of,
    without_overlap,
)
from factloom.text.tokens import mention_tokens


def sentence_tags(
    document: Document, sentences: Sequence[Sentence], scheme: Scheme
) -> list[list[str]]:
    """The tags of each sentence; of overlapping mentions the longest counts.

    Words in a mention of `UNKNOWN_TYPE`, which may reach over sentences, have `UNKNOWN_TAG`, and so
    have all words of mentions that share a word with it. `sentences` are those of
    `tokenised_sentences`.
    """
    spans: list[list[TypedSpan]] = [[] for _ in sentences]
    for index, mention in enumerate(document.mentions):
        if mention.type != UNKNOWN_TYPE:
            sentence, start, end = mention_tokens(document, index, sentences)
            spans[sentence].append(TypedSpan(start, end, mention.type))
    unknown = Covered((m.start, m.end) for m in document.mentions if m.type == UNKNOWN_TYPE)
    return [
        _tags(found, [unknown.touches(*token) for token in sentence.tokens], scheme)
        for sentence, found in zip(sentences, spans, strict=True)
    ]


def _tags(spans: Sequence[TypedSpan], unknown: Sequence[bool], scheme: Scheme) -> list[str]:
    lost = [span for span in spans if any(unknown[span.start : span.end])]
    kept = [span for span in spans if span not in lost]
    tags = tags_of(without_overlap(kept), len(unknown), scheme)
    doubtful = {word for span in lost for word in range(span.start, span.end)}
    return [
        UNKNOWN_TAG if nothing or word in doubtful else tag
        for word, (tag, nothing) in enumerate(zip(tags, unknown, strict=True))
    ]
