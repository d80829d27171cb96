"""A walk from text to text that facts of a store lead on."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from company_graph import fill

from factloom.answers.asking import Ask
from factloom.answers.cog_answers import Conclusion, span_of
from factloom.answers.cognitive_graph import Thought, grow
from factloom.answers.fact_hops import FACTS, FactHops
from factloom.answers.known_graph import StoreGraph
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found
from factloom.answers.text_questions import TextAnswers
from factloom.answers.titled_texts import Library, places_of, titled_texts
from factloom.document import Document
from factloom.graph.store import Store
from factloom.models.answer_decisions import FoundSpan

QUESTION = "Where did the founder of Quillmark study?"


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactHops]:
    with Store.read(fill(tmp_path_factory.mktemp("hops") / "store")) as store:
        yield FactHops(StoreGraph(store))


class Torvik:
    """A System 1 that points to no name, and to Halden College where a text says it."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.asked: list[tuple[str, str]] = []

    def __call__(self, texts: Sequence[tuple[int, str]]) -> list[Thought]:
        self.asked += [(self.library.texts[number].text, clues) for number, clues in texts]
        found = [places_of("Halden College", self.library.texts[each].text) for each, _ in texts]
        return [Thought([], places) for places in found]


def test_a_fact_is_seen_from_both_ends_with_the_sentence_that_states_it(facts: FactHops) -> None:
    (hop,) = [hop for hop in facts.of("Quillmark") if hop.name == "Mara Velden"]
    assert (hop.relation, hop.proof.sentence) == ("founded by", "Quillmark founded by Mara Velden.")
    back = facts.of("Mara Velden")
    assert hop.proof in [one.proof for one in back if one.name == "Quillmark"]
    assert len(back) <= FACTS
    assert facts.of("Moonforge") == []


def test_a_walk_goes_on_where_only_a_fact_leads(facts: FactHops) -> None:
    sentences = [passage.text for passage in facts.passages(QUESTION)]
    assert "Mara Velden educated at Halden College." in sentences  # two facts away
    library = Library(titled_texts(map(Document, sentences)))
    starts = library.likest("nothing like it", 1)
    without = grow(library, starts, Torvik(library), 40)
    read = Torvik(library)
    graph = grow(library, starts, read, 40, facts, facts.names_in(QUESTION))
    assert len(graph.nodes) > len(without.nodes)
    names = [node.name for node in graph.nodes]
    answer = names.index("Halden College")
    told = span_of(Conclusion(answer, 1.0, 1.0), graph, library)
    assert "founded by" in told.path
    assert told.path.endswith("Halden College")
    assert any("Quillmark founded by Mara Velden." in clues for _, clues in read.asked)


class Walker:
    """A reader that says whether it was given facts, and what it read."""

    walks, threshold, temperature = True, 0.0, 1.0

    def ask(
        self, question: str, texts: Sequence[Document], *, top: int, facts: FactHops | None = None
    ) -> list[FoundSpan]:
        self.given = (question, [text.text for text in texts], top, facts)
        return []


class OnePassage:
    def search(self, question: str, top: int = 20) -> list[Found]:  # noqa: ARG002
        text = "A word before. Quillmark founded by Mara Velden."
        return [Found(Passage("company.txt", 0, len(text), text), 1.0)]


def test_sentences_of_facts_are_read_beside_the_passages_that_do_not_hold_them(
    facts: FactHops,
) -> None:
    reader = Walker()
    passages, _ = TextAnswers(OnePassage(), reader, facts=facts).read(QUESTION)
    _, texts, _, given = reader.given
    assert given is facts
    assert texts == [passage.text for passage in passages]
    assert sum("founded by Mara Velden" in text for text in texts if "Quillmark" in text) == 1
    stored = facts.graph
    assert isinstance(stored, StoreGraph)
    for passage in passages[1:]:
        text = stored.store.document(passage.document).text
        assert text[passage.start : passage.end] == passage.text
    TextAnswers(OnePassage(), reader).read(QUESTION)
    assert reader.given[3] is None


def test_a_store_that_is_asked_gives_its_facts_to_a_reader_that_walks(tmp_path: Path) -> None:
    reader = Walker()
    with Store.read(fill(tmp_path / "store")) as store:
        asking = Ask(
            store, encoder=None, reading=lambda: (cast(Any, reader), None), retriever=OnePassage
        )
        assert not asking("What colour is Quillmark?")
    assert reader.given[3] is not None
