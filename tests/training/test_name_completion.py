"""Names are added to documents that state facts of names."""

from factloom.document import Document, Entity, Mention, Relation
from factloom.training.name_completion import complete_names, worth_completing


def document(
    text: str, relations: tuple[Relation, ...], kinds: tuple[str, str] = ("name", "name")
) -> Document:
    """A document of two words, both mentions."""
    first, second = text.split()[:2]
    spans = (0, len(first)), (len(first) + 1, len(first) + 1 + len(second))
    return Document(
        text,
        mentions=tuple(
            Mention(*span, "PER", kind=kind)  # type: ignore[arg-type]
            for span, kind in zip(spans, kinds, strict=True)
        ),
        entities=(Entity((0,), "PER"), Entity((1,), "PER")),
        relations=relations,
        annotated=("P26", "P40"),
    )


def test_documents_without_a_fact_of_names_are_left_out() -> None:
    facts = (Relation(0, 1, "P26"),)
    stated = document("Ada Tom", facts)
    of_pronoun = document("She Tom", facts, ("pronoun", "name"))
    assert worth_completing([document("Ada Tom", ()), stated, of_pronoun]) == [stated]


def test_facts_of_other_relations_become_unknown_pairs() -> None:
    both = document("Ada Tom", (Relation(0, 1, "P26"), Relation(1, 0, "P40")))
    (kept,) = worth_completing([both, document("A B", (Relation(0, 1, "P40"),))], {"P26"})
    assert (kept.relations, kept.unknown) == ((Relation(0, 1, "P26"),), ((1, 0),))


def test_long_texts_are_left_out_and_chance_chooses_in_order() -> None:
    given = [document(f"Ada Tom{number}", (Relation(0, 1, "P26"),)) for number in range(30)]
    long = document("Ada Tom came late", (Relation(0, 1, "P26"),))
    chosen = worth_completing([*given, long], longest=2, at_most=10, seed=1)
    assert len(chosen) == 10
    assert chosen == [each for each in given if each in chosen]
    assert chosen == worth_completing(given, at_most=10, seed=1)
    assert chosen != worth_completing(given, at_most=10, seed=2)


def test_the_finder_sees_bare_texts() -> None:
    def find(documents: list[Document]) -> list[Document]:
        assert all(not each.mentions and not each.relations for each in documents)
        end = len(documents[0].text)
        mention = Mention(end - 4, end, "LOC")
        return [documents[0].replace(mentions=(mention,), entities=(Entity((0,), "LOC"),))]

    (whole,) = complete_names([document("Ada Tom Rome", (Relation(0, 1, "P26"),))], find)
    assert [whole.mention_text(index) for index in range(3)] == ["Ada", "Tom", "Rome"]
    assert whole.annotated == ("P26", "P40")
