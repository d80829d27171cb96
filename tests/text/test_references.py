"""Where a text may speak of a thing without its name."""

from factloom.document import Document, Entity, Mention
from factloom.text.covered import Covered
from factloom.text.pronouns import PERSONAL_PRONOUNS, is_pronoun, pronoun_group
from factloom.text.references import (
    ReferenceWords,
    described,
    has_references,
    share_description,
    with_named_entities,
)


def marked(text: str, *references: str) -> Document:
    """A document that marks the first place of each reference, all of one thing."""
    places = [(text.index(reference), reference) for reference in references]
    mentions = [Mention(at, at + len(one), "ORG", kind="nominal") for at, one in places]
    name = Mention(len(text) + 1, len(text) + 6, "ORG")
    owners = Entity(tuple(range(len(mentions) + 1)), "ORG")
    return Document(f"{text} Brook", mentions=(*mentions, name), entities=(owners,))


def found(words: ReferenceWords, text: str, *taken: tuple[int, int]) -> list[str]:
    return [text[start:end] for start, end in words.places(text, Covered(taken))]


def test_every_personal_pronoun_is_a_pronoun() -> None:
    assert all(is_pronoun(word) for word in PERSONAL_PRONOUNS)
    assert len({pronoun_group(word) for word in ("he", "him", "His", "他")}) == 1
    assert len({pronoun_group(word) for word in ("he", "she", "it", "they", "the firm")}) == 5


def test_whole_words_are_found_the_longest_first() -> None:
    words = ReferenceWords(["the firm", "firm"])
    text = "The firm's shelf is hers; that firm, it thinks, is firmly his."
    assert found(words, text) == ["The firm", "hers", "firm", "it", "his"]


def test_chinese_words_have_no_borders() -> None:
    assert found(ReferenceWords(["该公司"]), "去年该公司卖了其厂。") == ["该公司", "其"]


def test_what_touches_a_name_is_none() -> None:
    text = "She met her at the firm of He."
    assert found(ReferenceWords(["the firm"]), text, (15, 18), (27, 29)) == ["She", "her"]


def test_words_in_capitals_are_none() -> None:
    assert found(ReferenceWords([]), "The US told us that IT is what I study.") == ["us", "I"]


def test_nominals_that_are_marked_more_than_once_are_learned() -> None:
    documents = [marked("The firm saw it."), marked("the firm lies.", "the firm")]
    assert ReferenceWords.learned(documents).nominals == ()
    documents += [marked("Then The Firm left.", "The Firm"), marked("a shop", "shop")]
    assert ReferenceWords.learned(documents).nominals == ("the firm",)


def test_nominals_that_mostly_stand_for_nothing_are_not_learned() -> None:
    twice = [marked("owner and owner", "owner")] * 2
    often = [marked("it " + "owner " * 20, "it")]
    assert ReferenceWords.learned(twice).nominals == ("owner",)
    assert ReferenceWords.learned(twice + often).nominals == ()


def test_pronouns_need_not_be_learned() -> None:
    assert ReferenceWords.learned([marked("it is it", "it")] * 3).nominals == ()


def test_a_name_may_hold_what_a_nominal_describes() -> None:
    assert described("her old bank") == "bank"
    rows = share_description(["the bank", "she", "该公司"], ["Savings Bank", "Brook", "云州公司"])
    assert rows == [[True, False, False], [False] * 3, [False, False, True]]


def test_entities_without_a_name_are_left_out_with_their_pronouns() -> None:
    document = Document(
        "She met him, Brook.",
        mentions=(
            Mention(0, 3, "PER", kind="pronoun"),
            Mention(8, 11, "PER", kind="pronoun"),
            Mention(13, 18, "PER"),
        ),
        entities=(Entity((0,), "PER"), Entity((1, 2), "PER")),
    )
    kept = with_named_entities(document)
    assert [kept.mention_text(index) for index in range(len(kept.mentions))] == ["him", "Brook"]
    assert [entity.mentions for entity in kept.entities] == [(0, 1)]
    assert has_references(kept)
    assert not has_references(kept.named())
