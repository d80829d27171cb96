"""Facts as Experts: whether answers follow the facts of the memory, also when these are changed.

    python benchmarks/edited_facts.py make runs/trex
    factloom train configs/facts-trex.toml
    python benchmarks/edited_facts.py ask runs/facts-trex/best runs/trex     # a JSON line each

T-REx facts of LAMA in ParaRel's patterns: "Allan Peiper was born in [MASK]." No subject of a
question is in training, nor is the pattern of a question, the first of its relation. Every fifth
relation is held out wholly. Each question is asked three times: with its fact in the memory,
without it, and with another object of the relation in its place, which is what is right then. All
other facts are in the memory each time, and for each subject one that is invented, of another
relation, so that it is not enough to find the subject (--alone leaves these out). A third of the
facts of training are not in the memory, so that the model learns what to say without. An answer is
right when the best of all entities is the object.
"""

import argparse
import json
import random
import tarfile
import time
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloom.document import Document, Entity, Mention, Sentence
from factloom.files.data_path import data_path
from factloom.formats import write
from factloom.graph.knowledge_base import KnownEntity, KnownFact
from factloom.knowledge.tables import Tables
from factloom.text.relation_names import RELATIONS

ARCHIVE = "$FACTLOOM_DATA/lama_pararel/trex_and_patterns.tar.gz"
MASK = "[MASK]"
EACH, ASKED = 60, 15  # facts of a relation, and how many of them are questions
HELD_OUT = 5  # every which relation
QUESTIONS = "questions.json"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with sentences that say it, of [X] and [Y], and facts."""

    id: str
    patterns: tuple[str, ...]
    facts: tuple[KnownFact, ...]


def _records(archive: tarfile.TarFile, name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in archive.extractfile(name) or ()]


def relations() -> Iterator[Relation]:
    """Those with two patterns at least, and facts of `EACH` subjects that have one object."""
    chance = random.Random(0)
    with tarfile.open(data_path(ARCHIVE)) as archive:
        patterned = (n for n in archive.getnames() if "graphs_json" in n and n.endswith(".jsonl"))
        for file in sorted(patterned):
            id = Path(file).stem
            patterns = tuple(record["pattern"] for record in _records(archive, file))
            objects: defaultdict[str, set[str]] = defaultdict(set)
            for record in _records(archive, f"trex_lms_vocab/{id}.jsonl"):
                objects[record["sub_label"]].add(record["obj_label"])
            one = {s: min(of) for s, of in sorted(objects.items()) if len(of) == 1}
            chosen = chance.sample([s for s in one if s != one[s]], min(EACH, len(one)))
            if len(patterns) > 1 and len(chosen) == EACH and id in RELATIONS:
                yield Relation(id, patterns, tuple(KnownFact(s, id, one[s]) for s in chosen))


def sentence(fact: KnownFact, pattern: str, id: str) -> Document:
    """What says the fact, with a mask for its object."""
    before, after = pattern.split("[X]")
    asked_first = "[Y]" in before
    before, after = (part.replace("[Y]", MASK) for part in (before, after))
    text = before + fact.subject + after
    subject = Mention(len(before), len(before) + len(fact.subject), "entity")
    start = before.index(MASK) if asked_first else len(before + fact.subject) + after.index(MASK)
    mentions = subject, Mention(start, start + len(MASK), "entity")
    entities = Entity((0,), "entity", fact.subject), Entity((1,), "entity", fact.object)
    return Document(text, id, (Sentence(0, len(text)),), mentions, entities)


def base(facts: Iterable[KnownFact], entities: Iterable[str]) -> Tables:
    return Tables.build((KnownEntity(name, {name: 1}) for name in entities), facts)


def make(folder: Path) -> None:
    chance = random.Random(1)
    all_relations = list(relations())
    learned = [r for n, r in enumerate(all_relations) if n % HELD_OUT]
    asked = {fact.subject for r in all_relations for fact in r.facts[:ASKED]}
    told = [(r, f) for r in learned for f in r.facts[ASKED:] if f.subject not in asked]
    documents = [
        sentence(fact, chance.choice(relation.patterns[1:]), str(number))
        for number, (relation, fact) in enumerate(told)
    ]
    known = [fact for number, (_, fact) in enumerate(told) if number % 3]
    folder.mkdir(parents=True, exist_ok=True)
    write(documents, folder / "train.jsonl")
    entities = dict.fromkeys(e for _, f in told for e in (f.subject, f.object))
    base(known, entities).save(folder / "base")
    questions = list(_questions(all_relations, {relation.id for relation in learned}, chance))
    kept = [[f.subject, f.relation, f.object] for _, f in told]
    text = json.dumps({"facts": kept, "questions": questions}, ensure_ascii=False, indent=1)
    (folder / QUESTIONS).write_text(text, encoding="utf-8")
    counts = f"{len(learned)} of {len(all_relations)} relations, {len(documents):,} documents"
    print(f"{folder}: {counts}, {len(known):,} facts, {len(questions):,} questions")


def _questions(
    all_relations: Sequence[Relation], learned: Container[str], chance: random.Random
) -> Iterator[dict[str, Any]]:
    invention = random.Random(2)
    for relation in all_relations:
        objects = sorted({fact.object for fact in relation.facts})
        for fact in relation.facts[:ASKED]:
            others = [other for other in objects if other not in (fact.object, fact.subject)]
            another = invention.choice([r for r in all_relations if r.id != relation.id])
            told = [each.object for each in another.facts if each.object != fact.subject]
            yield {
                "subject": fact.subject,
                "relation": relation.id,
                "object": fact.object,
                "other": chance.choice(others),
                "beside": [fact.subject, another.id, invention.choice(told)],
                "pattern": relation.patterns[0],
                "held_out": relation.id not in learned,
            }


def answers(model: Any, known: Tables, asked: Sequence[Document]) -> list[str | None]:
    """The best entity for the mask of each document."""
    with model.source.replaced(known):
        found = model.predict(asked)
    best = [document.entities[1].link_candidates for document in found]
    return [str(candidates[0]["id"]) if candidates else None for candidates in best]


def ask(path: str, folder: Path, alone: bool) -> None:
    import factloom

    model = factloom.load(path).model
    content = json.loads((folder / QUESTIONS).read_text(encoding="utf-8"))
    questions, told = content["questions"], [KnownFact(*fact) for fact in content["facts"]]
    facts = [KnownFact(q["subject"], q["relation"], q["object"]) for q in questions]
    changed = [KnownFact(q["subject"], q["relation"], q["other"]) for q in questions]
    if not alone:
        told += [KnownFact(*q["beside"]) for q in questions]
    entities = list(
        dict.fromkeys(e for f in (*told, *facts, *changed) for e in (f.subject, f.object))
    )
    pairs = enumerate(zip(facts, questions, strict=True))
    asked = [sentence(fact, question["pattern"], str(n)) for n, (fact, question) in pairs]
    memories = {"in the memory": (facts, facts), "not in it": ([], facts)}
    memories["changed"] = (changed, changed)
    for name, (in_memory, right) in memories.items():
        start = time.process_time()
        found = answers(model, base([*told, *in_memory], entities), asked)
        seconds = time.process_time() - start
        for held_out in (False, True):
            rows = [n for n, q in enumerate(questions) if q["held_out"] is held_out]
            correct = sum(found[n] == right[n].object for n in rows)
            before = sum(found[n] == facts[n].object for n in rows)
            told_of = {"benchmark": "edited facts", "fact": name, "relation_held_out": held_out}
            told_of["alone"] = alone
            shares = {"right": correct / len(rows), "as_before": before / len(rows)}
            counts = {
                "questions": len(rows),
                "entities": len(entities),
                "seconds": round(seconds, 1),
            }
            rounded = {key: round(value, 4) for key, value in shares.items()}
            print(json.dumps({**told_of, **rounded, **counts}), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    parts = arguments.add_subparsers(dest="part", required=True)
    parts.add_parser("make").add_argument("folder", type=Path)
    asking = parts.add_parser("ask")
    asking.add_argument("model")
    asking.add_argument("folder", type=Path)
    asking.add_argument("--alone", action="store_true")
    given = arguments.parse_args()
    if given.part == "make":
        make(given.folder)
    else:
        ask(given.model, given.folder, given.alone)


if __name__ == "__main__":
    main()
