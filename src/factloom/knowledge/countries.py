"""Countries that a graph has under several names: Sweden, and beside it what texts call Swedish.

Documents tell of "a Swedish town", and its country is a thing of its own then. Whoever asks what
a graph lacks is not helped by the answer that a town in Sweden is a Swedish one.

    one = countries_as_one(base)
    facts = facts_as_one(base.certainties(), one)
"""

from collections import defaultdict
from collections.abc import Mapping

from factloom.graph.knowledge_base import KnowledgeBase, KnownFact
from factloom.graph.name_keys import name_key
from factloom.text.demonyms import country_of


def countries_as_one(base: KnowledgeBase) -> dict[str, str]:
    """For what is called by another name of a country: the thing of the same type that is called
    by the country's own. Without such a thing it stays what it is: "German" may be a language.
    """
    others: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    main: dict[tuple[str, str], str] = {}
    for id in base.ids():
        entity = base.entity(id)
        country = country_of(entity.name)
        if country is None:
            continue
        key = entity.type, country
        if name_key(entity.name) == name_key(country):
            main.setdefault(key, id)
        else:
            others[key].append(id)
    return {id: main[key] for key, ids in others.items() if key in main for id in ids}


def facts_as_one(
    certainties: Mapping[KnownFact, float], one: Mapping[str, str]
) -> dict[KnownFact, float]:
    """The facts with these ends in place of others, each as certain as the surest that became it;
    what leads from a country to itself then is left out.
    """
    found: defaultdict[KnownFact, float] = defaultdict(float)
    for fact, certainty in certainties.items():
        subject, object = (one.get(end, end) for end in (fact.subject, fact.object))
        if subject != object or fact.subject == fact.object:
            meant = KnownFact(subject, fact.relation, object)
            found[meant] = max(found[meant], certainty)
    return dict(found)
