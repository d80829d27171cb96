"use strict";

// A fact in words, and as a card: its score, the sentences that prove it, by document, the facts
// that it follows from, and what can be said about it.
//   factCard(fact, {openDocument, actions})
// `openDocument(document, fact)` is called for the name of a document, where that is given;
// `actions(fact)` gives elements to stand below.

function factWords(fact) {
  return tripleWords([fact.head.name, fact.name, fact.tail.name]);
}

function tripleWords([head, relation, tail]) {
  return [head, make("span", { className: "small", textContent: ` — ${relation} → ` }), tail];
}

function factCard(fact, { openDocument = null, actions = () => [] }) {
  return make(
    "section",
    { className: "card" },
    make("h3", {}, ...factWords(fact)),
    make("p", { className: "note", textContent: standingOf(fact) }),
    ...fact.evidence.map((said) => evidenceElement(fact, said, openDocument)),
    ...fact.reasons.map(reasonElement),
    ...actions(fact),
  );
}

function standingOf(fact) {
  const told = fact.score === null ? [] : [say("score", { score: fact.score.toFixed(2) })];
  if (fact.decision) told.push(say(fact.decision));
  return told.join(" · ");
}

function evidenceElement(fact, said, openDocument) {
  const quotes = said.quotes.map((quote, index) => {
    const element = make("blockquote", { textContent: quote });
    const sentence = said.sentences[index];
    if (sentence !== undefined)
      element.append(make("span", { className: "small", textContent: `  [${sentence + 1}]` }));
    return element;
  });
  const element = make("div", {});
  if (openDocument) {
    const name = make("button", { type: "button", className: "link", textContent: said.document });
    name.addEventListener("click", () => openDocument(said.document, fact));
    element.append(make("p", { className: "note" }, `${say("said-in")} `, name));
  }
  if (quotes.length) element.append(...quotes);
  else element.append(make("p", { className: "note", textContent: say("no-evidence") }));
  return element;
}

function reasonElement([first, second]) {
  return make(
    "p",
    { className: "reason" },
    make("strong", { textContent: `${say("bridge")} ` }),
    ...tripleWords(first),
    ` ${say("and")} `,
    ...tripleWords(second),
  );
}
