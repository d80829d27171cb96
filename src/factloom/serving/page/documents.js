"use strict";

// What the service answers, as the page's views have it:
//   a document   {id, isKept, text, sentences, mentions, things, facts}: things by their keys
//   a mention    {start, end, type, entities}: keys of things
//   a thing      {key, name, type, iri}: `iri` is its address in the store, null outside of one
//   a fact       {key, head, tail, relation, name, score, decision, evidence, reasons}
//   evidence     {document, address, score, decision, sentences, quotes}: numbers, where they are
//                known, and texts of sentences; `address` is the statement's in the store
//   a reason     two facts in words, [[head, relation, tail], [head, relation, tail]]

// A text that was read and not kept. Its facts in words come in the order of its relations.
function readDocument({ id, document, facts }) {
  const entities = document.entities ?? [];
  const called = namesOfEntities(document, entities);
  const things = entities.map(({ type }, number) => ({
    key: `${id} ${number}`,
    name: called[number],
    type,
    iri: null,
  }));
  const names = facts.map((fact) => fact.relation);
  const found = (document.relations ?? []).map((relation, number) => ({
    ...factOf(document, relation, things, names),
    name: names[number],
    score: relation.score ?? null,
    decision: null,
    evidence: [
      {
        document: id,
        address: null,
        score: relation.score ?? null,
        decision: null,
        sentences: relation.evidence ?? [],
        quotes: facts[number].evidence,
      },
    ],
  }));
  return { id, isKept: false, ...textOf(document, things), facts: found };
}

// A document of the store: as it was taken in, what its entities stand for, and its facts as
// people have left them. The number of a fact's address is that of the document's relation.
function keptDocument(document, told, stated) {
  const things = told.map(thingOf);
  const names = new Map(stated.map((fact) => [fact.relation, fact.name]));
  const relations = document.relations ?? [];
  const words = relations.map((relation) => names.get(relation.type) ?? relation.type);
  const facts = stated.map((fact) => {
    const [said] = fact.evidence;
    const relation = relations[Number(said.fact.split("#fact=")[1])];
    const found = statedFact(fact);
    if (!relation) return found; // the document has become another one meanwhile
    const own = factOf(document, relation, things, words);
    found.evidence[0].sentences = relation.evidence ?? [];
    return { ...found, reasons: own.key === found.key ? own.reasons : [] };
  });
  return { id: document.id, isKept: true, ...textOf(document, things), facts };
}

// A fact of the store as the service tells it, of one or more documents.
function statedFact(fact) {
  const [head, tail] = [thingOf(fact.head), thingOf(fact.tail)];
  return {
    key: `${head.key} ${fact.relation} ${tail.key}`,
    head,
    tail,
    relation: fact.relation,
    name: fact.name,
    score: fact.score,
    decision: fact.decision,
    evidence: fact.evidence.map((said) => ({
      document: said.document,
      address: said.fact,
      score: said.score,
      decision: said.decision,
      sentences: [],
      quotes: said.sentences,
    })),
    reasons: [],
  };
}

// A fact that an answer rests on: it knows its things by their names alone.
function usedFact(fact) {
  const byName = (name) => ({ key: name, name, type: null, iri: null });
  const documents = [...new Set(fact.evidence.map((proof) => proof.document))];
  return {
    key: `${fact.head} ${fact.relation} ${fact.tail}`,
    head: byName(fact.head),
    tail: byName(fact.tail),
    relation: fact.relation,
    name: fact.name,
    score: fact.score,
    decision: null,
    evidence: documents.map((document) => ({
      document,
      address: null,
      score: fact.score,
      decision: null,
      sentences: [],
      quotes: fact.evidence
        .filter((proof) => proof.document === document)
        .map((proof) => proof.sentence),
    })),
    reasons: [],
  };
}

// Of the same fact as several documents state it one.
function unitedFacts(facts) {
  const united = new Map();
  for (const fact of facts) {
    const known = united.get(fact.key);
    if (!known) {
      united.set(fact.key, { ...fact, evidence: [...fact.evidence] });
      continue;
    }
    const addresses = new Set(known.evidence.map((said) => said.address));
    known.evidence.push(...fact.evidence.filter((said) => !addresses.has(said.address)));
    if (fact.score !== null) known.score = Math.max(known.score ?? 0, fact.score);
    if (known.decision === null || known.decision === "rejected") known.decision = fact.decision;
  }
  return [...united.values()];
}

// What people have decided, or annotated, is sure.
function certainty({ score, decision }) {
  if (decision) return decision === "rejected" ? 0 : 1;
  return score ?? 1;
}

function thingOf({ iri, name, type }) {
  return { key: iri, name, type, iri };
}

function factOf(document, relation, things, names) {
  const [head, tail] = [things[relation.head], things[relation.tail]];
  return {
    key: `${head.key} ${relation.type} ${tail.key}`,
    head,
    tail,
    relation: relation.type,
    reasons: reasonsOf(document, relation, things, names),
  };
}

// The bridges that a reasoning model attended to: of each, the surest relation between the ends of
// each of its two premises, where the document states them. explanations.py has the same in words.
function reasonsOf(document, relation, things, names) {
  const stated = new Map(
    document.relations.map((each, number) => [
      `${each.head} ${each.type} ${each.tail}`,
      { ...each, name: names[number] },
    ]),
  );
  const reasons = [];
  for (const { premises = [] } of relation.provenance?.bridges ?? []) {
    const best = new Map();
    for (const [head, type, tail] of premises) {
      const premise = stated.get(`${head} ${type} ${tail}`);
      const known = best.get(`${head} ${tail}`);
      if (premise && (!known || (premise.score ?? 0) > (known.score ?? 0)))
        best.set(`${head} ${tail}`, premise);
    }
    if (best.size === 2)
      reasons.push(
        [...best.values()].map(({ head, name, tail }) => [
          things[head].name,
          name,
          things[tail].name,
        ]),
      );
  }
  return reasons;
}

function textOf(document, things) {
  const keys = new Map();
  (document.entities ?? []).forEach((entity, number) => {
    for (const mention of entity.mentions)
      keys.set(mention, [...(keys.get(mention) ?? []), things[number].key]);
  });
  return {
    text: document.text,
    sentences: document.sentences ?? [],
    mentions: (document.mentions ?? []).map((mention, number) => ({
      start: mention.start,
      end: mention.end,
      type: mention.type,
      entities: keys.get(number) ?? [],
    })),
    things: new Map(things.map((thing) => [thing.key, thing])),
  };
}

// The longest name of each entity, on one line, as the service calls it; pronouns only where an
// entity has nothing else.
function namesOfEntities(document, entities) {
  const signs = [...document.text];
  const length = (name) => [...name].length;
  return entities.map((entity) => {
    const all = entity.mentions.map((number) => document.mentions[number]);
    const named = all.filter((mention) => (mention.kind ?? "name") === "name");
    const names = (named.length ? named : all)
      .sort((one, other) => one.start - other.start)
      .map(({ start, end }) => onOneLine(signs.slice(start, end).join("")));
    return names.reduce((best, name) => (length(name) > length(best) ? name : best));
  });
}

function onOneLine(name) {
  const joined = name.replace(/(?<=[\u3400-\u9fff])[^\S\n\r]*[\n\r]\s*(?=[\u3400-\u9fff])/g, "");
  return joined.split(/\s+/).filter(Boolean).join(" ") || name;
}
