"""Entities of corpora that mark nothing but the arguments of their facts, pronouns among them."""

from collections.abc import Iterable
from dataclasses import dataclass

from factloom.document import Mention, MentionKind
from factloom.files.report import Findings
from factloom.formats.character_mentions import mention_at
from factloom.text.pronouns import is_pronoun

_RELATIVE = frozenset({"where", "here", "there"})  # "MIT, where she taught"


@dataclass(frozen=True, slots=True)
class Argument:
    """One end of a fact: a stretch of the text, and what it stands for if the corpus says so."""

    start: int
    end: int
    text: str
    type: str
    id: str | None = None

    @property
    def kind(self) -> MentionKind:
        """A nominal is written small as a whole: "the company", but not "the 1950s"."""
        if is_pronoun(self.text) or self.text.casefold() in _RELATIVE:
            return "pronoun"
        small = self.text.islower() and not any(sign.isdigit() for sign in self.text)
        return "nominal" if small else "name"

    @property
    def is_name(self) -> bool:
        return self.kind == "name"


@dataclass(frozen=True, slots=True)
class Fact:
    """What a corpus states of two arguments."""

    head: Argument
    tail: Argument
    type: str


def argument_mention(text: str, argument: Argument, findings: Findings, part: str) -> Mention:
    """The argument as a mention."""
    span = argument.start, argument.end
    found = mention_at(text, span, argument.type, findings, part, name=argument.text)
    return Mention(found.start, found.end, found.type, name=found.name, kind=argument.kind)


def entities_of(arguments: Iterable[Argument]) -> list[list[Argument]]:
    """The arguments that stand for one thing, each thing where its first argument comes.

    They do if they have one identifier or, as names without any, one spelling. A pronoun or nominal
    without an identifier is a thing of its own: whose it is, the corpus does not say.
    """
    arguments = list(arguments)
    identifier_of = {(one.text, one.type): one.id for one in arguments if one.id and one.is_name}
    groups: dict[tuple[str, str, int], list[Argument]] = {}
    for argument in arguments:
        known = argument.id
        if argument.is_name:
            known = known or identifier_of.get((argument.text, argument.type))
        alone = -1 if known or argument.is_name else argument.start
        groups.setdefault((known or argument.text, argument.type, alone), []).append(argument)
    return list(groups.values())
