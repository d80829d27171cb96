"""Words that stand for a thing without naming or describing it."""

_PERSONAL = (
    "he him his himself 他",
    "she her hers herself 她 妳",
    "it its itself 它 牠",
    "i me my mine myself 我",
    "you your yours yourself yourselves 你 您",
    "we us our ours ourselves 我们 我們 咱们 咱們",
    "they them their theirs themselves 他们 他們 她们 她們 它们 它們",
    "你们 你們",
    "自己 其",
)
_POINTING = "this that these those who whom whose which 这 那"
_GROUP = {word: number for number, words in enumerate(_PERSONAL) for word in words.split()}
_PRONOUNS = frozenset((*_GROUP, *_POINTING.split()))

PERSONAL_PRONOUNS = tuple(_GROUP)
PRONOUN_GROUPS = len(_PERSONAL)


def is_pronoun(mention: str) -> bool:
    """Whether the whole mention is a pronoun, however it is capitalised.

    >>> [is_pronoun(mention) for mention in ("Its", "US", "the firm", "他们", "该公司")]
    [True, False, False, True, False]
    """
    return not _in_capitals(mention) and mention.casefold() in _PRONOUNS


def pronoun_group(mention: str) -> int:
    """Which pronouns are alike: a number below `PRONOUN_GROUPS`, that number for all other words.

    >>> pronoun_group("Her") == pronoun_group("she") != pronoun_group("it")
    True
    """
    word = "" if _in_capitals(mention) else mention.casefold()
    return _GROUP.get(word, PRONOUN_GROUPS)


def _in_capitals(mention: str) -> bool:
    return mention.isupper() and len(mention) > 1  # "US" is a name, "us" is none
