"""The reader as BERT's paper writes it, in float64 and plain loops: word by word, span by span.

Nothing here is taken from the model but its weights and settings. The encoder is the Hugging Face
class, run on one question and one text at a time by the tokenizer's own pairs.
"""

import math
from dataclasses import dataclass

import torch
from transformers import BertModel

from factloom.document import Document, Question
from factloom.models.question_reading import LONGEST
from factloom.models.reader import Reader
from factloom.text.tokens import find_tokens


@dataclass
class Naive:
    """Scores of one question: number 0 is "no answer", the others are words."""

    words: list[tuple[int, int]]  # characters of the document
    starts: list[float]
    ends: list[float]
    longest: int

    def probability(self, start: int, end: int) -> float:
        """That an answer begins with one word and ends with another."""
        total_start = sum(math.exp(score) for score in self.starts)
        total_end = sum(math.exp(score) for score in self.ends)
        return math.exp(self.starts[start] + self.ends[end]) / total_start / total_end

    def best(self) -> tuple[int, int] | None:
        found, highest = None, -math.inf
        for i in range(1, len(self.starts)):
            for j in range(i, min(i + self.longest, len(self.ends))):
                if self.starts[i] + self.ends[j] > highest:
                    found, highest = (i, j), self.starts[i] + self.ends[j]
        return found


@torch.no_grad()
def reader_by_loops(model: Reader, document: Document, question: Question) -> Naive:
    backbone = model.encoder.backbone
    reference = BertModel(backbone.config, add_pooling_layer=False).double().eval()
    reference.set_attn_implementation("eager")
    reference.load_state_dict(backbone.state_dict())
    pair = model.encoder.tokenizer(question.text, document.text, return_tensors="pt")
    states = reference(
        input_ids=pair["input_ids"], token_type_ids=pair["token_type_ids"]
    ).last_hidden_state[0]
    start_weights, end_weights = model.edges.weight
    words = list(find_tokens(document.text, 0, len(document.text)))
    firsts = [0, *(pair.char_to_token(start, sequence_index=1) for start, _ in words)]
    lasts = [0, *(pair.char_to_token(end - 1, sequence_index=1) for _, end in words)]
    return Naive(
        words,
        [float(states[token] @ start_weights) for token in firsts],
        [float(states[token] @ end_weights) for token in lasts],
        model.settings.longest_answer or LONGEST,
    )


def gold_words(naive: Naive, question: Question) -> list[tuple[int, int]]:
    """The numbers of the first and the last word of each gold answer; (0, 0) for none."""
    found = []
    for answer in question.answers or ():
        start = answer.start
        assert start is not None
        held = [
            number
            for number, (first, last) in enumerate(naive.words, start=1)
            if first < start + len(answer.text) and last > start
        ]
        found.append((held[0], held[-1]))
    return found or [(0, 0)]
