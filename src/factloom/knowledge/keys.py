"""Under which keys an entity is found, and which keys a mention asks for."""

from collections.abc import Iterator

from factloom.graph.knowledge_base import Way
from factloom.graph.name_keys import name_key, person_key
from factloom.text.demonyms import country_of

_BY_NAME, _BY_INITIALS = "=", "^"
_LONGEST_ACRONYM = 8
_SMALL_WORDS = frozenset({"of", "the", "and", "for", "in", "de", "la"})


def keys_of(name: str) -> Iterator[str]:
    """The keys under which something of this name is found.

    >>> list(keys_of("World Health Organization"))
    ['=world health organization', '^who']
    """
    key, plain = name_key(name), person_key(name)
    yield _BY_NAME + key
    if plain != key:  # "Dr Ada Brook" is found as "Ada Brook", too
        yield _BY_NAME + plain
    yield from (_BY_INITIALS + letters for letters in _initials(key))


def asked_by(mention: str) -> Iterator[tuple[Way, tuple[str, ...]]]:
    """The keys that a mention asks for, way after way: the first that leads somewhere is taken.

    >>> list(asked_by("WHO"))
    [('name', ('=who',)), ('initials', ('^who',))]
    >>> list(asked_by("Swedish"))
    [('name', ('=swedish',)), ('demonym', ('=sweden',))]
    """
    yield (
        "name",
        tuple(dict.fromkeys((_BY_NAME + name_key(mention), _BY_NAME + person_key(mention)))),
    )
    letters = mention.replace(".", "")
    if letters.isalpha() and letters.isupper() and 2 <= len(letters) <= _LONGEST_ACRONYM:
        yield "initials", (_BY_INITIALS + letters.casefold(),)
    country = country_of(mention)
    if country is not None and name_key(country) != name_key(mention):
        yield "demonym", (_BY_NAME + name_key(country),)


def _initials(key: str) -> set[str]:
    """With and without small words: those of "University of Oslo" are uoo and uo."""
    words = key.split()
    if len(words) < 2:
        return set()
    large = [word for word in words if word not in _SMALL_WORDS]
    found = {"".join(word[0] for word in each) for each in (words, large)}
    return {letters for letters in found if 2 <= len(letters) <= _LONGEST_ACRONYM}
