"""BERT-MRC as the paper writes it, in float64 and plain loops: token by token, span by span.

Nothing here is taken from the model but its weights and settings. The encoder is the Hugging
Face class, run on one question and one sentence at a time; scores are made for all of its tokens
and for all pairs of them, and only then is looked up which of them are words of the text.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import BertModel

from factloom.document import Document, Mention
from factloom.models.mrc import Mrc
from factloom.text.shapes import Case, Digits, Signs, shape
from factloom.text.shapes import Place as WordPlace
from factloom.text.shapes import places as word_places


@dataclass
class Naive:
    """What the formulas give for one question about one sentence; words counted from 0."""

    type: str
    words: list[tuple[int, int]]  # characters of the document
    starts: list[float] = field(default_factory=list)  # logits
    ends: list[float] = field(default_factory=list)
    spans: dict[tuple[int, int], float] = field(default_factory=dict)  # all with first <= last


@torch.no_grad()
def mrc_by_loops(model: Mrc, document: Document) -> Iterator[Naive]:
    """Sentence by sentence, and for each type by type."""
    backbone = model.encoder.backbone
    reference = BertModel(backbone.config, add_pooling_layer=False).double().eval()
    reference.set_attn_implementation("eager")
    reference.load_state_dict(backbone.state_dict())
    for sentence in document.sentences:
        text = document.text[sentence.start : sentence.end]
        words = [(start - sentence.start, end - sentence.start) for start, end in sentence.tokens]
        for name in model.types:
            pair = model.encoder.tokenizer(
                model.settings.questions[name], text, return_tensors="pt"
            )
            states = reference(
                inputs_embeds=_embedded(model, reference, pair, text, words)[None],
                token_type_ids=pair["token_type_ids"],
            ).last_hidden_state[0]
            places = [
                tuple(pair.char_to_token(at, sequence_index=1) for at in (start, end - 1))
                for start, end in words
            ]
            yield _scores(model, Naive(name, list(sentence.tokens)), list(states), places)


def _embedded(
    model: Mrc, reference: BertModel, pair: Any, text: str, words: list[tuple[int, int]]
) -> Tensor:
    """The embedding of each token, with the shapes of its word where it is one of the text."""
    embedded = [reference.embeddings.word_embeddings.weight[id_] for id_ in pair["input_ids"][0]]
    names = [text[start:end] for start, end in words]
    for token, owner in enumerate(pair.sequence_ids(0)):
        if owner != 1 or model.shape is None:
            continue
        start, end = pair.token_to_chars(token)
        word = next(n for n, (first, last) in enumerate(words) if first <= start < last)
        found = [*shape(names[word]), word_places(names)[word], shape(text[start:end])[0]]
        before = 0
        for number, kind in zip(found, (Case, Digits, Signs, WordPlace, Case), strict=True):
            embedded[token] = embedded[token] + model.shape.weight[:, before + number]
            before += len(kind)
    return torch.stack(embedded)


def _scores(model: Mrc, naive: Naive, states: list[Tensor], places: list[tuple[int, int]]) -> Naive:
    scores = model.scores
    starts = [_linear(scores.start.weight, scores.start.bias, state)[0] for state in states]
    ends = [_linear(scores.end.weight, scores.end.bias, state)[0] for state in states]
    naive.starts = [starts[first] for first, _ in places]
    naive.ends = [ends[last] for _, last in places]
    joined = torch.cat([scores.first_part.weight, scores.last_part.weight], 1)
    for i, (first, _) in enumerate(places):
        for j, (_, last) in enumerate(places):
            if i <= j:
                both = torch.cat([states[first], states[last]])
                hidden = [_gelu(number) for number in _linear(joined, scores.first_part.bias, both)]
                whole = torch.tensor(hidden, dtype=torch.float64)
                naive.spans[i, j] = _linear(scores.span.weight, scores.span.bias, whole)[0]
    return naive


def _linear(weight: Tensor, bias: Tensor, state: Tensor) -> list[float]:
    return [float(row @ state) + float(b) for row, b in zip(weight, bias, strict=True)]


def _gelu(number: float) -> float:
    return number * 0.5 * (1 + math.erf(number / math.sqrt(2)))


def sigmoid(number: float) -> float:
    return 1 / (1 + math.exp(-number))


def cross_entropy(logit: float, label: bool) -> float:
    return -math.log(sigmoid(logit) if label else 1 - sigmoid(logit))


def names_by_loops(model: Mrc, document: Document) -> list[Mention]:
    """Every span of every sentence is looked at, however unlikely its edges are."""
    settings = model.settings
    found = []
    for naive in mrc_by_loops(model, document):
        for (i, j), logit in naive.spans.items():
            if settings.longest_span is not None and j - i + 1 > settings.longest_span:
                continue
            if sigmoid(naive.starts[i]) <= settings.start_threshold:
                continue
            if sigmoid(naive.ends[j]) <= settings.end_threshold:
                continue
            if sigmoid(logit) > settings.span_threshold:
                score = sigmoid(logit / float(model.temperature))
                found.append(Mention(naive.words[i][0], naive.words[j][1], naive.type, score))
    return sorted(found, key=lambda mention: (mention.start, -mention.end, mention.type))
