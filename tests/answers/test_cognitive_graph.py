"""A cognitive graph grows from text to text, with a System 1 made by hand."""

from collections.abc import Sequence

from factloom.answers.cog_answers import Conclusion, span_of
from factloom.answers.cognitive_graph import CognitiveGraph, Thought, grow
from factloom.answers.titled_texts import Library, name_words, places_of, titled_texts
from factloom.document import Document
from factloom.text.paragraphs import ATTRIBUTE, join_paragraphs, join_sentences

TEXTS = {
    "Quillmark": ["Quillmark is a company.", "It was founded by Mara Velden."],
    "Mara Velden (engineer)": ["Mara Velden studied at Halden College.", "She knew Ada."],
    "Halden College": ["Halden College lies in Torvik.", "Mara Velden left it."],
    "Ashmere": ["Ashmere is a town."],
}
HOPS = {
    "Quillmark": ["Mara Velden"],
    "Mara Velden (engineer)": ["Halden College", "Ada"],
    "Halden College": ["Mara Velden"],
}
ANSWERS = {"Halden College": ["Torvik"], "Mara Velden (engineer)": ["Halden College"]}


def document() -> Document:
    joined = join_paragraphs((title, *join_sentences(given)) for title, given in TEXTS.items())
    attributes = {ATTRIBUTE: list(joined.titles)}
    return Document(joined.text, "d", joined.sentences, attributes=attributes)


class System1:
    """Points to the names above, and remembers what it was asked to read."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.asked: list[tuple[str, str]] = []

    def __call__(self, texts: Sequence[tuple[int, str]]) -> list[Thought]:
        found = []
        for number, clues in texts:
            text = self.library.texts[number]
            self.asked.append((text.title, clues))
            body = text.sentences[0][1]
            hops, answers = (
                [
                    next(place for place in places_of(name, text.text) if place[0] >= body)
                    for name in table.get(text.title, ())
                ]
                for table in (HOPS, ANSWERS)
            )
            found.append(Thought(hops, answers, vector=(text.title, clues)))
        return found


def grown(most_nodes: int = 20) -> tuple[CognitiveGraph, Library, System1]:
    library = Library(titled_texts([document()]))
    read = System1(library)
    starts = library.named_in("Where did the founder of Quillmark study?")
    assert starts == [0]
    return grow(library, starts, read, most_nodes), library, read


def names(graph: CognitiveGraph) -> list[str]:
    return [node.name for node in graph.nodes]


def test_it_walks_from_clue_to_clue_and_reads_again_what_is_told_anew() -> None:
    graph, _, read = grown()
    assert names(graph) == ["Quillmark", "Mara Velden", "Halden College", "Ada", "Torvik"]
    assert graph.edges == [(0, 1), (1, 2), (1, 3), (2, 1), (2, 4)]
    founded, left = "It was founded by Mara Velden.", "Mara Velden left it."
    assert read.asked == [
        ("Quillmark", ""),
        ("Mara Velden (engineer)", founded),
        ("Halden College", "Mara Velden studied at Halden College."),
        ("Mara Velden (engineer)", f"{founded} {left}"),  # Halden College tells of her, too
    ]
    assert [node.candidate for node in graph.nodes] == [False, False, True, False, True]


def test_a_name_without_a_text_is_a_leaf() -> None:
    graph, _, _ = grown()
    assert [node.text for node in graph.nodes] == [0, 1, 2, None, None]


def test_it_ends_when_it_is_large_enough() -> None:
    graph, _, read = grown(most_nodes=2)
    assert names(graph) == ["Quillmark", "Mara Velden"]
    assert len(read.asked) == 2


def test_the_path_and_the_clues_are_told() -> None:
    graph, library, _ = grown()
    found = span_of(Conclusion(4, 1.5, 0.5), graph, library)
    text = document().text
    assert text[found.start : found.end] == "Torvik"
    assert found.path == "Quillmark → Mara Velden → Halden College → Torvik"
    assert [text[start:end] for _, start, end in found.support] == [
        "It was founded by Mara Velden.",
        "Mara Velden left it.",
        "Mara Velden studied at Halden College.",
        "Halden College lies in Torvik.",
    ]


def test_two_texts_are_compared_by_their_first_sentences() -> None:
    graph, library, _ = grown()
    found = span_of(Conclusion(0, 1.0, 1.0, (0, 2), "yes"), graph, library)
    text = document().text
    assert (found.word, found.path) == ("yes", "Quillmark / Halden College")
    assert [text[start:end] for _, start, end in found.support] == [
        "Quillmark is a company.",
        "Halden College lies in Torvik.",
    ]


def test_names_lead_to_titles_and_else_to_passages_that_say_them() -> None:
    library = Library(titled_texts([document(), Document("Ada was born in Torvik.", "a")]))
    assert library.find("mara velden", 0) == 1
    assert library.find("the Halden College", 0) == 2
    assert library.find("Ada", 0) == 4
    assert library.find("Ada", 4) is None
    assert library.find("Skarvik", 0) is None
    assert library.find("...", 0) is None
    assert library.named_in("Is Ashmere or Quillmark older?") == [3, 0]
    assert library.likest("Who was born?", 1) == [4]
    assert name_words("The Ouse (river), 2.") == "the ouse 2"
    assert places_of("Ada (poet)", "Adams met Ada, ada.") == [(10, 13), (15, 18)]
