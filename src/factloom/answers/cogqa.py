"""CogQA: walking from text to text to an answer, and reasoning over what was found on the way.

Ding, Zhou, Chen, Yang, Tang: Cognitive Graph for Multi-Hop Reading Comprehension at Scale, ACL
2019, arXiv 1905.05460.

    System 1   reads [CLS] question clues [SEP] text [SEP] and points to names of next hops and to
               candidates of the answer: the best K starts that are better than that of [CLS], each
               with its best end, at most `longest` words and inside one sentence. The state of
               [CLS] in a layer below the top is the text's vector
    graph      cognitive_graph.py: it grows until there is nothing more to read
    System 2   layers of modules/graph_layer.py over all nodes, then
               special    softmax over nodes of a net of two layers, with 0 for "no node"
               either     which of two texts: a net of two layers on the difference of their nodes
               yes/no     the same, another net

    L = mean over questions of (System 1 + System 2)
    System 1   mean over texts of the cross-entropies of starts and ends with the gold spans, or
               with [CLS] where a text has none, once for hops and once for answers
    System 2   cross-entropy of the right node, or of the decision

The systems are trained apart: no gradient of System 2 reaches System 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt
from torch import Tensor, nn

from factloom.answers.cog_answers import Conclusion, span_of
from factloom.answers.cog_batch import CogBatch, make_batch
from factloom.answers.cog_questions import (
    CogQuestion,
    cog_questions,
    leaf_reading,
    question_kind,
    starting_texts,
    text_reading,
)
from factloom.answers.cognitive_graph import CognitiveGraph, Thought, grow
from factloom.answers.fact_hops import FactHops
from factloom.answers.titled_texts import Library, name_words, titled_texts
from factloom.document import Document, Question
from factloom.encoders.between_layers import changed_after, layer_count
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts import asked_questions
from factloom.layouts.asked_questions import AskedQuestion, QuestionBatch
from factloom.layouts.batching import Budget, batches
from factloom.models import storage
from factloom.models.answer_decisions import FoundSpan, TriedAnswer, answered, fit_decisions
from factloom.modules.calibration import log_odds
from factloom.modules.evaluating import evaluating
from factloom.modules.graph_layer import GraphLayer
from factloom.modules.pooling import segment_logsumexp
from factloom.modules.span_search import pointed_spans
from factloom.modules.windows import merge_states
from factloom.text.other_passages import with_other_passages

_TOKENS = 4096  # that are read at once, with padding
_NEVER = -1e9  # the logit of padding


class CogQaSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hops: PositiveInt = Field(3, description="Most names of next hops that a text gives.")
    candidates: PositiveInt = Field(3, description="Most candidates of the answer of a text.")
    longest_answer: PositiveInt = Field(10, description="Most words of a name or an answer.")
    most_nodes: PositiveInt = Field(40, description="The graph grows no larger.")
    graph_layers: NonNegativeInt = Field(2, description="Layers of System 2.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the words' states.")


@dataclass(frozen=True, slots=True)
class CogQaOutput:
    """What a training step needs."""

    loss: Tensor  # ()


class CogQa(nn.Module):
    """Answers to questions that take several texts, with the path from text to text.

    >>> model = CogQa(Encoder.load("all-MiniLM-L6-v2"))  # doctest: +SKIP
    """

    task: ClassVar[str] = "answers"
    walks: ClassVar[bool] = True  # over facts, where `ask` is given them
    temperature: Tensor  # of the answers' scores; this and the next are fitted on dev
    threshold: Tensor  # the least margin of an answer over none
    no_answer_temperature: Tensor

    def __init__(self, encoder: Encoder, settings: CogQaSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or CogQaSettings()
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.dropout = nn.Dropout(self.settings.dropout)
        width = encoder.width
        self.pointers = nn.Linear(width, 4, bias=False)  # starts and ends of hops, of answers
        self.reasoning = nn.ModuleList(GraphLayer(width) for _ in range(self.settings.graph_layers))
        self.node, self.either, self.yes_no = (_net(width) for _ in range(3))
        self.register_buffer("temperature", torch.ones(()))
        self.register_buffer("threshold", torch.zeros(()))
        self.register_buffer("no_answer_temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: CogQaSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model; the documents have to hold something to learn."""
        if not any(question.answers for document in documents for question in document.questions):
            raise ModelError("no-answers-to-learn")
        return cls(encoder, settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[CogQuestion]:
        """What is read of each question's texts, and the gold graph, once."""
        return [asked for found in documents for asked in cog_questions(found, self.encoder)]

    def collate(self, examples: Sequence[CogQuestion]) -> CogBatch:
        return make_batch(examples, self.encoder)

    def forward(self, batch: CogBatch) -> CogQaOutput:
        """The loss is the mean over the questions of which something is known."""
        pointed, vectors = self._read(batch.readings)
        pointer, row, first, last = batch.spans.unbind(1)
        chances = pointed.log_softmax(-1)
        right = chances[2 * pointer, row, first] + chances[2 * pointer + 1, row, last]  # (spans,)
        reading = -(batch.shares.to(right) * right).sum() / 2
        states = self._reason(vectors.detach(), batch.edges)
        loss = reading + self._node_loss(states, batch) + self._pair_loss(states, batch)
        return CogQaOutput(loss / max(batch.weight, 1))

    def _read(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]:
        """(4, rows, columns) starts and ends of hops and of answers, and (rows, width) vectors."""
        kept: list[Tensor] = []

        def keep(states: Tensor) -> Tensor:
            kept.append(states)
            return states

        below_the_top = max(1, layer_count(self.encoder.backbone) - 2)
        with changed_after(self.encoder.backbone, below_the_top, keep):
            states = self.encoder.states(batch.windows).flatten(0, 1)  # (rows x length, width)
        scores = self.pointers(self.dropout(states)).unbind(1)  # (rows x length,) four times
        edges = (batch.first, batch.last) * 2
        pointed = torch.stack([each[edge] for each, edge in zip(scores, edges, strict=True)])
        vectors = merge_states(kept[0], batch.windows).flatten(0, 1)[batch.first[:, 0]]
        return pointed.masked_fill(~batch.inside, _NEVER), vectors

    def _reason(self, states: Tensor, edges: Tensor) -> Tensor:
        """System 2's states of all nodes: (nodes, width)"""
        for layer in self.reasoning:
            states = layer(states, edges)
        return states

    def _node_loss(self, states: Tensor, batch: CogBatch) -> Tensor:
        """The sum over questions of -log P(right node), 0 standing for none of them."""
        scores = self.node(states)[:, 0]  # (rows,)
        questions = int(batch.owner.max()) + 1
        none = torch.arange(questions, device=scores.device)
        together = torch.cat([scores, scores.new_zeros(questions)])[:, None]
        total = segment_logsumexp(together, torch.cat([batch.owner, none]), questions)[:, 0]
        right = torch.where(batch.target >= 0, scores[batch.target.clamp(min=0)], 0.0)
        return (total[batch.asked] - right).sum()

    def _pair_loss(self, states: Tensor, batch: CogBatch) -> Tensor:
        """The sum over comparisons of -log P(right decision)."""
        one, other = states[batch.pairs].unbind(1)
        logits = self._compared(one - other, batch.yes_no)
        target = batch.first.to(logits)
        return F.binary_cross_entropy_with_logits(logits, target, reduction="sum")

    def _compared(self, difference: Tensor, yes_no: Tensor) -> Tensor:
        """(pairs, width), bool (pairs,) -> logits (pairs,) of yes, or of the first node."""
        return torch.where(yes_no, self.yes_no(difference)[:, 0], self.either(difference)[:, 0])

    # --- prediction ----------------------------------------------------------------------------

    def predict(
        self, documents: Iterable[Document], *, batch_tokens: int = _TOKENS
    ) -> list[Document]:
        """The documents with the best answer to each question, or none.

        Evidence are the sentence of the answer and the clues on the way to it.
        """
        bare = [document.without_answers() for document in documents]
        return [
            document.replace(
                questions=tuple(
                    answered(self, document, question, self._best(document, question, batch_tokens))
                    for question in document.questions
                )
            )
            for document in bare
        ]

    def _best(self, document: Document, question: Question, tokens: int) -> FoundSpan | None:
        return next(iter(self.ask(question.text, [document], batch_tokens=tokens)), None)

    def ask(
        self,
        question: str,
        documents: Sequence[Document],
        *,
        top: int = 1,
        batch_tokens: int = _TOKENS,
        facts: FactHops | None = None,
    ) -> list[FoundSpan]:
        """The best `top` answers to one question in all documents, each with its path.

        With facts of a graph the path may lead over those that a sentence of the documents states.
        """
        library = Library(titled_texts(documents))
        if not library.texts:
            return []
        with evaluating(self):
            graph, states = self._explore(question, library, batch_tokens, facts)
            concluded = self._conclude(question, library, graph, states)
        return [span_of(found, graph, library) for found in concluded[:top]]

    @torch.inference_mode()
    def _explore(
        self, question: str, library: Library, batch_tokens: int, facts: FactHops | None = None
    ) -> tuple[CognitiveGraph, Tensor]:
        """The graph of a question, and System 2's states of its nodes."""

        def read(texts: Sequence[tuple[int, str]]) -> list[Thought]:
            asked = [
                text_reading(question, clues, library.texts[number], self.encoder)
                for number, clues in texts
            ]
            return self._think(asked, batch_tokens)

        starts = starting_texts(question, library)
        named = [] if facts is None else facts.names_in(question)
        graph = grow(library, starts, read, self.settings.most_nodes, facts, named)
        leaves = [node for node in graph.nodes if node.vector is None]
        readings = [
            leaf_reading(question, library.texts[number], span, self.encoder)
            for number, span in (node.place for node in leaves if node.place is not None)
        ]
        for node, thought in zip(leaves, self._think(readings, batch_tokens), strict=True):
            node.vector = thought.vector
        vectors = torch.stack([node.vector for node in graph.nodes])
        edges = torch.tensor(graph.edges, dtype=torch.long, device=vectors.device).view(-1, 2)
        return graph, self._reason(vectors, edges)

    def _think(self, readings: Sequence[AskedQuestion], batch_tokens: int) -> list[Thought]:
        """What System 1 makes of each text."""
        found: dict[int, Thought] = {}
        numbered = {id(asked): number for number, asked in enumerate(readings)}
        for group in batches(readings, Budget(documents=len(readings), tokens=batch_tokens)):
            rows = asked_questions.make_batch(group, self.encoder, first_answer=False)
            batch = rows.to(self.temperature.device)
            pointed, vectors = self._read(batch)
            hops = self._pointed(pointed[:2], batch, group, self.settings.hops)
            answers = self._pointed(pointed[2:], batch, group, self.settings.candidates)
            for row, asked in enumerate(group):
                found[numbered[id(asked)]] = Thought(hops[row], answers[row], vectors[row])
        return [found[number] for number in range(len(readings))]

    def _pointed(
        self, pointed: Tensor, batch: QuestionBatch, group: Sequence[AskedQuestion], top: int
    ) -> list[list[tuple[int, int]]]:
        """The characters of what starts and ends (2, rows, columns) point to, the best first."""
        if pointed.shape[-1] == 1:  # no text has a word
            return [[] for _ in group]
        starts, ends = pointed[..., 1:].masked_fill(~batch.inside[:, 1:], -torch.inf)
        longest = self.settings.longest_answer
        spans = pointed_spans(starts, ends, pointed[0, :, 0], batch.reach, longest, top)
        return [
            [
                (int(asked.words[first, 0]), int(asked.words[last, 1]))
                for first, last, better in zip(*(part[row].tolist() for part in spans), strict=True)
                if better
            ]
            for row, asked in enumerate(group)
        ]

    @torch.inference_mode()
    def _conclude(
        self, question: str, library: Library, graph: CognitiveGraph, states: Tensor
    ) -> list[Conclusion]:
        """What may be the answer, the likeliest first."""
        kind = question_kind(question, library.named_in(question))
        if kind != "special":
            return self._decided(kind == "yes/no", states)
        scores = self.node(states)[:, 0].double()  # (nodes,)
        total = torch.cat([scores, scores.new_zeros(1)]).logsumexp(0)
        said = f" {name_words(question)} "
        words = [name_words(node.name) for node in graph.nodes]
        possible = [number for number, name in enumerate(words) if name and f" {name} " not in said]
        return [
            Conclusion(number, float(scores[number]), log_odds(float(scores[number] - total)))
            for number in sorted(possible, key=lambda number: -float(scores[number]))
        ]

    def _decided(self, yes_no: bool, states: Tensor) -> list[Conclusion]:
        """Yes or no about the first two nodes, or which of them, the likeliest first."""
        asked = torch.tensor([yes_no], device=states.device)
        logit = float(self._compared((states[0] - states[1])[None], asked))
        size, better = abs(logit), int(logit <= 0)
        if yes_no:
            return [Conclusion(0, size, size, (0, 1), "no" if better else "yes")]
        chances = ((better, size), (1 - better, -size))
        return [Conclusion(node, margin, margin, (0, 1)) for node, margin in chances]

    # --- calibration ---------------------------------------------------------------------------

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set threshold and temperatures by documents that were not trained on."""
        asked = [question for document in documents for question in document.questions]
        if not any(question.answers == () for question in asked):
            documents = with_other_passages(documents, 1)
        tried = [
            TriedAnswer.of(best, document.text, question.answers)
            for document in documents
            for question in document.questions
            if question.answers is not None and (best := self._best(document, question, _TOKENS))
        ]
        return fit_decisions(self, tried) if tried else {}

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, CogQaSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def _net(width: int) -> nn.Sequential:
    """Of two layers, with one number in the end."""
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))


MODEL, SETTINGS = CogQa, CogQaSettings
