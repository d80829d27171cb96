"""Questions for passages that do not answer them."""

from factloom.document import Answer, Document, Question
from factloom.text.other_passages import with_other_passages


def passage(name: str, text: str, title: str = "T", *asked: Question) -> Document:
    return Document(text, name, attributes={"title": title}, questions=asked)


WHO = Question("Who founded Quillmark Ltd in Torvik?", "q", (Answer("Mara"),), attributes={"a": 1})
DOCUMENTS = [
    passage("own", "Mara founded Quillmark Ltd in Torvik.", "T", WHO),
    passage("answers", "It was mara who founded Quillmark Ltd in Torvik."),
    passage("common", "In it, and founded by it, is one."),
    passage("rare", "Quillmark ltd is rich."),
    passage("equal", "They founded it in vain."),
    passage("unlike", "Nothing like that."),
    passage("elsewhere", "Ada founded Quillmark Ltd in Torvik.", "another title"),
]


def asked(count: int) -> dict[str, list[Question]]:
    found = with_other_passages(DOCUMENTS, count)
    assert [document.text for document in found] == [document.text for document in DOCUMENTS]
    return {
        document.id: list(document.questions[len(given.questions) :])
        for document, given in zip(found, DOCUMENTS, strict=True)
        if document.questions[len(given.questions) :]
    }


def test_the_passage_of_the_title_that_is_most_alike_and_silent_is_asked() -> None:
    question = Question(WHO.text, "q about rare", (), attributes={"a": 1})
    assert asked(1) == {"rare": [question]}


def test_more_passages_are_asked_in_their_order_but_none_without_a_common_word() -> None:
    assert asked(2).keys() == {"rare", "common"}
    assert asked(9).keys() == {"rare", "common", "equal"}
    assert asked(0) == {}


def test_questions_without_known_answers_are_asked_of_no_other() -> None:
    for answers in ((), None):
        documents = [passage("a", "b", "T", Question("Who?", "q", answers)), passage("c", "Who")]
        assert with_other_passages(documents, 1) == documents


def test_without_titles_all_documents_are_passages() -> None:
    documents = [
        Document("Mara left.", questions=(Question("Who left?", answers=(Answer("Mara"),)),)),
        Document("She left."),
    ]
    _, other = with_other_passages(documents, 1)
    assert other.questions == (Question("Who left?", answers=()),)
