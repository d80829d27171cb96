"""Words that stand for a thing without naming or describing it."""

_WORDS = (
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself we us our ours ourselves they them their theirs themselves this "
    "that these those who whom whose which "
    "我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 自己 这 那 其"
)
_PRONOUNS = frozenset(_WORDS.split())


def is_pronoun(mention: str) -> bool:
    """Whether the whole mention is a pronoun, however it is capitalised.

    >>> [is_pronoun(mention) for mention in ("Its", "US", "the firm", "他们", "该公司")]
    [True, False, False, True, False]
    """
    in_capitals = mention.isupper() and len(mention) > 1  # "US" is a name, "us" is none
    return not in_capitals and mention.casefold() in _PRONOUNS
