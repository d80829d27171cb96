"use strict";

// The store: a search for things, what is around one, a path to another, all of it as far as it can
// be drawn with ease. A click on a thing in the graph brings its facts to those that are there.

// A field that finds things of the store by a part of their names, and a list of what is found.
function makeThingSearch({ calls, tell, hint, onPick }) {
  const MOST = 30; // things that are listed
  const PATIENCE = 200; // milliseconds without a key, before the service is asked
  const field = make("input", { type: "search", autocomplete: "off" });
  field.dataset.hint = field.dataset.label = hint;
  const found = make("ul", { className: "rows" });
  const note = make("p", { className: "note" });
  note.setAttribute("role", "status");
  const element = make("div", { className: "thing-search" }, field, found, note);
  sayAll(element);
  let waiting = null;
  let asked = 0; // of several answers the last asked for counts

  async function look() {
    const number = ++asked;
    const part = field.value.trim();
    if (!part) {
      refill(found, []);
      note.textContent = "";
      return;
    }
    const answer = await calls.get("/v1/things", { part, limit: MOST });
    if (number !== asked) return;
    refill(found, answer.things.map(rowOf));
    const rest = answer.total - answer.things.length;
    note.textContent = rest > 0 ? say("more-things", { count: counted(rest) }) : "";
    if (!answer.total) note.textContent = say("no-thing");
  }

  function rowOf(told) {
    const thing = thingOf(told);
    const row = make("button", { type: "button" }, `${thing.name} `, typeElement(thing.type));
    row.addEventListener("click", () => onPick(thing));
    return make("li", {}, row);
  }

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => tell(look), PATIENCE);
  });
  return { element, focus: () => field.focus() };
}

function makeBrowser(root, { calls, tell, corrections, openDocument }) {
  const MOST_THINGS = 3000; // that are drawn
  const MOST_FACTS = 10_000; // that are asked for
  const FACTS_AT_A_TIME = 1000;
  const status = make("p", { className: "note" });
  status.setAttribute("role", "status");
  const search = makeThingSearch({ calls, tell, hint: "find-hint", onPick: around });
  const all = worded("button", "draw-all", { type: "button" });
  const pane = make("div", { className: "knowledge", hidden: true });
  root.append(
    worded("h2", "find-thing"),
    search.element,
    make("div", { className: "actions" }, all),
    status,
    pane,
  );

  let base = async () => []; // the facts that were asked for, asked for again
  let widened = []; // the things whose facts came to these
  let facts = []; // all of them, as they came
  let run = 0; // an answer to what was asked before the last question is not shown

  const knowledge = makeKnowledge(pane, {
    mostNodes: MOST_THINGS,
    onChoose: () => {},
    onThing: widen,
    onLight: (key) => knowledge.light(key),
    cards: { openDocument, actions: corrections.actions },
    aboutActions: (thing) => [pathButton(thing), ...corrections.aboutActions(thing)].flat(),
  });

  function show(found) {
    facts = found;
    pane.hidden = false;
    const united = unitedFacts(facts);
    knowledge.show(united);
    const things = new Set(united.flatMap(({ head, tail }) => [head.key, tail.key]));
    status.textContent = say("loaded", {
      facts: counted(united.length),
      things: counted(things.size),
    });
  }

  async function factsAround(thing) {
    const query = { name: thing.iri, limit: FACTS_AT_A_TIME, rejected: true };
    const answer = await calls.get("/v1/graph", query);
    return answer.facts.map(statedFact);
  }

  // `ask` gives the facts, or null where they are not wanted any more; nobody has widened them yet.
  function begin(ask, about = null) {
    return tell(async () => {
      base = ask;
      widened = [];
      const found = await ask(++run);
      if (found === null) return;
      knowledge.setAbout(about);
      show(found);
    });
  }

  function around(thing) {
    return begin(async (number) => {
      const found = await factsAround(thing);
      return number === run ? found : null;
    }, thing);
  }

  // What is known of a thing comes to what is there.
  function widen(thing) {
    return tell(async () => {
      const number = ++run;
      const found = await factsAround(thing);
      if (number !== run) return;
      widened.push(thing);
      knowledge.setAbout(thing);
      show([...facts, ...found]);
    });
  }

  async function refresh() {
    if (!facts.length) return;
    const number = ++run;
    const found = await base(number);
    const more = await Promise.all(widened.map(factsAround));
    if (number === run) show([...found, ...more.flat()]);
  }

  function pathButton(thing) {
    const onPick = (goal) => path(thing, goal);
    const goal = makeThingSearch({ calls, tell, hint: "find-hint", onPick });
    goal.element.hidden = true;
    const button = worded("button", "path-to", { type: "button" });
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      goal.element.hidden = !goal.element.hidden;
      button.setAttribute("aria-expanded", String(!goal.element.hidden));
      if (!goal.element.hidden) goal.focus();
    });
    return [button, goal.element];
  }

  async function path(from, to) {
    await begin(async (number) => {
      const answer = await calls.get("/v1/graph", { name: from.iri, to: to.iri });
      return number === run ? answer.facts.map(statedFact) : null;
    });
    if (!facts.length) status.textContent = say("no-path");
  }

  // Page by page, as far as it can be drawn with ease: beyond so many things no further ones, but
  // further facts between those that are there.
  async function drawAll() {
    let isWhole = true;
    await begin(async (number) => {
      const found = [];
      const things = new Set();
      let next = 0;
      while (next !== null && next < MOST_FACTS) {
        const answer = await calls.get("/v1/facts", { offset: next, limit: FACTS_AT_A_TIME });
        if (number !== run) return null;
        for (const fact of answer.facts.map(statedFact)) {
          const ends = [fact.head.key, fact.tail.key];
          const count = ends.filter((end) => !things.has(end)).length;
          if (things.size + count > MOST_THINGS) {
            isWhole = false;
            continue;
          }
          found.push(fact);
          for (const end of ends) things.add(end);
        }
        next = answer.next;
        status.textContent = say("loading", { count: counted(found.length) });
      }
      isWhole &&= next === null;
      return found;
    });
    if (!isWhole) status.textContent += ` ${say("loaded-part")}`;
  }
  all.addEventListener("click", drawAll);

  return {
    around,
    refresh,
    say: knowledge.say,
  };
}
