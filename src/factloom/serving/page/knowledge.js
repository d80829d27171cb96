"use strict";

// A pane of facts: the drawn graph, filters, the chosen facts with their evidence, the list. The
// views of a document and of the store both have one.
//   knowledge.show(facts)       other facts; what was chosen stays so if it is still there
//   knowledge.choose(head, tail)
//   knowledge.setAbout(thing)   only what is about a thing, or all (null)
//   knowledge.light(key)        lights up a thing in the graph, or none
//   knowledge.say()             again, in another language
// and calls `onChoose(facts)` (none: nothing is chosen), `onThing(thing)`, `onLight(key or null)`.
// `cards` is what factCard is given, `aboutActions(thing)` gives elements beside a thing's name.
function makeKnowledge(root, options) {
  const { onChoose, onThing, onLight, cards, aboutActions = () => [] } = options;
  const { mostNodes = 120 } = options;
  const LISTED_AT_A_TIME = 100;
  const MOST_CARDS = 20; // facts of one edge that are shown as cards

  const graph = make("div", { className: "graph" });
  const note = make("p", { className: "note" });
  const about = make("div", { className: "about" });
  const chosenCards = make("div", { className: "cards" });
  chosenCards.setAttribute("aria-live", "polite");
  const kinds = make("select", {});
  const least = make("input", { type: "range", min: 0, max: 1, step: 0.01, value: 0 });
  const leastShown = make("output", { textContent: "0.00" });
  const count = make("p", { className: "note" });
  const list = make("ul", { className: "rows" });
  const more = worded("button", "show-more", { type: "button" });
  const filters = make(
    "div",
    { className: "filters" },
    make("label", {}, worded("span", "relation"), kinds),
    make("label", {}, worded("span", "least-score"), least, leastShown),
  );
  root.append(
    make("div", { className: "drawn" }, graph, note),
    make(
      "div",
      { className: "told" },
      about,
      chosenCards,
      worded("h2", "relations"),
      filters,
      count,
      list,
      more,
    ),
  );

  let facts = [];
  let chosen = null; // {head, tail}: keys
  let subject = null; // the thing that all is about, or null
  let listed = LISTED_AT_A_TIME;
  const drawing = makeDrawing(graph, {
    onEdge: choose,
    onNode: (key) => onThing(thingWithKey(key)),
    onHover: onLight,
  });

  // --- which facts are meant -----------------------------------------------------------------

  function passes(fact) {
    if (kinds.value && fact.name !== kinds.value) return false;
    if (subject && fact.head.key !== subject.key && fact.tail.key !== subject.key) return false;
    return certainty(fact) >= Number(least.value);
  }

  function passing() {
    return facts
      .filter(passes)
      .sort(
        (one, other) =>
          certainty(other) - certainty(one) || (other.score ?? 1) - (one.score ?? 1),
      );
  }

  function chosenFacts() {
    if (chosen === null) return [];
    return passing().filter(
      (fact) => fact.head.key === chosen.head && fact.tail.key === chosen.tail,
    );
  }

  function thingWithKey(key) {
    const fact = facts.find(({ head, tail }) => head.key === key || tail.key === key);
    return fact.head.key === key ? fact.head : fact.tail;
  }

  // --- showing -------------------------------------------------------------------------------

  function show(newFacts) {
    facts = newFacts;
    listed = LISTED_AT_A_TIME;
    fillKinds();
    refresh();
  }

  function fillKinds() {
    const before = kinds.value;
    const names = [...new Set(facts.map((fact) => fact.name))];
    names.sort((one, other) => one.localeCompare(other));
    refill(kinds, [
      worded("option", "all", { value: "" }),
      ...names.map((name) => make("option", { value: name, textContent: name })),
    ]);
    kinds.value = names.includes(before) ? before : "";
  }

  function refresh() {
    const shown = passing();
    showGraph(shown.filter((fact) => fact.decision !== "rejected"));
    showList(shown);
    showAbout();
    showChosen();
  }

  function showGraph(shown) {
    const ends = shown.map(({ head, tail }) => ({ head: head.key, tail: tail.key }));
    const { drawn, weights } = entitiesToDraw(ends, mostNodes);
    const nodes = new Map();
    const edges = new Map();
    for (const { head, tail, name } of shown) {
      if (head.key === tail.key || !drawn.has(head.key) || !drawn.has(tail.key)) continue;
      for (const { key, name, type } of [head, tail]) {
        const hue = type === null ? null : hueOf(type);
        nodes.set(key, { key, name, hue, weight: weights.get(key) });
      }
      const edge = `${head.key}\n${tail.key}`;
      if (!edges.has(edge)) edges.set(edge, { head: head.key, tail: tail.key, names: new Set() });
      edges.get(edge).names.add(name);
    }
    drawing.show(
      [...nodes.values()],
      [...edges.values()].map(({ names, ...ends }) => ({ ...ends, label: [...names].join(", ") })),
    );
    const bounded =
      weights.size > drawn.size
        ? `${say("graph-bounded", { drawn: drawn.size, all: counted(weights.size) })} `
        : "";
    note.textContent = weights.size ? bounded + say("graph-note") : say("graph-empty");
    drawing.describe(say("graph"));
  }

  function showList(shown) {
    count.textContent = say("relations-listed", {
      shown: counted(Math.min(listed, shown.length)),
      all: counted(shown.length),
    });
    more.hidden = shown.length <= listed;
    refill(
      list,
      shown.slice(0, listed).map((fact) => make("li", {}, rowOf(fact))),
    );
  }

  function rowOf(fact) {
    const standing = fact.decision ? say(fact.decision) : (fact.score?.toFixed(2) ?? "");
    const row = make(
      "button",
      { type: "button", fact },
      make("span", {}, ...factWords(fact)),
      make("span", { className: "score", textContent: standing }),
    );
    row.classList.toggle("rejected", fact.decision === "rejected");
    row.addEventListener("click", () => choose(fact.head.key, fact.tail.key));
    return row;
  }

  function showAbout() {
    if (subject === null) {
      refill(about, []);
      return;
    }
    const back = worded("button", "about-all", { type: "button" });
    back.addEventListener("click", () => setAbout(null));
    const heading = make("h3", {}, say("about", { name: subject.name }), " ");
    if (subject.type !== null) heading.append(typeElement(subject.type));
    refill(about, [heading, make("div", { className: "actions" }, back, ...aboutActions(subject))]);
  }

  function setAbout(thing) {
    subject = thing;
    listed = LISTED_AT_A_TIME;
    refresh();
  }

  // --- choosing ------------------------------------------------------------------------------

  function choose(head, tail) {
    chosen = { head, tail };
    showChosen();
    chosenCards.scrollIntoView({ block: "nearest" });
  }

  function showChosen() {
    const found = chosenFacts();
    if (!found.length) chosen = null;
    refill(
      chosenCards,
      found.slice(0, MOST_CARDS).map((fact) => factCard(fact, cards)),
    );
    for (const row of list.querySelectorAll("button"))
      row.setAttribute("aria-current", String(found.includes(row.fact)));
    drawing.choose(chosen?.head ?? null, chosen?.tail ?? null);
    onChoose(found);
  }

  kinds.addEventListener("change", refresh);
  least.addEventListener("input", () => {
    leastShown.textContent = Number(least.value).toFixed(2);
    refresh();
  });
  more.addEventListener("click", () => {
    listed += LISTED_AT_A_TIME;
    showList(passing());
    showChosen();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || chosen === null) return;
    chosen = null;
    showChosen();
  });

  return { show, choose, setAbout, light: drawing.light, say: refresh };
}
