"""The sentences of the example profiles: for every topic several ways to say it.

`{person}` names the entity that plays that part: the full name first, later often a short form.
`{person.pronoun}`, `{company.it}` and the like allude to it without naming it, so that a fact
may need two sentences. What stands in `facts` is what a reader learns from the sentence; the
topics of `DISTRACTIONS` bring the same kinds of entities together and say nothing of the sort.
"""

from dataclasses import dataclass

Fact = tuple[str, str, str]  # head, relation, tail


@dataclass(frozen=True)
class Template:
    text: str
    facts: tuple[Fact, ...] = ()


def _templates(facts: str, *texts: str) -> tuple[Template, ...]:
    """Several texts for the same facts, written as `person P19 town, person P569 date`."""
    triples = tuple(tuple(fact.split()) for fact in facts.split(", ") if fact)
    return tuple(Template(text, triples) for text in texts)  # type: ignore[arg-type]


_NATIONALITY = "person P27 country"
_BIRTH = "person P19 town, person P569 date"
_MARRIAGE = "person P26 spouse, spouse P26 person"
_FOUNDING = "company P112 person, company P571 year"

FACTS: dict[str, tuple[Template, ...]] = {
    "person": _templates(
        f"{_NATIONALITY}, {_BIRTH}",
        "{person} (born {date} in {town}) is a {country.adjective} {job}.",
        "{person} is a {country.adjective} {job}, born in {town} on {date}.",
        "Born in {town} on {date}, {person} is one of the best known {country.adjective} {job}s.",
        "The {country.adjective} {job} {person} was born on {date} in {town}.",
        "On {date} the {country.adjective} {job} {person} was born in {town}.",
    ),
    "nationality": _templates(
        _NATIONALITY,
        "{person} is a {country.adjective} {job} with {number} published works.",
        "{country} knows {person} as one of its leading {job}s.",
        "The {country.adjective} {job} {person} worked in obscurity for {number} years.",
        "{person}, a {job}, is a citizen of {country}.",
        "Though a {job} at home in many places, {person} kept the citizenship of {country}.",
    ),
    "birth": _templates(
        _BIRTH,
        "{person} was born in {town} on {date}.",
        "{person.pronoun} was born on {date} in {town}.",
        "{town} is the birthplace of {person}, who was born there on {date}.",
        "It was in {town} that {person} was born on {date}.",
        "{person.possessive} life began on {date} in a small house in {town}.",
    ),
    "school": _templates(
        "person P69 school",
        "{person} studied {subject} at {school}.",
        "{person.pronoun} graduated from {school} in {year}.",
        "{school} gave {person} a degree in {subject} in {year}.",
        "In {year} {person} took a degree in {subject} at {school}.",
        "{person.pronoun} was a student of {subject} at {school} until {year}.",
        "Among the graduates of {school} is {person}, who studied {subject} there.",
    ),
    "employer": _templates(
        "person P108 company",
        "{person} joined {company} as a {job} in {year}.",
        "In {year} {company} hired {person} as its chief {job}.",
        "{person.pronoun} worked for {company} for {number} years.",
        "{company} employed {person} from {year} on.",
        "For {number} years {person} was on the staff of {company}.",
        "{person.possessive} employer since {year} has been {company}, a maker of {goods}.",
        "The managing director of {company} has been {person} since {year}.",
    ),
    "marriage": _templates(
        _MARRIAGE,
        "{person} married {spouse} in {year}.",
        "{person.pronoun} is married to {spouse}, a fellow {job}.",
        "{spouse} and {person} were married in {year}.",
        "In {year} {spouse} became the {spouse.partner} of {person}.",
        "{person.possessive} {spouse.partner} is {spouse}.",
    ),
    "founding": _templates(
        _FOUNDING,
        "{person} founded {company} in {year}.",
        "{company} was founded by {person} in {year}.",
        "In {year} {person} set up {company}, a maker of {goods}.",
        "{company}, a maker of {goods}, was started in {year} by {person}.",
        "{person.pronoun} founded {company} in {year} with {number} workers.",
        "In {year}, with borrowed money, {person.pronoun} established {company}.",
    ),
    "founding by two": _templates(
        f"{_FOUNDING}, company P112 other",
        "{person} and {other} founded {company} in {year}.",
        "{company} was founded in {year} by {person} and {other}.",
        "In {year} {person}, together with {other}, set up {company} to make {goods}.",
    ),
    "inception": _templates(
        "company P571 year",
        "{company} was established in {year} and makes {goods}.",
        "{company}, a maker of {goods}, has existed since {year}.",
        "In {year} {company} was founded to make {goods}.",
        "The founding year of {company} is {year}.",
    ),
    "founder": _templates(
        "company P112 person",
        "{company.it} was founded by {person}, a {job}.",
        "The founder of {company} was {person}.",
        "{person} founded {company.it} with {number} workers.",
        "{company} owes its existence to its founder {person}.",
    ),
    "seat": _templates(
        "company P159 town",
        "{company} has its headquarters in {town}.",
        "{company.it} is based in {town}.",
        "The head office of {company} stands in {town}.",
        "{town} is home to the headquarters of {company}.",
        "From its head office in {town}, {company} runs {number} workshops.",
        "{company.it} has its head office in {town} and employs {number} people.",
    ),
    "region": _templates(
        "town P131 region",
        "{town} lies in {region}.",
        "{town} is a town of {number} thousand inhabitants in {region}.",
        "{region}, to which {town} belongs, is known for its {feature}.",
        "{town.it} is part of {region}, a land of {feature}.",
        "One of the oldest towns of {region} is {town}.",
    ),
    "region's country": _templates(
        "region P17 country",
        "{region} is a part of {country}.",
        "{country} counts {region} among its {number} provinces.",
        "{region} forms the north of {country}.",
        "Nowhere in {country} are there more {feature} than in {region}.",
    ),
    "town's country": _templates(
        "town P17 country",
        "{town} is a town in {country}.",
        "{town} is one of the {number} largest towns of {country}.",
        "{country} has few towns as old as {town}.",
        "{town.it} lies in the south of {country}.",
    ),
    "region and country": _templates(
        "town P131 region, town P17 country, region P17 country",
        "{town} belongs to {region} in {country}.",
        "{town} is a town in {region}, {country}.",
        "In {country}, {town} is known as the gate to {region}, in which it lies.",
    ),
}

DISTRACTIONS: dict[str, tuple[Template, ...]] = {
    "prize": _templates(
        "",
        "{person} received the {prize} in {year}.",
        "In {year} the {prize} went to {person}.",
        "{person.pronoun} was awarded the {prize} in {year}.",
    ),
    "visit": _templates(
        "",
        "In {year} {person} travelled to {town} to meet {other}.",
        "{person} spent the summer of {year} in {town} with {other}.",
        "{other} remembers a visit of {person} to {town} in {year}.",
    ),
    "street": _templates(
        "",
        "A street in {town} bears the name of {person}.",
        "{town} put up a statue of {person} in {year}.",
        "{person.pronoun} owns a summer house in {town}.",
    ),
    "lecture": _templates(
        "",
        "In {year} {person} gave a lecture at {school}.",
        "{person.pronoun} declined an invitation from {school} in {year}.",
        "{school} bought {number} letters of {person} for its archive.",
    ),
    "friend": _templates(
        "",
        "{other} wrote a book about {person} in {year}.",
        "{person} and {other} played chess by letter for {number} years.",
        "In {year} {person} quarrelled with {other} over a review.",
    ),
    "customer": _templates(
        "",
        "{person} once sued {company} over a broken lamp and won.",
        "{company} named a ship after {person} in {year}.",
        "{person.pronoun} turned down an offer from {company} in {year}.",
    ),
    "trade": _templates(
        "",
        "{company} buys its {goods} from {other}.",
        "In {year} {other} took {company} to court and lost.",
        "{other} and {company} shared a stand at a fair in {year}.",
    ),
    "fair": _templates(
        "",
        "{company} showed its {goods} at a fair in {town} in {year}.",
        "A warehouse of {company} in {town} burned down in {year}.",
        "In {year} {company.it} delivered {number} crates of {goods} to {town}.",
    ),
    "product": _templates(
        "",
        "{company} is best known for the {product}.",
        "The {product} has been made by {company} since {year}.",
        "In {year} {company.it} sold {number} thousand pieces of the {product}.",
    ),
    "bad year": _templates(
        "",
        "{year} was a hard year for {company}.",
        "A strike in {town} cost {company} {number} million in {year}.",
        "In {year} {company.it} had to close {number} shops in {town}.",
    ),
}
