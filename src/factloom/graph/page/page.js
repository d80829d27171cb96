"use strict";

// What the page shows and how its parts speak with each other.
const content = JSON.parse(document.getElementById("content").textContent);
const MOST_NODES = 120; // drawn at once
const RELATIONS_A_STEP = 100; // listed at once
const MOST_EVIDENCE = 20; // facts shown for one edge

const state = {
  document: 0,
  everything: false,
  query: "",
  type: "",
  minimum: 0,
  chosen: null,
  listed: RELATIONS_A_STEP,
};

function number(value) {
  return value.toLocaleString("en");
}

function plural(count, word) {
  if (count === 1) return `1 ${word}`;
  return `${number(count)} ${word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`}`;
}

// --- which facts are meant ---------------------------------------------------------------------

const entityName = (entity) => content.entities[entity].name;
const holds = (text) => text.toLowerCase().includes(state.query);

// What people have annotated or decided is sure.
function certainty({ score, decision }) {
  if (decision) return decision === "rejected" ? 0 : 1;
  return score ?? 1;
}

function passes(relation) {
  if (state.type && relation.type !== state.type) return false;
  if (certainty(relation) < state.minimum) return false;
  return (
    !state.query ||
    holds(relation.name) ||
    [relation.head, relation.tail].some((entity) =>
      [entityName(entity), ...content.entities[entity].aliases].some(holds),
    )
  );
}

function shownRelations() {
  const found = content.relations.filter(
    (relation) => (state.everything || relation.document === state.document) && passes(relation),
  );
  return found.sort((one, other) => certainty(other) - certainty(one));
}

// --- the text ----------------------------------------------------------------------------------

function showText() {
  const shown = content.documents[state.document];
  part("document-name").textContent = shown.name;
  textView.show(shown);
}

function sentenceText(shown, sentence) {
  const { start, end } = shown.sentences[sentence];
  return [...shown.text].slice(start, end).join("").trim();
}

function light(entity) {
  textView.light(entity);
  drawing.light(entity);
}

// --- the chosen edge and its evidence ----------------------------------------------------------

function choose(head, tail) {
  state.chosen = { head, tail };
  const facts = chosenFacts();
  if (facts.length && !facts.some((fact) => fact.document === state.document))
    openDocument(facts[0].document);
  else showChosen();
  part("evidence").scrollIntoView({ block: "nearest" });
}

function chosenFacts() {
  if (state.chosen === null) return [];
  const { head, tail } = state.chosen;
  return shownRelations().filter((relation) => relation.head === head && relation.tail === tail);
}

function showChosen() {
  const facts = chosenFacts();
  if (!facts.length) state.chosen = null;
  refill(part("evidence"), facts.slice(0, MOST_EVIDENCE).map(factElement));
  if (facts.length > MOST_EVIDENCE) {
    part("evidence").append(
      make("p", {
        className: "note",
        textContent: `${MOST_EVIDENCE} of ${number(facts.length)} facts of this edge are shown, those with the highest scores.`,
      }),
    );
  }
  const proving = new Set(
    facts.filter((fact) => fact.document === state.document).flatMap((fact) => fact.evidence),
  );
  textView.prove(proving);
  for (const element of part("relation-list").querySelectorAll("button")) {
    element.setAttribute("aria-current", String(facts.includes(element.relation)));
  }
  drawing.choose(state.chosen?.head ?? null, state.chosen?.tail ?? null);
}

function factElement(fact) {
  const shown = content.documents[fact.document];
  const name = make("button", { type: "button", className: "link", textContent: shown.name });
  name.addEventListener("click", () => openDocument(fact.document));
  const quotes = fact.evidence.map((sentence) =>
    make(
      "blockquote",
      { textContent: sentenceText(shown, sentence) },
      make("span", { className: "small", textContent: `  sentence ${sentence + 1}` }),
    ),
  );
  const none = make("p", {
    className: "note",
    textContent: "No evidence sentence is given for this relation.",
  });
  return make(
    "section",
    {},
    make("h3", {}, ...factWords(fact)),
    make(
      "p",
      { className: "note" },
      fact.score === null ? "" : `score ${fact.score.toFixed(2)}, `,
      fact.decision ? `${fact.decision}, ` : "",
      "in ",
      name,
    ),
    ...(quotes.length ? quotes : [none]),
    ...fact.reasons.map((reason) => make("p", { className: "note", textContent: reason })),
  );
}

function factWords(fact) {
  return [
    entityName(fact.head),
    make("span", { className: "small", textContent: ` — ${fact.name} → ` }),
    entityName(fact.tail),
  ];
}

// --- lists -------------------------------------------------------------------------------------

function showRelations(relations) {
  const listed = relations.slice(0, state.listed);
  const note =
    listed.length < relations.length
      ? `${number(listed.length)} of ${plural(relations.length, "relation")} listed, the highest scores first.`
      : plural(relations.length, "relation");
  part("relations-note").textContent = state.everything ? note : `${note} in this document`;
  part("more-relations").hidden = listed.length === relations.length;
  refill(
    part("relation-list"),
    listed.map((relation) => {
      const button = make(
        "button",
        { type: "button", relation },
        make("span", {}, ...factWords(relation)),
        make("span", {
          className: "score",
          textContent:
            relation.decision || (relation.score === null ? "" : relation.score.toFixed(2)),
        }),
      );
      button.addEventListener("click", () => choose(relation.head, relation.tail));
      return make("li", {}, button);
    }),
  );
}

function showDocuments() {
  const counts = new Map();
  for (const relation of content.relations) {
    if (passes(relation)) counts.set(relation.document, (counts.get(relation.document) ?? 0) + 1);
  }
  const found = content.documents
    .map((shown, index) => ({ shown, index }))
    .filter(
      ({ shown, index }) =>
        counts.has(index) || holds(shown.name) || holds(shown.text),
    );
  const hidden = content.documents.length - found.length;
  part("documents-note").textContent = [
    hidden ? `${number(found.length)} of ${number(content.documents.length)} match.` : "",
    content.omitted
      ? `${plural(content.omitted, "further document")} did not fit on this page.`
      : "",
  ]
    .join(" ")
    .trim();
  refill(
    part("document-list"),
    found.map(({ shown, index }) => {
      const button = make(
        "button",
        { type: "button", textContent: shown.name },
        make("div", {
          className: "small",
          textContent: plural(counts.get(index) ?? 0, "relation"),
        }),
      );
      button.setAttribute("aria-current", String(index === state.document));
      button.addEventListener("click", () => openDocument(index));
      return make("li", {}, button);
    }),
  );
}

// --- the graph ---------------------------------------------------------------------------------

function showGraph(relations) {
  const { drawn, weights } = entitiesToDraw(relations, MOST_NODES);
  const edges = new Map();
  for (const { head, tail, name } of relations) {
    if (head === tail || !drawn.has(head) || !drawn.has(tail)) continue;
    const key = `${head} ${tail}`;
    if (!edges.has(key)) edges.set(key, { head, tail, names: new Set() });
    edges.get(key).names.add(name);
  }
  drawing.show(
    [...drawn].map((entity) => ({
      key: entity,
      name: entityName(entity),
      hue: hueOf(content.entities[entity].type),
      weight: weights.get(entity),
    })),
    [...edges.values()].map(({ head, tail, names }) => ({
      head,
      tail,
      label: [...names].join(", "),
    })),
  );
  const bounded =
    weights.size > drawn.size
      ? `Drawn are ${drawn.size} of ${number(weights.size)} entities, those with most relations to each other; the list below has all. `
      : "";
  part("graph-note").textContent = weights.size
    ? `${bounded}Click an edge for its evidence. Drag to move, scroll to zoom, double click to fit.`
    : "No relation to draw.";
}

// --- together ----------------------------------------------------------------------------------

function openDocument(index) {
  state.document = index;
  showText();
  part("reading").scrollTop = 0;
  refresh();
}

function refresh() {
  const relations = shownRelations();
  showDocuments();
  showRelations(relations);
  showGraph(relations);
  showChosen();
}

function listen() {
  const reread = () => {
    state.query = part("query").value.trim().toLowerCase();
    state.type = part("relation-type").value;
    state.minimum = Number(part("minimum").value);
    state.everything = part("everything").checked;
    state.listed = RELATIONS_A_STEP;
    part("minimum-shown").textContent = state.minimum.toFixed(2);
    refresh();
  };
  part("filters").addEventListener("input", reread);
  part("filters").addEventListener("submit", (event) => event.preventDefault());
  part("more-relations").addEventListener("click", () => {
    state.listed += RELATIONS_A_STEP;
    showRelations(shownRelations());
    showChosen();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    state.chosen = null;
    showChosen();
  });
}

function fillTypes() {
  const names = new Map(content.relations.map((relation) => [relation.type, relation.name]));
  const sorted = [...names].sort(([, one], [, other]) => one.localeCompare(other));
  refill(
    part("relation-type"),
    [["", "all"], ...sorted].map(([value, textContent]) => make("option", { value, textContent })),
  );
}

const drawing = makeDrawing(part("graph"), { onEdge: choose, onNode: light, onHover: light });
drawing.describe("The graph. All that it shows stands in the list of relations too.");
const textView = makeTextView({
  text: part("text"),
  legend: part("legend"),
  nameOf: entityName,
  onLight: light,
});
document.body.classList.toggle("single", content.documents.length === 1 && !content.omitted);
part("counts").textContent = [
  plural(content.documents.length, "document"),
  plural(content.entities.length, "entity"),
  plural(content.relations.length, "relation"),
  ...(content.model ? [`found by ${content.model}`] : []),
].join(" · ");
fillTypes();
listen();
if (content.documents.length) openDocument(0);
