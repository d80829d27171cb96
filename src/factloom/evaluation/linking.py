"""How well entities are linked: mention by mention, so that entities may be grouped differently.

A link is a (document, start, end, id): the mention of an entity that has an identifier. It is
correct when the gold holds the same one.

    precision = correct / predicted,   recall = correct / gold,   F1 = 2 p r / (p + r)
    accuracy  = mentions of the gold with the right answer, which may be none / mentions

Links of the gold are told apart by what the linker had to choose from, where it says so (the
attribute "candidates" of the predicted entities): several candidates, one, or not the right one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloom.document import Document, Entity, Span
from factloom.evaluation.matching import require_same_text
from factloom.evaluation.relations import Counts, require_distinct_ids


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Every count that the measures need."""

    documents: int  # in the gold
    unknown_documents: int
    links: Counts
    several: Counts  # of those for which there are several candidates
    one: Counts  # of those for which there is one
    mentions: int  # of the gold, linked or not
    answered_right: int
    offered: int  # links of the gold whose entity is among the candidates
    says_candidates: bool
    per_document: dict[str, Counts]

    @property
    def accuracy(self) -> float | None:
        return self.answered_right / self.mentions if self.mentions else None

    @property
    def candidate_recall(self) -> float | None:
        known = self.says_candidates and self.links.gold
        return self.offered / self.links.gold if known else None


def evaluate(gold: Iterable[Document], predicted: Iterable[Document]) -> LinkReport:
    """Compare the links of two sets of documents, matched by their id."""
    gold, predicted = list(gold), list(predicted)
    require_distinct_ids(gold)
    require_same_text(gold, predicted)
    answers = {document.id: _by_mention(document) for document in predicted}
    several, one = Counts(), Counts()
    mentions = right = offered = 0
    per_document = {}
    for document in gold:
        found = answers.pop(document.id, {})
        counts = Counts(predicted=_linked(found))
        for span, entity in _by_mention(document).items():
            answer = found.get(span)
            told = answer.id if answer else None
            mentions += 1
            right += told == entity.id
            if entity.id is None:
                continue
            candidates = answer.link_candidates if answer else ()
            offered += any(each.get("id") == entity.id for each in candidates)
            judged = Counts(int(told == entity.id), int(told is not None), 1)
            counts += Counts(judged.correct, 0, 1)
            if len(candidates) > 1:
                several += judged
            elif candidates:
                one += judged
        per_document[document.id] = counts
    rest = sum((Counts(predicted=_linked(found)) for found in answers.values()), Counts())
    return LinkReport(
        documents=len(gold),
        unknown_documents=len(answers),
        links=sum(per_document.values(), rest),
        several=several,
        one=one,
        mentions=mentions,
        answered_right=right,
        offered=offered,
        says_candidates=_says_candidates(predicted),
        per_document=per_document,
    )


def _by_mention(document: Document) -> dict[Span, Entity]:
    """The entity of each mention; of several mentions with the same words the first counts."""
    found: dict[Span, Entity] = {}
    for entity in document.entities:
        for index in entity.mentions:
            mention = document.mentions[index]
            found.setdefault((mention.start, mention.end), entity)
    return found


def _linked(found: dict[Span, Entity]) -> int:
    return sum(entity.id is not None for entity in found.values())


def _says_candidates(predicted: Sequence[Document]) -> bool:
    return any(entity.link_candidates for document in predicted for entity in document.entities)
