"""The SPARQL that answers a question: a path as a query that anybody can ask the store."""

from collections.abc import Sequence

from factloom.graph.identifiers import relation_iri
from factloom.graph.vocabulary import PREFIXES
from factloom.text.relation_phrases import Step

_SAME = "(owl:sameAs|^owl:sameAs)*"  # through merges
_SPECIAL = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def path_query(name: str, steps: Sequence[Step], form: str = "SELECT DISTINCT ?answer") -> str:
    """What is reached from what is called `name` over the steps, as `?answer`.

    >>> print(path_query("Quillmark", [Step("P112")]))
    SELECT DISTINCT ?answer {
      ?a rdfs:label|skos:altLabel "Quillmark" ; (owl:sameAs|^owl:sameAs)* ?from0 .
      ?from0 wdt:P112 ?to0 .
      ?to0 rdfs:label ?answer .
    }
    """
    named = f'  ?a rdfs:label|skos:altLabel "{name.translate(_SPECIAL)}" ; {_SAME} ?from0 .'
    lines = [f"{form} {{", named]
    for number, step in enumerate(steps):
        ends = f"?from{number}", f"?to{number}"
        head, tail = reversed(ends) if step.backwards else ends
        lines.append(f"  {head} {_short(step.relation)} {tail} .")
        if number + 1 < len(steps):
            lines.append(f"  ?to{number} {_SAME} ?from{number + 1} .")
    lines += [f"  ?to{len(steps) - 1} rdfs:label ?answer .", "}"]
    return "\n".join(lines)


def _short(relation: str) -> str:
    iri = relation_iri(relation)
    start = PREFIXES["wdt"]
    return f"wdt:{iri.removeprefix(start)}" if iri.startswith(start) else f"<{iri}>"
