"""Relations in words: those of Wikidata that texts speak of, and how a given name is looked up.

`RELATIONS` holds the 96 relations of DocRED and ten of business texts, with the types that their
heads and tails may have: generously, since a film may be owned and a ship may have parts. A user's
spelling is found by `RelationLookup`, or what is near to it.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# What is said of people that may hurt them if it is wrong.
SENSITIVE = {
    "P140": "religion or worldview",
    "P172": "ethnic group",
    "P22": "father",
    "P25": "mother",
    "P40": "child",
    "P91": "sexual orientation",
    "P102": "member of political party",
    "P1142": "political ideology",
    "P1050": "medical condition",
    "P509": "cause of death",
    "P1399": "convicted of",
    "P1596": "penalty",
}

_MOST_ALIKE = 5  # names that are suggested

# id | name | types of the head | types of the tail
_TABLE = """
P6    | head of government                               | LOC ORG          | PER
P17   | country                                          | LOC ORG MISC     | LOC
P19   | place of birth                                   | PER MISC         | LOC ORG
P20   | place of death                                   | PER MISC         | LOC ORG
P22   | father                                           | PER MISC         | PER MISC
P25   | mother                                           | PER MISC         | PER MISC
P26   | spouse                                           | PER MISC         | PER MISC
P27   | country of citizenship                           | PER MISC         | LOC
P30   | continent                                        | LOC ORG MISC     | LOC
P31   | instance of                                      | PER LOC ORG MISC | LOC ORG MISC
P35   | head of state                                    | LOC ORG          | PER
P36   | capital                                          | LOC ORG          | LOC
P37   | official language                                | LOC ORG MISC     | LOC MISC
P39   | position held                                    | PER              | MISC
P40   | child                                            | PER MISC         | PER MISC
P50   | author                                           | MISC             | PER ORG
P54   | member of sports team                            | PER              | LOC ORG MISC
P57   | director                                         | MISC             | PER ORG
P58   | screenwriter                                     | MISC             | PER
P69   | educated at                                      | PER              | LOC ORG MISC
P86   | composer                                         | MISC             | PER ORG
P102  | member of political party                        | PER ORG          | ORG MISC
P108  | employer                                         | PER              | PER LOC ORG MISC
P112  | founded by                                       | LOC ORG MISC     | PER LOC ORG
P118  | league                                           | PER ORG MISC     | ORG MISC
P123  | publisher                                        | ORG MISC         | PER ORG
P127  | owned by                                         | LOC ORG MISC     | PER LOC ORG MISC
P131  | located in the administrative territorial entity | LOC ORG MISC     | LOC
P136  | genre                                            | PER ORG MISC     | MISC
P137  | operator                                         | LOC ORG MISC     | PER LOC ORG
P140  | religion                                         | PER LOC ORG MISC | ORG MISC
P150  | contains administrative territorial entity       | LOC              | LOC
P155  | follows                                          | PER LOC ORG MISC | PER LOC ORG MISC
P156  | followed by                                      | PER LOC ORG MISC | PER LOC ORG MISC
P159  | headquarters location                            | LOC ORG MISC     | LOC
P161  | cast member                                      | MISC             | PER ORG
P162  | producer                                         | MISC             | PER ORG
P166  | award received                                   | PER LOC ORG MISC | ORG MISC
P170  | creator                                          | PER LOC ORG MISC | PER ORG
P171  | parent taxon                                     | MISC             | MISC
P172  | ethnic group                                     | PER LOC ORG MISC | LOC MISC
P175  | performer                                        | MISC             | PER ORG
P176  | manufacturer                                     | LOC MISC         | PER ORG
P178  | developer                                        | LOC ORG MISC     | PER ORG
P179  | series                                           | MISC             | ORG MISC
P190  | sister city                                      | LOC              | LOC
P194  | legislative body                                 | LOC ORG          | ORG
P205  | basin country                                    | LOC MISC         | LOC
P206  | located in or next to body of water              | LOC ORG MISC     | LOC
P241  | military branch                                  | PER ORG MISC     | ORG MISC
P264  | record label                                     | PER ORG MISC     | ORG
P272  | production company                               | ORG MISC         | PER ORG
P276  | location                                         | LOC ORG MISC     | LOC ORG MISC
P279  | subclass of                                      | LOC ORG MISC     | LOC ORG MISC
P355  | subsidiary                                       | LOC ORG MISC     | LOC ORG MISC
P361  | part of                                          | PER LOC ORG MISC | LOC ORG MISC
P364  | original language of work                        | MISC             | LOC MISC
P400  | platform                                         | MISC             | ORG MISC
P403  | mouth of the watercourse                         | LOC MISC         | LOC MISC
P449  | original network                                 | MISC             | ORG MISC
P463  | member of                                        | PER LOC ORG MISC | LOC ORG MISC
P488  | chairperson                                      | LOC ORG MISC     | PER
P495  | country of origin                                | PER ORG MISC     | LOC
P527  | has part                                         | LOC ORG MISC     | PER LOC ORG MISC
P551  | residence                                        | PER MISC         | LOC
P569  | date of birth                                    | PER MISC         | TIME
P570  | date of death                                    | PER MISC         | TIME
P571  | inception                                        | LOC ORG MISC     | TIME
P576  | dissolved, abolished or demolished               | LOC ORG MISC     | TIME
P577  | publication date                                 | ORG MISC         | TIME
P580  | start time                                       | PER LOC ORG MISC | TIME
P582  | end time                                         | PER LOC ORG MISC | TIME
P585  | point in time                                    | LOC ORG MISC     | TIME
P607  | conflict                                         | PER LOC ORG MISC | LOC MISC
P674  | characters                                       | MISC             | PER LOC ORG MISC
P676  | lyrics by                                        | MISC             | PER ORG
P706  | located on terrain feature                       | LOC ORG MISC     | LOC
P710  | participant                                      | LOC ORG MISC     | PER LOC ORG MISC
P737  | influenced by                                    | PER LOC ORG MISC | PER LOC ORG MISC
P740  | location of formation                            | ORG MISC         | LOC
P749  | parent organization                              | LOC ORG MISC     | LOC ORG MISC
P800  | notable work                                     | PER ORG          | LOC ORG MISC
P807  | separated from                                   | LOC ORG MISC     | LOC ORG MISC
P840  | narrative location                               | MISC             | LOC
P937  | work location                                    | PER ORG          | LOC
P1001 | applies to jurisdiction                          | PER LOC ORG MISC | LOC ORG
P1056 | product or material produced                     | PER LOC ORG MISC | LOC ORG MISC
P1198 | unemployment rate                                | LOC              | NUM
P1336 | territory claimed by                             | LOC              | LOC ORG
P1344 | participant of                                   | PER LOC ORG MISC | LOC ORG MISC
P1365 | replaces                                         | PER LOC ORG MISC | PER LOC ORG MISC
P1366 | replaced by                                      | PER LOC ORG MISC | PER LOC ORG MISC
P1376 | capital of                                       | LOC              | LOC ORG
P1412 | languages spoken, written or signed              | PER LOC ORG MISC | LOC MISC
P1441 | present in work                                  | PER LOC ORG MISC | MISC
P3373 | sibling                                          | PER MISC         | PER MISC
P169  | chief executive officer                          | ORG MISC         | PER
P3320 | board member                                     | ORG MISC         | PER ORG
P1037 | director / manager                               | LOC ORG MISC     | PER
P1951 | investor                                         | ORG MISC         | PER LOC ORG
P859  | sponsor                                          | PER LOC ORG MISC | PER LOC ORG MISC
P2652 | partnership with                                 | LOC ORG MISC     | LOC ORG MISC
P1128 | employees                                        | LOC ORG MISC     | NUM
P2139 | total revenue                                    | LOC ORG MISC     | NUM
P414  | stock exchange                                   | ORG MISC         | LOC ORG MISC
P7888 | merged into                                      | LOC ORG MISC     | LOC ORG MISC
"""


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """A relation of Wikidata, and the types of entities that it may join."""

    id: str
    name: str
    heads: frozenset[str]
    tails: frozenset[str]


def _known(line: str) -> KnownRelation:
    identifier, name, heads, tails = (part.strip() for part in line.split("|"))
    return KnownRelation(identifier, name, frozenset(heads.split()), frozenset(tails.split()))


RELATIONS: Mapping[str, KnownRelation] = MappingProxyType(
    {known.id: known for known in map(_known, _TABLE.strip().splitlines())}
)
RELATION_NAMES: Mapping[str, str] = MappingProxyType(
    {identifier: known.name for identifier, known in RELATIONS.items()}
)


class RelationLookup:
    """Finds relations by id or by words, in any spelling.

    >>> RelationLookup({"P112": "founded by"}).ids("Founded_by")
    ['P112']
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.by_words: dict[str, list[str]] = {}  # two relations may be called the same
        for identifier, name in names.items():
            self.by_words.setdefault(plain(name), []).append(identifier)

    def ids(self, given: str) -> list[str]:
        """The ids of the relations that are called so; none where nothing is."""
        if given in self.names:
            return [str(given)]
        return self.by_words.get(plain(given)) or self._without_case(given)

    def _without_case(self, given: str) -> list[str]:
        return [identifier for identifier in self.names if plain(identifier) == plain(given)]

    def near(self, given: str) -> str:
        """Relations that are spelled much like the given one, in words and with their id."""
        spellings = {plain(identifier): identifier for identifier in self.names}
        spellings |= {words: ids[0] for words, ids in self.by_words.items()}
        shown = {
            spelling: f"{self.names[identifier]} ({identifier})"
            for spelling, identifier in spellings.items()
        }
        return alike(given, shown)


def alike(given: str, shown: Mapping[str, str]) -> str:
    """What is shown for the plain spellings like the given one, those that go on with it first."""
    bare = plain(given)
    longer = [spelling for spelling in shown if bare and spelling.startswith(bare)]
    close = difflib.get_close_matches(bare, shown, n=3, cutoff=0.5)
    shorter = [spelling for spelling in shown if spelling and bare.startswith(spelling)]
    found = list(dict.fromkeys(shown[spelling] for spelling in (*longer, *close, *shorter)))
    return ", ".join(found[:_MOST_ALIKE]) or "none"


def plain(name: str) -> str:
    """Letters and digits alone: "Founded_by" and "founded by" are the same name."""
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()
