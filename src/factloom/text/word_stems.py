"""Forms of English words brought together: "founded", "founder" and "founding" are "found".

Rougher than Porter's rules, and enough for the few hundred words that questions ask with. Words
that change inside ("wrote") stand in a table.
"""

import re
from functools import lru_cache

_IRREGULAR = {
    form: stem
    for line in """
write wrote written writer writers writing writings
born birth births birthplace
die died dies death deaths dead deathplace
lead led leader leaders leads
build built builder builders buildings
sing sang sung singer singers sings
make made maker makers makes making
teach taught teacher teachers teaches teaching
buy bought buys
sell sold sells sales
hold held holds holder
speak spoke spoken speaks speaker speakers
begin began begun begins beginning
come came comes coming
go went gone goes
grow grew grown
win won wins winner winners
rise rose rises
pay paid pays
fight fought fighter
run ran runs running
marry married marries marriage
wife wives
child children kid kids
person people persons
city cities
country countries
company companies firm firms
university universities college colleges
study studied studies student students studying
party parties
movie movies film films
give gave given gives
take took taken takes
lie lies lay lain
see saw seen
know known knew
shine shone
choose chose chosen
direct director directors directed directs
educate educated education
act actor actors actress actresses acted acts acting
star starred starring stars
compose composer composers composed
publish publisher publishers published publishing publication
produce producer producers produced produces producing
product products
production productions
perform performer performers performed performs
employ employer employers employed employs employee employees
own owner owners owned owns
found founder founders founded founding foundation cofounder cofounders cofounded founds
manage manager managers managed manages managing
develop developer developers developed develops
create creator creators created creates creation
design designer designers designed
invent inventor inventors invented
operate operator operators operated operates
sponsor sponsors sponsored
invest investor investors invested
investment investments
locate located location locations
reside residence resides resided
resident residents
release released releases
award awards awarded
headquarters headquartered headquarter
mayor mayors
chair chairs chaired chairman chairwoman chairperson
compete competed competitor competitors
""".strip().splitlines()
    for stem in [line.split()[0]]
    for form in line.split()
}
_ENDINGS = re.compile(r"(?:(?<=\w{3})(?:ings?|edly|ed|ers?|ors?|es|s|ly|ment|ments|ation))$")
_DOUBLED = re.compile(r"([bdgmnprt])\1$")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """The part of a word that its forms share.

    >>> [stem(word) for word in ("Founders", "founded", "wrote", "charts", "planned")]
    ['found', 'found', 'write', 'chart', 'plan']
    """
    plain = word.casefold().removesuffix("'s").removesuffix("\N{RIGHT SINGLE QUOTATION MARK}s")
    if plain in _IRREGULAR:
        return _IRREGULAR[plain]
    if plain.endswith("ss") or len(plain) < 4:
        return plain
    shorter = _ENDINGS.sub("", plain)
    if shorter.endswith("i"):
        return shorter[:-1] + "y"
    return _DOUBLED.sub(r"\1", shorter).removesuffix("e")
