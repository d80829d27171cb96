"""Random valid contents for the property tests."""

from typing import Any, get_args

from hypothesis import settings
from hypothesis import strategies as st

from factloom.document import (
    Answer,
    Document,
    Entity,
    Mention,
    MentionKind,
    Question,
    Relation,
    Sentence,
)
from factloom.text.sentences import split_sentences
from factloom.text.tokens import join_tokens

# Wrong answers are looked for, not slow ones: a loaded machine must not fail a test.
searched = settings(deadline=None, max_examples=50)

# Small alphabets keep the search fast: what matters are quotes, escapes, spaces, separators,
# line ends that are none here, and characters of one to four bytes.
ODD_CHARACTERS = "ab \u00a0\u3000\t\n\r\u2028\0\"'\\/|:,;.[]{}$é马\U0001f600"
ODD_VALUES = (None, True, 0, -1, 1.5, 10**20, "", "a", [], {}, [None, {"a": [1]}], {"b": {}})

texts = st.text(ODD_CHARACTERS, max_size=5)
labels = st.text(ODD_CHARACTERS, min_size=1, max_size=3)
# Without the signs that the tab-separated formats use themselves.
plain_words = st.text("abcXYZ019.,-马云é", min_size=1, max_size=6)
any_words = plain_words | texts
json_values = st.sampled_from(ODD_VALUES)
scores = st.none() | st.floats(0, 1)


def attributes(*reserved: str) -> st.SearchStrategy[dict[str, Any]]:
    keys = texts.filter(lambda key: key not in reserved)
    return st.dictionaries(keys, json_values, max_size=2)


@st.composite
def docred_records(
    draw: st.DrawFn, words: st.SearchStrategy[str] = any_words, extra: bool = True
) -> dict[str, Any]:
    """A valid record: any tokens, names, mixed types, equal spans, absent keys, other keys."""
    sentences = draw(st.lists(st.lists(words, max_size=5), max_size=4))
    spans = [
        (number, start, end)
        for number, sentence in enumerate(sentences)
        for start in range(len(sentence))
        for end in range(start + 1, len(sentence) + 1)
        if " ".join(sentence[start:end])
    ]
    vertices = []
    if spans:
        mentions = st.sampled_from(spans).flatmap(lambda span: _mention(span, sentences, extra))
        vertices = draw(st.lists(st.lists(mentions, min_size=1, max_size=3), max_size=4))
    record = {
        "title": draw(labels),
        "sents": sentences,
        "vertexSet": vertices,
        **(draw(attributes("title", "sents", "vertexSet", "labels")) if extra else {}),
    }
    if draw(st.booleans()):
        record["labels"] = draw(_labels(len(vertices), len(sentences), extra))
    return record


@st.composite
def _mention(
    draw: st.DrawFn, span: tuple[int, int, int], sentences: list[list[str]], extra: bool
) -> dict[str, Any]:
    number, start, end = span
    mention = {"pos": [start, end], "sent_id": number, "type": draw(labels)}
    if extra:
        mention |= draw(attributes("pos", "sent_id", "type", "name"))
    name = draw(st.sampled_from(["the same", "another", "none"])) if extra else "the same"
    if name != "none":
        same = " ".join(sentences[number][start:end])
        mention["name"] = same if name == "the same" else draw(texts)
    return mention


@st.composite
def _labels(draw: st.DrawFn, entities: int, sentences: int, extra: bool) -> list[dict[str, Any]]:
    if not entities:
        return []
    index = st.integers(0, entities - 1)
    triples = draw(st.lists(st.tuples(index, index, labels), unique=True, max_size=4))
    found = []
    for head, tail, kind in triples:
        label: dict[str, Any] = {"h": head, "t": tail, "r": kind}
        if extra:
            label |= draw(attributes("h", "t", "r", "evidence"))
        if sentences and (not extra or draw(st.booleans())):
            label["evidence"] = draw(st.lists(st.integers(0, sentences - 1), max_size=3))
        found.append(label)
    return found


@st.composite
def documents(draw: st.DrawFn, text: st.SearchStrategy[str] | None = None) -> Document:
    """Any Document: scores, provenance, attributes, candidates, overlapping mentions."""
    content = draw(text or st.text(ODD_CHARACTERS, max_size=30))
    spans = st.tuples(st.integers(0, len(content)), st.integers(0, len(content)))
    found = []
    if content.strip():
        filled = spans.filter(lambda span: bool(content[slice(*span)].strip()))
        found = draw(st.lists(filled, max_size=5))
    mentions = tuple(
        Mention(
            *span,
            draw(labels),
            draw(scores),
            draw(st.none() | labels),
            draw(attributes()),
            draw(st.sampled_from(get_args(MentionKind))),
        )
        for span in found
    )
    sentences = tuple(Sentence(start, end) for start, end in split_sentences(content))
    groups: list[list[int]] = []
    if mentions:
        members = st.lists(st.integers(0, len(mentions) - 1), min_size=1, max_size=3)
        groups = draw(st.lists(members, max_size=4))
    entities = tuple(
        Entity(tuple(group), draw(labels), draw(st.none() | labels), draw(scores))
        for group in groups
    )
    relations = draw(_relations(len(entities), len(sentences)))
    stated = {(relation.head, relation.tail, relation.type) for relation in relations}
    denied = draw(_relations(len(entities), len(sentences)))
    return Document(
        text=content,
        id=draw(texts),
        sentences=sentences,
        mentions=mentions,
        entities=entities,
        relations=relations,
        candidates=draw(st.none() | _pairs(len(entities)).map(_candidates)),
        attributes=draw(attributes()),
        denied=tuple(r for r in denied if (r.head, r.tail, r.type) not in stated),
        annotated=draw(st.none() | st.lists(labels, max_size=2).map(tuple)),
        unknown=draw(_pairs(len(entities)).map(_candidates)),
        questions=tuple(draw(st.lists(_questions(content, len(sentences)), max_size=2))),
    )


@st.composite
def _questions(draw: st.DrawFn, text: str, sentences: int) -> Question:
    words = labels.filter(lambda word: bool(word.strip()))
    answers = st.builds(Answer, words, st.none(), scores, attributes())
    starts = [start for start, character in enumerate(text) if character.strip()]
    if starts:
        answers |= st.sampled_from(starts).flatmap(
            lambda start: st.builds(
                Answer,
                st.integers(start + 1, len(text)).map(lambda end: text[start:end]),
                st.just(start),
                scores,
            )
        )
    sentence = st.integers(0, max(sentences - 1, 0))
    return Question(
        draw(words),
        draw(texts),
        draw(st.none() | st.lists(answers, max_size=2).map(tuple)),
        tuple(draw(st.lists(sentence, max_size=2 if sentences else 0))),
        draw(scores),
        draw(attributes()),
    )


def _pairs(entities: int) -> st.SearchStrategy[tuple[tuple[int, int], ...]]:
    if not entities:
        return st.just(())
    index = st.integers(0, entities - 1)
    return st.lists(st.tuples(index, index), max_size=4).map(tuple)


def _candidates(pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple(dict.fromkeys((head, tail) for head, tail in pairs if head != tail))


@st.composite
def _relations(draw: st.DrawFn, entities: int, sentences: int) -> tuple[Relation, ...]:
    triples = dict.fromkeys((*pair, draw(labels)) for pair in draw(_pairs(entities)))
    sentence = st.integers(0, max(sentences - 1, 0))
    return tuple(
        Relation(
            *triple,
            score=draw(scores),
            evidence=tuple(draw(st.lists(sentence, max_size=2 if sentences else 0))),
            provenance=draw(attributes()),
            attributes=draw(attributes()),
        )
        for triple in triples
    )


@st.composite
def paired_documents(draw: st.DrawFn) -> Document:
    """A document of clean tokens, each of whose entities stands in a candidate pair."""
    words = draw(st.lists(st.lists(plain_words, min_size=1, max_size=4), min_size=1, max_size=3))
    text, sentences = join_tokens(words)
    spans = [
        (sentence.tokens[start][0], sentence.tokens[end][1])
        for sentence in sentences
        for start in range(len(sentence.tokens))
        for end in range(start, len(sentence.tokens))
    ]
    groups = draw(st.lists(st.lists(st.sampled_from(spans), min_size=1, max_size=3), max_size=4))
    if len(groups) == 1:
        groups = []
    mentions: list[Mention] = []
    entities: list[Entity] = []
    for number, group in enumerate(groups):
        kind = draw(plain_words)
        first = len(mentions)
        mentions.extend(Mention(start, end, kind) for start, end in group)
        entities.append(Entity(tuple(range(first, len(mentions))), kind, id=f"D{number}"))
    count = len(entities)
    pairs = tuple((h, t) for h in range(count) for t in range(count) if h != t)
    related = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    # In the order of the pairs, as they come back.
    relations = tuple(Relation(*pair, draw(plain_words)) for pair in sorted(related))
    relations = tuple(r for r in relations if r.type != "NR")
    document_id = draw(plain_words)
    return Document(
        text, document_id, sentences, tuple(mentions), tuple(entities), relations, pairs
    )


@st.composite
def described_documents(draw: st.DrawFn) -> Document:
    """A title and an abstract, whose entities have identifiers and stand in text order."""
    title, abstract = draw(plain_words), draw(plain_words | st.just(""))
    text = f"{title}\n{abstract}" if abstract else title
    spans = st.integers(0, len(text) - 1).flatmap(
        lambda start: st.tuples(st.just(start), st.integers(start + 1, len(text)))
    )
    identifiers = st.lists(st.sampled_from(["D1", "D2", "c|DEL||3", "4"]), unique=True, max_size=3)
    mentions: list[Mention] = []
    members: list[tuple[str | None, list[int]]] = []
    for span in draw(st.lists(spans, max_size=5)):
        if "\n" in text[slice(*span)]:
            continue
        named = draw(identifiers)
        # The spelling of several identifiers is kept as it was read.
        attributes = {"columns": [",".join(named)]} if len(named) > 1 else {}
        mentions.append(Mention(*span, draw(plain_words), attributes=attributes))
        index = len(mentions) - 1
        for identifier in named or [None]:
            known = [group for name, group in members if name == identifier and name is not None]
            if known:
                known[0].append(index)
            else:
                members.append((identifier, [index]))
    entities = tuple(Entity(tuple(m), mentions[m[0]].type, id=name) for name, m in members)
    usable = [index for index, entity in enumerate(entities) if entity.id is not None]
    relations: tuple[Relation, ...] = ()
    if usable:
        ends = st.sampled_from(usable)
        kinds = st.sampled_from(["CID", "Bind", "类"])
        triples = draw(st.lists(st.tuples(ends, ends, kinds), unique=True, max_size=3))
        relations = tuple(Relation(*triple) for triple in triples)
    document_id = draw(plain_words)
    return Document(text, document_id, (), tuple(mentions), entities, relations)
