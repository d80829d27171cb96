"use strict";

// Questions in plain words, and answers with what proves them: the facts, drawn as the way to the
// answer where there are several, and the sentences.
function makeAnswers({ calls, tell, corrections, openDocument }) {
  const MOST_ANSWERS = 3;
  const form = part("asking-form");
  const field = part("question");
  const status = part("asking-status");
  const place = part("answers");
  let last = null; // the answers that are shown

  async function ask() {
    const question = field.value.trim();
    if (!question) {
      field.focus();
      return;
    }
    part("ask-it").disabled = true;
    status.textContent = say("asking");
    await tell(async () => {
      ({ answers: last } = await calls.post("/v1/ask", { question, top: MOST_ANSWERS }));
      showAnswers();
    });
    status.textContent = "";
    part("ask-it").disabled = false;
  }

  function showAnswers() {
    refill(place, last.map(answerElement));
    for (const draw of place.querySelectorAll(".path")) draw.begin();
  }

  function answerElement(answer) {
    const isSaid = answer.kind !== "none";
    const facts = answer.facts.map(usedFact);
    const element = make("article", { className: "answer" });
    element.append(
      make("p", { className: "answer-text", textContent: isSaid ? answer.text : say("not-said") }),
    );
    if (isSaid) {
      const standing = say("score", { score: answer.score.toFixed(2) });
      element.append(make("p", { className: "note", textContent: standing }));
    }
    if (!answer.supported)
      element.append(worded("p", "answer-unsupported", { className: "warning" }));
    if (answer.explanation)
      element.append(make("p", { className: "note", textContent: answer.explanation }));
    if (facts.length > 1) element.append(pathElement(facts, answer));
    if (isSaid) element.append(...proofElements(answer, facts));
    return element;
  }

  // The things on the way and the answer, larger; drawn when the element is in the page.
  function pathElement(facts, answer) {
    const element = make("div", { className: "graph path" });
    const found = new Set([answer.text, ...answer.items]);
    const names = [...new Set(facts.flatMap(({ head, tail }) => [head.name, tail.name]))];
    element.begin = () => {
      const drawing = makeDrawing(element, {
        onEdge: () => {},
        onNode: () => {},
        onHover: (key) => drawing.light(key),
      });
      drawing.describe(`${say("answer-path")}: ${answer.explanation}`);
      drawing.show(
        names.map((name) => ({ key: name, name, hue: null, weight: found.has(name) ? 4 : 1 })),
        facts.map(({ head, tail, name }) => ({ head: head.key, tail: tail.key, label: name })),
      );
      drawing.light([...found].find((name) => names.includes(name)) ?? null);
    };
    return element;
  }

  function proofElements(answer, facts) {
    const heading = worded("h3", "proof");
    if (facts.length)
      return [
        heading,
        ...facts.map((fact) => factCard(fact, { openDocument, actions: corrections.actions })),
      ];
    const quotes = answer.evidence.map((proof) => {
      const name = make("button", {
        type: "button",
        className: "link",
        textContent: proof.document,
      });
      name.addEventListener("click", () => openDocument(proof.document, null));
      return make("blockquote", { textContent: proof.sentence }, " ", name);
    });
    return quotes.length ? [heading, ...quotes] : [];
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });

  return {
    say: () => {
      if (last) showAnswers();
    },
  };
}
