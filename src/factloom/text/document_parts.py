"""Parts of documents as documents of their own: short texts to learn from.

Annotated documents have several sentences, and what people paste has often one. A part keeps what
can be read in it: a relation whose evidence lies inside still holds; of a pair whose relation was
proved elsewhere, or by nothing that is known, the part may or may not say so: it is unknown.

    1 Ada Brook lives in Oslo.  2 She founded Quillmark.  3 Quillmark has an office in Oslo.

    sentence 1          residence holds, for 1 proves it
    sentences 2 to 3    what Quillmark is to Oslo holds; Ada Brook has no name there
"""

import dataclasses
import random
from collections.abc import Iterable, Sequence

from factloom.document import Document, Relation, Sentence


def part_of(document: Document, first: int, last: int) -> Document:
    """The sentences from `first` to before `last`, and what is known of them.

    A mention that reaches over the border is left out, and so are entities without a mention.
    """
    start, end = document.sentences[first].start, document.sentences[last - 1].end
    inside = [i for i, m in enumerate(document.mentions) if start <= m.start and m.end <= end]
    kept = document.keeping(inside)
    proved = [relation for relation in kept.relations if _lies_within(relation, first, last)]
    denied = [relation for relation in kept.denied if _lies_within(relation, first, last)]
    open_pairs = {
        (relation.head, relation.tail)
        for relation in (*kept.relations, *kept.denied)
        if not _lies_within(relation, first, last)
    }
    return kept.replace(
        text=document.text[start:end],
        id=f"{document.id} sentences {first} to {last - 1}",
        sentences=tuple(_moved(s, -start) for s in document.sentences[first:last]),
        mentions=tuple(
            dataclasses.replace(m, start=m.start - start, end=m.end - start) for m in kept.mentions
        ),
        relations=_renumbered(proved, first),
        denied=_renumbered(denied, first),
        unknown=tuple(sorted({*kept.unknown, *open_pairs})),
        questions=(),
    )


def random_parts(
    documents: Iterable[Document], count: int, most_sentences: int, seed: int
) -> list[Document]:
    """`count` parts of every document that is longer, each of one to `most_sentences` sentences.

    Parts in which nothing is named are left out.
    """
    chance = random.Random(seed)
    found = []
    for document in documents:
        if len(document.sentences) <= most_sentences:
            continue
        for _ in range(count):
            length = chance.randint(1, most_sentences)
            first = chance.randint(0, len(document.sentences) - length)
            part = part_of(document, first, first + length)
            if part.entities:
                found.append(part)
    return list({part.id: part for part in found}.values())  # each once


def _lies_within(relation: Relation, first: int, last: int) -> bool:
    return bool(relation.evidence) and all(first <= s < last for s in relation.evidence)


def _renumbered(relations: Sequence[Relation], first: int) -> tuple[Relation, ...]:
    return tuple(
        dataclasses.replace(r, evidence=tuple(sentence - first for sentence in r.evidence))
        for r in relations
    )


def _moved(sentence: Sentence, distance: int) -> Sentence:
    tokens = tuple((start + distance, end + distance) for start, end in sentence.tokens)
    return Sentence(sentence.start + distance, sentence.end + distance, tokens)
