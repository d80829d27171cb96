"""What kind of thing a question in English asks for: by its question word, its noun, its form.

    >>> form_of("Which companies were founded before 1990?")
    Form(asks='list', wanted=frozenset({'ORG', 'MISC'}), noun='companies')

The types are those of DocRED: PER, LOC, ORG, TIME, NUM, MISC. Other names for them are brought to
these by `family`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from factloom.text.languages import FUNCTION_WORDS

Asks = Literal["one", "list", "count", "yes/no"]

_FAMILIES = {
    name: family
    for family, names in {
        "PER": "PER PERSON NAME",
        "LOC": "LOC GPE LOCATION PLACE FAC CITY COUNTRY",
        "ORG": "ORG ORGANIZATION ORGANISATION COMPANY",
        "TIME": "TIME DATE",
        "NUM": "NUM NUMBER CARDINAL ORDINAL QUANTITY PERCENT MONEY",
        "MISC": "MISC WORK_OF_ART PRODUCT EVENT WORK",
    }.items()
    for name in names.split()
}

# nouns that say of which type something is; also in front of a name: "the film Night Post"
_TYPES_OF_NOUNS = {
    "PER": "person people man woman actor actress singer painter writer author novelist poet "
    "composer director scientist astronomer politician politicians persons authors writers "
    "painters musician musicians actors directors screenwriter screenwriters producer producers "
    "engineer architect economist founder mayor "
    "king queen president child children son sons daughter daughters brother sister siblings "
    "parents wife husband member members players teacher physicist historian",
    "LOC": "place places city cities town towns village country countries state county region "
    "province island river rivers mountain mountains continent street location bridge valley "
    "harbour lake sea district nation",
    "ORG MISC": ""
    "company companies firm firms organisation organization organisations organizations "
    "university universities college school band bands club team party publisher label "
    "institute business agency museum newspaper foundation employer association studio group "
    "orchestra observatory channel library factory",
    "ORG LOC MISC": "institution institutions universities colleges schools museums",
    "TIME": "year years date dates day month century time",
    "MISC ORG": ""
    "film films movie movies book books novel novels album albums song songs single singles "
    "work works painting paintings award awards prize prizes language languages genre genres "
    "series program software product products instrument ship magazine symphony game games "
    "play poem event events religion",
    "NUM": "number amount percentage",
}
_NOUNS = {
    noun: frozenset(types.split())
    for types, nouns in _TYPES_OF_NOUNS.items()
    for noun in nouns.split()
}
_PLURAL = re.compile(
    r"\b(which|what|name|list|all|are|were|have)\b.*?\b(\w+s|people|children|countries)\b"
)
_LISTS = re.compile(
    r"^\s*(name|list|give|show|tell me|enumerate)\b|\ball (the )?\w+s\b", re.IGNORECASE
)
_YES_NO = re.compile(
    r"^\s*(is|are|was|were|did|does|do|has|have|had|can|could|will|would)\b(?! (what|which|who))",
    re.IGNORECASE,
)
_ASKED_POLITELY = re.compile(
    r"^\s*(?:please,? )?(?:can|could|will|would) (?:you|anyone|somebody|someone) (?:please )?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bhow many\b|\bwhat number of\b|\bcount the\b", re.IGNORECASE)
_NOUN_ASKED = re.compile(
    r"\b(?:which|what|how many|name(?: all)?(?: the)?|list(?: all)?(?: the)?)\s+"
    r"((?:[\w-]+\s+){0,2}?[\w-]+)(?=\s|\?|$)",
    re.IGNORECASE,
)
_NOUN_BEHIND_BE = re.compile(  # what were the release years of X
    r"\bwhat (?:is|are|was|were) the (?:[\w-]+ )??([\w-]+) (?=(?:of|in|for|that|which|spoken)\b)",
    re.IGNORECASE,
)
_WH = {
    "who": frozenset({"PER", "ORG"}),
    "whom": frozenset({"PER", "ORG"}),
    "whose": frozenset({"PER", "ORG"}),
    "where": frozenset({"LOC", "ORG"}),
    "when": frozenset({"TIME"}),
}
_WORD = re.compile(r"[\w'-]+")


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer has to look like. `wanted` types are empty where anything may be meant."""

    asks: Asks
    wanted: frozenset[str]
    noun: str = ""  # behind "which", where it tells the type

    def allows(self, type: str) -> bool:
        """Whether a thing of this type may be the answer; what a store calls its own way may."""
        known = family(type)
        return not self.wanted or known is None or known in self.wanted


def family(type: str) -> str | None:
    """DocRED's name for a type of entities; None for types of the user's own."""
    return _FAMILIES.get(type.upper())


def types_of_noun(noun: str) -> frozenset[str]:
    """The types of what a noun names; empty where it does not tell."""
    return _NOUNS.get(noun.casefold(), frozenset())


def plain_request(question: str) -> str:
    """A question without what is only polite.

    >>> plain_request("Can you name a film by Ada Brook?")
    'name a film by Ada Brook?'
    """
    return _ASKED_POLITELY.sub("", question, count=1)


def form_of(question: str) -> Form:
    """The form of a question."""
    words = [word.casefold() for word in _WORD.findall(question)]
    if _COUNT.search(question):
        noun, wanted = _noun_asked(question)
        return Form("count", wanted, noun)
    if _YES_NO.match(question):
        return Form("yes/no", frozenset())
    noun, wanted = _noun_asked(question)
    asked = next((_WH[word] for word in words if word in _WH), frozenset())
    if asked and not wanted:
        several = "who are" in question.casefold() or "who were" in question.casefold()
        return Form("list" if several else "one", asked)
    listed = bool(_LISTS.search(question)) or _is_plural(noun) or "what are" in question.casefold()
    return Form("list" if listed else "one", wanted, noun)


def _noun_asked(question: str) -> tuple[str, frozenset[str]]:
    """The noun behind "which" or "what" that tells the type, as the last of up to three words."""
    for found in re.finditer(_NOUN_ASKED, question):
        words = question[found.start(1) :].split()[:3]
        for word in words:
            bare = word.strip("?.,!")
            if types_of_noun(bare):
                return bare, types_of_noun(bare)
            if word[:1].isupper() or bare in ("is", "are", "was", "were", "did", "does", "do"):
                break
    behind = _NOUN_BEHIND_BE.search(question)
    noun = behind[1].casefold() if behind else ""
    return (noun, types_of_noun(noun)) if types_of_noun(noun) else ("", frozenset())


def _is_plural(noun: str) -> bool:
    return noun in ("people", "children") or (noun.endswith("s") and noun not in ("series",))


_ASKED_ELSEWHERE = {
    language: frozenset(words.split())
    for language, words in {
        "de": "wer wo wann wen wem welche welcher welches warum wieviele wohin woher",
        "fr": "qui où quand quel quelle quels quelles combien pourquoi comment qu",
        "es": "quién quien dónde donde cuándo cuando qué cuál cuántos quiénes",
        "it": "chi dove quando quale quali quanti perché",
        "nl": "wie waar wanneer welke hoeveel waarom",
        "pt": "quem onde quando qual quais quantos",
        "sv": "vem var när vilken vilka",
        "da": "hvem hvor hvornår hvilken hvilke",
        "pl": "kto gdzie kiedy jaki ile",
    }.items()
}


def question_language(question: str) -> str | None:
    """The language of a question that is surely not English; else None.

    >>> question_language("Wo wurde Mara Velden geboren?"), question_language("Who is Mara?")
    ('de', None)
    """
    words = [word.casefold() for word in _WORD.findall(question)]
    english = sum(word in FUNCTION_WORDS["en"] or word in _WH for word in words)
    scores = {
        language: 2 * sum(word in asked for word in words[:2])
        + sum(word in FUNCTION_WORDS[language] for word in words)
        for language, asked in _ASKED_ELSEWHERE.items()
    }
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] >= 2 and scores[best] > 2 * english else None
