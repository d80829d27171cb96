"""Documents as a table of pandas, and as a graph of networkx."""

import sys
from typing import Any

import pytest

import factloom
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError

NAMES = {"P19": "born in"}


def born(text: str, **fields: Any) -> Document:
    end = len(text)
    return Document(
        text,
        sentences=(Sentence(0, end),),
        mentions=(Mention(0, 11, "PER"), Mention(end - 4, end, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P19", score=0.5, evidence=(0,)),),
        **fields,
    )


DOCUMENTS = [born("Mara Velden came from Oslo", id="a"), born("Mara Velden left Oslo", id="b")]


class Pandas:
    """Stands in for the library, which the tests do without."""

    @staticmethod
    def DataFrame(rows: list[Any], columns: tuple[str, ...]) -> list[dict[str, Any]]:  # noqa: N802
        return [dict(zip(columns, row, strict=True)) for row in rows]


def test_a_table_has_a_row_for_every_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    rows = factloom.to_dataframe(iter(DOCUMENTS), NAMES)
    assert rows[1] == {
        "document": "b",
        "head": "Mara Velden",
        "head_type": "PER",
        "relation": "P19",
        "relation_name": "born in",
        "tail": "Oslo",
        "tail_type": "LOC",
        "score": 0.5,
        "evidence": ("Mara Velden left Oslo",),
    }
    assert factloom.to_dataframe(DOCUMENTS[0])[0]["relation_name"] == "P19"


def test_a_graph_has_a_node_for_every_thing_and_an_edge_for_every_fact() -> None:
    pytest.importorskip("networkx")
    graph = factloom.to_networkx(iter(DOCUMENTS), NAMES)
    names = {data["name"]: node for node, data in graph.nodes(data=True)}
    assert sorted(names) == ["Mara Velden", "Oslo"]
    edges = list(graph.edges(data=True))
    assert {edge[:2] for edge in edges} == {(names["Mara Velden"], names["Oslo"])}
    assert [(edge[2]["document"], edge[2]["name"]) for edge in edges] == [
        ("a", "born in"),
        ("b", "born in"),
    ]
    assert edges[1][2]["evidence"] == ("Mara Velden left Oslo",)


def test_documents_of_one_name_stay_apart() -> None:
    pytest.importorskip("networkx")
    graph = factloom.to_networkx([document.replace(id="x") for document in DOCUMENTS])
    assert len({data["document"] for *_, data in graph.edges(data=True)}) == 2
    assert factloom.to_networkx(DOCUMENTS[0]).number_of_edges() == 1


@pytest.mark.parametrize(
    ("convert", "library"), [("to_dataframe", "pandas"), ("to_networkx", "networkx")]
)
def test_a_library_that_lacks_is_told(
    convert: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=f"pip install {library}"):
        getattr(factloom, convert)([])


def test_other_names_are_unknown_to_the_package() -> None:
    with pytest.raises(AttributeError, match="to_nothing"):
        _ = factloom.to_nothing  # type: ignore[attr-defined]
