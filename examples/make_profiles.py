"""Write the example documents: short biographies and company profiles, all of it invented.

    python examples/make_profiles.py            # the shipped files, next to this script
    python examples/make_profiles.py --seed 7 --output /tmp/profiles

A document is planned as a list of steps (a topic and who plays which part in it), then told
sentence by sentence. Because the teller places every name itself, it knows each mention's
offsets, and it notes which sentences a reader needs for each fact.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter

import profile_names as names
from profile_sentences import DISTRACTIONS, FACTS, Template

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence

FILES = {"train": 60, "dev": 12, "unseen": 3}  # documents in each
SHARES = {"train": (0.0, 0.6), "dev": (0.6, 0.8), "unseen": (0.8, 1.0)}  # of each list of names
TYPES = {
    "person": "PER",
    "company": "ORG",
    "school": "ORG",
    "town": "LOC",
    "region": "LOC",
    "country": "LOC",
    "time": "TIME",
    "prize": "MISC",
    "product": "MISC",
}
ALLUSIONS = ("pronoun", "possessive", "it")  # forms that point back to a name
RULES = (("P131", "P17"), ("P159", "P17"))  # a P131 b and b P17 c: then a P17 c
SHORT_NAME_RATE = 0.6  # of the mentions after the first
SENTENCES = range(4, 10)
ENTITIES = range(6, 15)


@dataclass(frozen=True, eq=False)
class Thing:
    """What an entity of the document is called; `forms` are the words other than its names."""

    kind: str
    name: str
    short: str = ""
    forms: Mapping[str, str] = field(default_factory=dict)


Parts = Mapping[str, Thing | str]
Fact = tuple[Thing, str, Thing]  # head, relation, tail
Step = tuple[str, Parts]  # topic, who plays which part


class Cast:
    """The people, companies and places of one document; no name is given twice."""

    def __init__(self, chance: random.Random, split: str) -> None:
        self.chance = chance
        self.first, self.last = SHARES[split]
        self.pools: dict[str, list[str]] = {}
        self.year = chance.randrange(1900, 1960)  # each event is later than the one before

    def person(self, woman: bool | None = None) -> Thing:
        woman = self.chance.random() < 0.5 if woman is None else woman
        given = self._draw("WOMEN" if woman else "MEN")
        surname = self._draw("SURNAMES")
        pronoun, possessive, partner = ("she", "her", "wife") if woman else ("he", "his", "husband")
        forms = {"pronoun": pronoun, "possessive": possessive, "partner": partner}
        return Thing("person", f"{given} {surname}", surname, forms)

    def spouse_of(self, person: Thing) -> Thing:
        return self.person(woman=person.forms["partner"] == "husband")

    def company(self) -> Thing:
        stem = self._draw("COMPANIES")
        ending = self.chance.choice(names.COMPANY_ENDINGS)
        return Thing("company", f"{stem} {ending}", stem, {"it": "the company"})

    def town(self) -> Thing:
        return Thing("town", self._draw("TOWNS"), forms={"it": "the town"})

    def country(self) -> Thing:
        name = self._draw("COUNTRIES")
        return Thing("country", name, forms={"adjective": names.COUNTRIES[name]})

    def country_beside(self, country: Thing) -> Thing:
        """The same or another: one's own country tells little about where a town lies."""
        return country if self.chance.random() < 0.5 else self.country()

    def other(self, kind: str) -> Thing:
        """A school, region, prize or product."""
        return Thing(kind, self._draw(f"{kind}s".upper()))

    def birthday(self) -> Thing:
        day, month = self.chance.randrange(1, 29), self.chance.choice(names.MONTHS)
        date = Thing("time", f"{day} {month} {self.year}")
        self.year += self.chance.randrange(18, 24)
        return date

    def next_year(self) -> Thing:
        self.year += self.chance.randrange(1, 5)
        return Thing("time", str(self.year))

    def words(self) -> Parts:
        """Plain words for the places in a sentence that name no entity."""
        return {
            "job": self.chance.choice(names.JOBS),
            "subject": self.chance.choice(names.SUBJECTS),
            "goods": self.chance.choice(names.GOODS),
            "feature": self.chance.choice(names.FEATURES),
            "number": str(self.chance.randrange(3, 40)),
        }

    def _draw(self, pool: str) -> str:
        if pool not in self.pools:
            every = list(getattr(names, pool))
            part = every[round(self.first * len(every)) : round(self.last * len(every))]
            self.chance.shuffle(part)
            self.pools[pool] = part
        return self.pools[pool].pop()


# Who joins the subject of the document in a sentence that states no fact.
NEWCOMERS: dict[str, dict[str, Callable[[Cast], Thing]]] = {
    "prize": {"prize": lambda cast: cast.other("prize")},
    "visit": {"town": Cast.town, "other": Cast.person},
    "street": {"town": Cast.town},
    "lecture": {"school": lambda cast: cast.other("school")},
    "friend": {"other": Cast.person},
    "customer": {"company": Cast.company},
    "trade": {"other": Cast.company},
    "fair": {"town": Cast.town},
    "product": {"product": lambda cast: cast.other("product")},
    "bad year": {"town": Cast.town},
}


class Teller:
    """Turns steps into text and keeps account of mentions, facts and evidence."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.text = ""
        self.sentences: list[Sentence] = []
        self.mentions: list[Mention] = []
        self.mentions_of: dict[Thing, list[int]] = {}
        self.named_in: dict[Thing, int] = {}  # the last sentence with a name of it
        self.evidence: dict[Fact, set[int]] = {}  # the sentences that prove it
        self.in_last_sentence: set[Thing] = set()

    def tell(self, templates: Sequence[Template], parts: Parts) -> None:
        template = self.chance.choice([t for t in templates if self._can_tell(t, parts)])
        self.text += " " if self.text else ""
        start, sentence = len(self.text), len(self.sentences)
        spoken_of = set()
        for literal, role, form in _pieces(template.text):
            self.text += literal
            part = parts.get(role, "")
            if isinstance(part, Thing):
                spoken_of.add(part)
                self._speak_of(part, form, at_start=len(self.text) == start)
            else:
                self.text += part
        self.sentences.append(Sentence(start, len(self.text)))
        self.in_last_sentence = spoken_of
        for head, relation, tail in template.facts:
            ends = _thing(parts, head), _thing(parts, tail)
            # A thing that is only alluded to here was last named in an earlier sentence.
            needed = {sentence, *(self.named_in[end] for end in ends)}
            self.evidence.setdefault((ends[0], relation, ends[1]), needed)

    def document(self, title: str) -> Document:
        position = {thing: index for index, thing in enumerate(self.mentions_of)}
        return Document(
            text=self.text,
            id=title,
            sentences=tuple(self.sentences),
            mentions=tuple(self.mentions),
            entities=tuple(
                Entity(tuple(mentions), TYPES[thing.kind])
                for thing, mentions in self.mentions_of.items()
            ),
            relations=tuple(
                Relation(position[head], position[tail], relation, evidence=tuple(sorted(needed)))
                for (head, relation, tail), needed in _with_inferred(self.evidence).items()
            ),
        )

    def _can_tell(self, template: Template, parts: Parts) -> bool:
        """Whether every allusion is clear: named in this sentence, or alone of its kind before."""
        named = set()
        for _, role, form in _pieces(template.text):
            if form not in ALLUSIONS:
                named.add(role)
            elif role not in named:
                thing = _thing(parts, role)
                alike = [other for other in self.in_last_sentence if other.kind == thing.kind]
                if alike != [thing]:
                    return False
        return True

    def _speak_of(self, thing: Thing, form: str, at_start: bool) -> None:
        if form and form != "adjective":
            words = thing.forms[form]
            self.text += words[0].upper() + words[1:] if at_start else words
            return
        short = thing in self.named_in and self.chance.random() < SHORT_NAME_RATE
        name = thing.forms[form] if form else (short and thing.short) or thing.name
        mention = Mention(len(self.text), len(self.text) + len(name), TYPES[thing.kind])
        self.mentions_of.setdefault(thing, []).append(len(self.mentions))
        self.mentions.append(mention)
        self.named_in[thing] = len(self.sentences)
        self.text += name


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """The template as (words before, part, form of its name)."""
    for literal, place, _, _ in Formatter().parse(text):
        role, _, form = (place or "").partition(".")
        yield literal, role, form


def _thing(parts: Parts, role: str) -> Thing:
    thing = parts[role]
    assert isinstance(thing, Thing), f"{role} is plain words"
    return thing


def _with_inferred(stated: Mapping[Fact, set[int]]) -> dict[Fact, set[int]]:
    """Adds what follows by `RULES`, with the evidence of both premises, until nothing is new."""
    known = dict(stated)
    while True:
        inferred = {
            (a, then, c): evidence | known[b, then, c]
            for first, then in RULES
            for (a, relation, b), evidence in known.items()
            if relation == first
            for (start, other, c) in known
            if (start, other) == (b, then) and (a, then, c) not in known
        }
        if not inferred:
            return known
        known |= inferred


def biography(cast: Cast) -> tuple[str, list[Step]]:
    """A person's life: birth and nationality, then some of school, work, marriage, place."""
    person, town, country = cast.person(), cast.town(), cast.country()
    life: Parts = {"person": person, "job": cast.chance.choice(names.JOBS)}
    birth = {**life, "town": town, "country": country, "date": cast.birthday()}
    opening = cast.chance.choice([["person"], ["person"], ["nationality", "birth"]])
    school = {**life, "school": cast.other("school"), "year": cast.next_year()}
    founded = {**life, "company": cast.company(), "town": cast.town(), "year": cast.next_year()}
    employed: Parts = {
        **life,
        "company": cast.company(),
        "town": cast.town(),
        "year": cast.next_year(),
    }
    married: Parts = {**life, "spouse": cast.spouse_of(person), "year": cast.next_year()}
    chains: list[list[Step]] = [
        [("school", school)],
        [("founding", founded), ("seat", founded)],
        [("employer", employed), ("seat", employed)][: cast.chance.randrange(1, 3)],
        [("marriage", married)],
        _place(cast, town, cast.country_beside(country)),
    ]
    distractions = ("prize", "visit", "street", "lecture", "friend", "customer")
    steps = _arranged(cast, chains, life, distractions)
    return person.name, [*((topic, birth) for topic in opening), *steps]


def profile(cast: Cast) -> tuple[str, list[Step]]:
    """A company: its founding, then some of seat, place, founder's life, management."""
    company, founder, manager = cast.company(), cast.person(), cast.person()
    town, country = cast.town(), cast.country()
    life: Parts = {"person": founder, "job": cast.chance.choice(names.JOBS), "country": country}
    birth = {**life, "town": cast.town(), "date": cast.birthday()}
    school = {**life, "school": cast.other("school"), "year": cast.next_year()}
    founded = {**life, "company": company, "other": cast.person(), "year": cast.next_year()}
    employed: Parts = {"person": manager, "company": company, "year": cast.next_year()}
    married: Parts = {
        "person": manager,
        "spouse": cast.spouse_of(manager),
        "year": cast.next_year(),
    }
    opening = cast.chance.choice([["founding"], ["founding by two"], ["inception", "founder"]])
    chains: list[list[Step]] = [
        [
            ("seat", {"company": company, "town": town}),
            *_place(cast, town, cast.country_beside(country)),
        ],
        [("birth", birth), ("school", school)],
        [("nationality", life)],
        [("employer", employed), ("marriage", married)][: cast.chance.randrange(1, 3)],
    ]
    distractions = ("trade", "fair", "product", "bad year")
    steps = _arranged(cast, chains, {"company": company}, distractions)
    return company.name, [*((topic, founded) for topic in opening), *steps]


def _place(cast: Cast, town: Thing, country: Thing) -> list[Step]:
    parts = {"town": town, "country": country, "region": cast.other("region")}
    topics = cast.chance.choice(
        [["region", "region's country"], ["town's country"], ["region and country"], ["region"]]
    )
    return [(topic, parts) for topic in topics]


def _arranged(
    cast: Cast, chains: list[list[Step]], subject: Parts, distractions: Sequence[str]
) -> list[Step]:
    """Some of the chains in any order, with distractions anywhere between their steps."""
    chosen = cast.chance.sample(chains, k=cast.chance.randrange(2, len(chains)))
    steps = [step for chain in chosen for step in chain]
    for topic in cast.chance.sample(distractions, k=cast.chance.randrange(2, 4)):
        newcomers = {part: make(cast) for part, make in NEWCOMERS[topic].items()}
        place = cast.chance.randrange(len(steps) + 1)
        steps.insert(place, (topic, {**subject, **newcomers, "year": cast.next_year()}))
    return steps


def documents(split: str, seed: int) -> Iterator[Document]:
    """The documents of one file; biographies and company profiles in turn."""
    chance = random.Random(f"{split} {seed}")
    seen: set[str] = set()
    while len(seen) < FILES[split]:
        plan: Callable[[Cast], tuple[str, list[Step]]] = profile if len(seen) % 2 else biography
        cast = Cast(chance, split)
        title, steps = plan(cast)
        teller = Teller(chance)
        for topic, parts in steps:
            teller.tell((FACTS | DISTRACTIONS)[topic], {**cast.words(), **parts})
        document = teller.document(title)
        right_size = len(document.sentences) in SENTENCES and len(document.entities) in ENTITIES
        if right_size and title not in seen:
            seen.add(title)
            yield document.replace(relations=()) if split == "unseen" else document


def main(command_line: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the example documents.")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    arguments = parser.parse_args(command_line)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for split in FILES:
        path = arguments.output / f"profiles-{split}.jsonl"
        print(f"{path}: {formats.write(documents(split, arguments.seed), path)} documents")


if __name__ == "__main__":
    main()
