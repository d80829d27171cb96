"""Documents as one property graph."""

from export_documents import BIRTH, RELATION_NAMES, STUDIES, document

from factloom.graph.exports.merged import Edge, merged_graph


def test_an_entity_of_two_documents_is_one_node_with_both_documents() -> None:
    with merged_graph(iter([BIRTH, STUDIES]), RELATION_NAMES, None) as graph:
        nodes = {node.name: node for node in graph.nodes}
        edges = list(graph.edges())
    assert set(nodes) == {"Mara Velden", "Torvik", '"Halden; College"'}
    assert nodes["Mara Velden"].documents == ("birth.txt", "studies.txt")
    assert edges == [
        Edge(
            head=nodes["Mara Velden"].id,
            tail=nodes["Torvik"].id,
            relation="P19",
            name="place of birth",
            score=0.75,
            document="birth.txt",
            sentence_indices=(0,),
            evidence=("Mara Velden was born in Torvik.",),
        ),
        Edge(
            head=nodes["Mara Velden"].id,
            tail=nodes['"Halden; College"'].id,
            relation="P69",
            name="educated at",
            score=None,
            document="studies.txt",
            sentence_indices=(0,),
            evidence=('Mara Velden studied at "Halden; College".',),
        ),
    ]


def test_a_node_is_called_as_most_documents_call_it() -> None:
    spellings = {"a": "The Ashmere Museum", "b": "Ashmere Museum", "c": "Ashmere Museum"}
    documents = [
        document(identifier, f"We saw {name}.", {name: "ORG"})
        for identifier, name in spellings.items()
    ]
    with merged_graph(documents, {}, None) as graph:
        [node] = graph.nodes
    assert node.name == "Ashmere Museum"
    assert node.aliases == ("The Ashmere Museum",)


def test_a_relation_without_words_keeps_its_id_as_name() -> None:
    with merged_graph([BIRTH], {}, None) as graph:
        assert [edge.name for edge in graph.edges()] == ["P19"]


def test_the_documents_can_be_read_again_and_again() -> None:
    with merged_graph(iter([BIRTH, STUDIES]), {}, None) as graph:
        assert list(graph.documents()) == [BIRTH, STUDIES]
        assert list(graph.documents()) == [BIRTH, STUDIES]
