"""What CogQA concludes from a cognitive graph, told with its places and the path that led there."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from factloom.answers.cognitive_graph import CognitiveGraph, Node
from factloom.answers.titled_texts import Library, TitledText
from factloom.document import Span
from factloom.models.answer_decisions import FoundSpan

_SHOWN = 5  # words of a text without a title


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A node that may answer a question, or a yes or no about two nodes."""

    node: int
    margin: float  # over "no answer"
    logit: float  # of its probability
    compared: tuple[int, ...] = ()  # the nodes that were
    word: str = ""  # yes or no, which is no name


def span_of(conclusion: Conclusion, graph: CognitiveGraph, library: Library) -> FoundSpan:
    """Where the answer stands, the sentences that prove it, and the path."""
    text, (start, end) = _place(graph.nodes[conclusion.node], library)
    used = conclusion.compared or tuple(graph.path_to(conclusion.node))
    support = [
        (proof.document, proof.start + first, proof.start + last)
        for proof, (first, last) in _proofs(used, conclusion, graph, library)
    ]
    return FoundSpan(
        document=text.document,
        question=0,
        start=text.start + start,
        end=text.start + end,
        margin=conclusion.margin,
        logit=conclusion.logit,
        support=tuple(dict.fromkeys(support)),
        path=_path(used, conclusion, graph, library),
        word=conclusion.word,
    )


def _path(
    used: tuple[int, ...], conclusion: Conclusion, graph: CognitiveGraph, library: Library
) -> str:
    """The nodes in words, with the relation in between where a fact has led on."""
    names = [_told(graph.nodes[node], library) for node in used]
    if conclusion.compared:
        return " / ".join(names)
    relations = [graph.relations.get(edge) for edge in pairwise(used)]
    between = [f" — {relation} → " if relation else " → " for relation in relations]
    return "".join(part for pair in zip(names, [*between, ""], strict=True) for part in pair)


def _place(node: Node, library: Library) -> tuple[TitledText, Span]:
    """Where its name is said first: in another text, else in its own, where that is the title."""
    if node.place is not None:
        return library.texts[node.place[0]], node.place[1]
    assert node.text is not None  # the graph began with it
    text = library.texts[node.text]
    return text, text.sentences[0]


def _proofs(
    used: tuple[int, ...], conclusion: Conclusion, graph: CognitiveGraph, library: Library
) -> Iterator[tuple[TitledText, Span]]:
    """The clues on the way; of texts that are compared, the first sentence behind the title."""
    for number in used:
        node = graph.nodes[number]
        if conclusion.compared and node.text is not None:
            text = library.texts[node.text]
            yield text, text.sentences[min(1, len(text.sentences) - 1)]
        elif not conclusion.compared:
            for origin, sentence in node.sources:
                if any(graph.nodes[other].text == origin for other in used):
                    yield library.texts[origin], sentence


def _told(node: Node, library: Library) -> str:
    """The name, or how the text begins."""
    if node.name:
        return node.name
    assert node.text is not None
    words = library.texts[node.text].text.split()
    return f'"{" ".join(words[:_SHOWN])} ..."'
