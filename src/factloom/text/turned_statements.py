"""Documents once more, with a sentence in them turned into what does not state its facts.

Annotated texts mostly say what is so, and a model that has seen two names behind each other in a
thousand sentences that join them joins them wherever they meet. In a copy one sentence is turned:

    Ada Brook founded Quillmark in Torvik.              founded by holds
    Ada Brook never founded Quillmark in Torvik.        denied
    It is not known whether Ada Brook founded ...       denied
    Ada Brook photographed Quillmark in Torvik.         denied
    Ada Brook was born not in Esbury but in Torvik.     holds of Torvik, denied of Esbury

A rule knows no grammar, so it is careful about what it denies: a fact that this sentence alone
proves, whose ends stand on both sides of the verb and in one clause with it. Of the other facts
that the sentence proves, nothing is known afterwards.
"""

import dataclasses
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.text.document_parts import part_of

Edit = tuple[int, int, str]  # a stretch of the text, and what stands there instead
Pair = tuple[int, int]

_BASES = """
    founded found, established establish, acquired acquire, bought buy, joined join, married marry,
    wrote write, directed direct, won win, led lead, leads lead, runs run, ran run, owns own,
    owned own, built build, designed design, makes make, made make, published publish,
    studied study, teaches teach, taught teach, works work, worked work, lives live, lived live,
    died die, plays play, played play, signed sign, sponsors sponsor, heads head, headed head,
    chairs chair, chaired chair, manages manage, managed manage, employs employ, employed employ,
    develops develop, developed develop, manufactures manufacture, manufactured manufacture,
    produces produce, produced produce, released release, composed compose, painted paint,
    performed perform, invested invest, attended attend, graduated graduate, served serve,
    succeeded succeed, replaced replace, belongs belong, lies lie, stands stand, holds hold,
    held hold, became become, comes come, came come, moved move, represents represent,
    represented represent, supplies supply, operates operate, operated operate
"""
BASES: Mapping[str, str] = dict(pair.split() for pair in _BASES.split(","))  # of finite verbs
_BE = frozenset({"was", "is", "were", "are"})
_VERB = re.compile(rf"\b(?:{'|'.join((*_BE, *BASES))})\b")
_SUBJECT = re.compile(r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|who|which)$")  # or a name
_PARTICIPLE = re.compile(r" (?:by|together)\b")  # what follows it
_CLAUSE_END = re.compile(
    r"[;:]|,? and (?=[a-z])"
    r"| (?:but|while|where|which|who|whose|when|because|after|before)\b"
)
_NOT_PLAIN = re.compile(r"\b(?:not|never|no|nobody|nor|denied|if|would|will)\b|n't|[?!\"“”|]", re.I)
_SMALL_AFTER = re.compile(r"(?:The|A|An|He|She|It|They|In|On|At|His|Her|Its|Their|Our)\b")

_ANY_BE_TURNS = ("{verb} not", "{verb} never")
_BE_TURNS = {
    "was": (*_ANY_BE_TURNS, "was said not to be", "may have been", "was hoped to be"),
    "is": (*_ANY_BE_TURNS, "may be", "hopes to be"),
}
_PAST_TURNS = ("never {verb}", "did not {base}", "refused to {base}", "failed to {base}",
               "hoped to {base}", "almost {verb}", "was asked to {base}")  # fmt: skip
_PRESENT_TURNS = ("never {verb}", "does not {base}", "plans to {base}",
                  "hopes to {base}", "refuses to {base}", "may one day {base}")  # fmt: skip
_OTHER_VERBS = ("visited", "photographed", "praised", "criticised", "mentioned", "wrote to",
                "dreamt of", "asked about", "made fun of", "recommended")  # fmt: skip
_OTHER_STAYS = ("changed trains", "gave a talk", "spent a weekend", "lost a suitcase", "was seen")
_PREPOSITION = re.compile(r" (?:in|at|by|for) (?=$)")  # right in front of a name
_SHORT_PHRASE = 4  # words, such as "was born in"
_AGAIN = ("he", "she", "it", "they", "in truth it")
_BEFORE = ("It is not true that ", "There is no evidence that ", "It was wrongly reported that ",
           "It is not known whether ", "Nobody believes that ", "The rumour that ",
           "We asked whether ")  # fmt: skip
_BEHIND = {"The rumour that ": " is wrong."}
_CLAIMS = (", or so it was wrongly claimed.", ", some say, but that is wrong.", "? No.")


def with_turned_statements(documents: Sequence[Document], copies: int, seed: int) -> list[Document]:
    """`copies` of every document in which a sentence can be turned, and as many of each of its
    sentences that can be turned, alone."""
    chance = random.Random(seed)
    names = _Names.of(documents)
    found = []
    for document in documents:
        alone = (part_of(document, n, n + 1) for n in range(len(document.sentences)))
        for source in (document, *alone):
            for copy in range(1, copies + 1):
                turned = turned_somewhere(source, names, chance)
                if turned is not None:
                    found.append(turned.replace(id=f"{source.id} turned {copy}"))
    return found


def turned_somewhere(document: Document, names: "_Names", chance: random.Random) -> Document | None:
    """The document with one of its sentences turned, or nothing where none can be."""
    numbers = list(range(len(document.sentences)))
    chance.shuffle(numbers)
    for number in numbers:
        statement = _Statement.of(document, number)
        if statement is not None and (turned := statement.turned(names, chance)) is not None:
            return turned
    return None


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that occur, by type."""

    by_type: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "_Names":
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for document in documents:
            for entity in document.entities:
                found[entity.type][document.mention_text(entity.mentions[0])] = None
        return cls({type: tuple(names) for type, names in found.items()})

    def other(self, type: str, text: str, chance: random.Random) -> str | None:
        """A name of the type that the text does not have."""
        free = [name for name in self.by_type.get(type, ()) if name not in text]
        return chance.choice(free) if free else None


@dataclass(frozen=True, slots=True)
class _Statement:
    """A plain sentence with a verb, and which of the facts that it proves hang on that verb."""

    document: Document
    number: int  # of the sentence
    verb: re.Match[str]  # in the text
    denied: frozenset[Pair]  # both ways
    open: frozenset[Pair]  # what else the sentence proves

    @classmethod
    def of(cls, document: Document, number: int) -> "_Statement | None":
        sentence = document.sentences[number]
        text = document.text[sentence.start : sentence.end]
        if not text.endswith(".") or _NOT_PLAIN.search(text):
            return None
        verb = _verb(document, sentence)
        if verb is None:
            return None
        proved = [r for r in document.relations if number in r.evidence]
        end = _CLAUSE_END.search(document.text, verb.end(), sentence.end)
        clause = sentence.start, verb.start(), end.start() if end else sentence.end
        denied = {
            (relation.head, relation.tail)
            for relation in proved
            if relation.evidence == (number,) and _hangs_on(document, sentence, clause, relation)
        }
        both = frozenset(denied | {(tail, head) for head, tail in denied})
        others = frozenset((r.head, r.tail) for r in proved) - both
        return cls(document, number, verb, both, others) if denied else None

    def turned(self, names: _Names, chance: random.Random) -> Document | None:
        """With the verb denied, another verb, a frame around the sentence, or another end."""
        ways: list[Callable[[], Document | None]] = [
            lambda: self._without(self._denied_verb(chance)),
            lambda: self._without(self._denied_verb(chance)),
            lambda: self._without(self._other_verb(chance)),
            lambda: self._without(self._framed(chance)),
            lambda: self._with_other_end(names, chance),
        ]
        chance.shuffle(ways)
        return next((turned for way in ways if (turned := way()) is not None), None)

    def _denied_verb(self, chance: random.Random) -> list[Edit]:
        word = self.verb.group()
        turns: Sequence[str] = _PRESENT_TURNS if word.endswith("s") else _PAST_TURNS
        if word in _BE:
            turns = _BE_TURNS.get(word, _ANY_BE_TURNS)
        new = chance.choice(turns).format(verb=word, base=BASES.get(word, "be"))
        return [(*self.verb.span(), new)]

    def _other_verb(self, chance: random.Random) -> list[Edit]:
        """A verb that joins nothing, where an object or a place follows."""
        text, (start, end) = self.document.text, self.verb.span()
        starts = {mention.start for mention in self.document.mentions}
        if end + 1 in starts and self.verb.group() not in _BE:
            return [(start, end, chance.choice(_OTHER_VERBS))]
        place = re.compile(r"(?: born| based)? (?=in )").match(text, end)
        if place and place.end() + len("in ") in starts:
            return [(start, place.end() - 1, chance.choice(_OTHER_STAYS))]
        return []

    def _framed(self, chance: random.Random) -> list[Edit]:
        sentence = self.document.sentences[self.number]
        start, last = sentence.start, sentence.end - 1
        if chance.random() < 1 / 4:
            return [(last, sentence.end, chance.choice(_CLAIMS))]
        named = any(mention.start == start for mention in self.document.mentions)
        if not named and not _SMALL_AFTER.match(self.document.text, start):
            return []
        before = chance.choice(_BEFORE)
        edits = [(start, start, before)]
        if not named:
            edits = [(start, start + 1, before + self.document.text[start].lower())]
        return [*edits, (last, sentence.end, _BEHIND[before])] if before in _BEHIND else edits

    def _without(self, edits: list[Edit]) -> Document | None:
        """The edited document, in which the facts of this sentence are denied or unknown."""
        if not edits:
            return None
        lost = self.denied | self.open
        kept = [r for r in self.document.relations if (r.head, r.tail) not in lost]
        kept += [
            relation
            for relation in self.document.relations
            if (relation.head, relation.tail) in self.open and self.number not in relation.evidence
        ]
        denied = [
            relation
            for relation in self.document.relations
            if (relation.head, relation.tail) in self.denied
        ]
        return _edited(self.document, edits, self.number).replace(
            relations=tuple(kept),
            denied=(*self.document.denied, *denied),
            unknown=tuple(sorted({*self.document.unknown, *self.open})),
        )

    def _with_other_end(self, names: _Names, chance: random.Random) -> Document | None:
        """What holds still holds, and is denied of another, whose name stands beside."""
        document, text = self.document, self.document.text
        last = document.sentences[self.number].end
        ends = sorted({end for pair in self.denied for end in pair})
        for number in ends:
            for index in document.entities[number].mentions:
                mention = document.mentions[index]
                other = names.other(mention.type, text, chance)
                before = _PREPOSITION.search(text, self.verb.end(), mention.start)
                if other is None or before is None or not mention.end <= last:
                    continue
                start, before_other, behind_other = self._beside(before, mention, chance)
                edit = start, start, f"{before_other}{other}{behind_other}"
                changed = _edited(document, [edit], self.number)
                place = start + len(before_other)
                return _with_denied_end(changed, number, (place, place + len(other)), self.number)
        return None

    def _beside(
        self, before: re.Match[str], mention: Mention, chance: random.Random
    ) -> tuple[int, str, str]:
        """Where the other name comes in, and the words in front of it and behind it."""
        text, verb = self.document.text, self.verb
        word = before.group().strip()  # the preposition
        ways = [(before.start() + 1, f"not {word} ", " but ")]
        if text[mention.end : mention.end + 1] in (".", ";"):
            ways.append((mention.end, f", not {word} ", ""))
        if verb.group() in _BE and len(text[verb.start() : mention.start].split()) <= _SHORT_PHRASE:
            denied = f"{verb.group()} not{text[verb.end() : mention.start]}"
            ways.append((verb.start(), denied, f"; {chance.choice(_AGAIN)} "))
        return chance.choice(ways)


def _verb(document: Document, sentence: Sentence) -> re.Match[str] | None:
    """The first finite verb that follows its subject."""
    name_ends = {mention.end for mention in document.mentions}
    inside = [
        (mention.start, mention.end)
        for mention in document.mentions
        if sentence.start <= mention.start < sentence.end
    ]
    for verb in _VERB.finditer(document.text, sentence.start, sentence.end):
        before = verb.start() - 1  # a space
        if any(start <= verb.start() < end for start, end in inside):
            continue
        text = document.text[sentence.start : max(before, sentence.start)]
        finite = verb.group() in _BE or not _PARTICIPLE.match(document.text, verb.end())
        subject = before in name_ends or _SUBJECT.search(text)
        if finite and (subject or (verb.group() in _BE and text.endswith(","))):
            return verb
    return None


def _hangs_on(
    document: Document, sentence: Sentence, clause: tuple[int, int, int], relation: Relation
) -> bool:
    """Whether the ends stand on both sides of the verb, and nowhere else together."""
    first, verb, last = clause
    places = [
        [document.mentions[m].start for m in document.entities[end].mentions]
        for end in (relation.head, relation.tail)
    ]
    sentences = [document.entity_sentences(end) for end in (relation.head, relation.tail)]
    if len(sentences[0] & sentences[1]) > 1:  # another sentence may say it, too
        return False
    inside = [[p for p in own if first <= p < sentence.end] for own in places]
    behind = [bool(own) and all(verb < p < last for p in own) for own in inside]
    # a subject that is a pronoun has no mention here
    before = [all(p < verb for p in own) for own in inside]
    return (behind[0] and before[1]) or (behind[1] and before[0])


def _edited(document: Document, edits: Sequence[Edit], number: int) -> Document:
    """The document with other text in one of its sentences; what is put in front belongs to it."""
    pieces, done = [], 0
    for start, end, new in edits:
        pieces += [document.text[done:start], new]
        done = end

    def moved(place: int, *, is_end: bool) -> int:
        """What is put in before a start moves it, what is put in behind an end does not."""
        return place + sum(
            len(new) - (end - start)
            for start, end, new in edits
            if (end < place if is_end else end <= place)
            or (start < end == place)
            or (start == place - 1 < place < end)
        )

    sentences = [
        Sentence(
            sentence.start if index == number else moved(sentence.start, is_end=False),
            moved(sentence.end, is_end=True),
        )
        for index, sentence in enumerate(document.sentences)
    ]
    mentions = [
        dataclasses.replace(m, start=moved(m.start, is_end=False), end=moved(m.end, is_end=True))
        for m in document.mentions
    ]
    text = "".join((*pieces, document.text[done:]))
    return document.replace(
        text=text, sentences=tuple(sentences), mentions=tuple(mentions), questions=()
    )


def _with_denied_end(
    document: Document, instead: int, span: tuple[int, int], number: int
) -> Document:
    """With another entity at a place, of which everything is denied that holds of one."""
    type = document.entities[instead].type
    other = len(document.entities)
    moved = {instead: other}
    denied = tuple(
        dataclasses.replace(
            relation,
            head=moved.get(relation.head, relation.head),
            tail=moved.get(relation.tail, relation.tail),
            evidence=(number,),
        )
        for relation in document.relations
        if instead in (relation.head, relation.tail) and relation.evidence == (number,)
    )
    return document.replace(
        mentions=(*document.mentions, Mention(*span, type)),
        entities=(*document.entities, Entity((len(document.mentions),), type)),
        denied=(*document.denied, *denied),
    )
