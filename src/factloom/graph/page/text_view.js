"use strict";

// A text with its mentions coloured by type, and the legend of the colours.
//   view.show({text, sentences, mentions})   mentions: {start, end, type, entities} (keys)
//   view.light(entity)                       lights up the mentions of one entity, or none
//   view.prove(sentences)                    marks sentences by their numbers, and shows the first
// and calls `onLight(entity or null)`, and `onChoose(entity)` where that is given. `nameOf(entity)`
// says what an entity is called.
function makeTextView({ text, legend, nameOf, onLight, onChoose }) {
  function mentionElement(piece, mentions) {
    const covering = piece.mentions.map((index) => mentions[index]);
    const [inner, ...outer] = covering;
    const element = make("mark", { className: "mention", tabIndex: 0, textContent: piece.text });
    element.classList.toggle("nested", outer.length > 0);
    element.style.setProperty("--hue", hueOf(inner.type));
    element.title = covering
      .map((mention) => [...mention.entities.map(nameOf), mention.type].join(" · "))
      .join("\n");
    element.entities = covering.flatMap((mention) => mention.entities);
    const [entity = null] = inner.entities;
    for (const event of ["mouseenter", "focus"])
      element.addEventListener(event, () => onLight(entity));
    for (const event of ["mouseleave", "blur"])
      element.addEventListener(event, () => onLight(null));
    if (onChoose && entity !== null) {
      element.setAttribute("role", "button");
      element.addEventListener("click", () => onChoose(entity));
      element.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault(); // a space would scroll
          onChoose(entity);
        }
      });
    }
    return element;
  }

  function show(shown) {
    const sentences = [];
    for (const piece of textPieces(shown.text, shown.sentences, shown.mentions)) {
      const last = sentences.at(-1);
      if (last && last.number === piece.sentence) last.pieces.push(piece);
      else sentences.push({ number: piece.sentence, pieces: [piece] });
    }
    const elementOf = (piece) =>
      piece.mentions.length ? mentionElement(piece, shown.mentions) : piece.text;
    refill(
      text,
      sentences.map(({ number, pieces }) => {
        const element = make("span", {}, ...pieces.map(elementOf));
        if (number !== null) element.dataset.sentence = number;
        return element;
      }),
    );
    const types = new Set(shown.mentions.map((mention) => mention.type));
    refill(
      legend,
      [...types].sort().map((type) => make("li", {}, typeElement(type))),
    );
  }

  function light(entity) {
    for (const element of text.querySelectorAll(".mention"))
      element.classList.toggle("lit", entity !== null && element.entities.includes(entity));
  }

  function prove(sentences) {
    const proving = new Set(sentences);
    for (const element of text.querySelectorAll("[data-sentence]"))
      element.classList.toggle("evidence", proving.has(Number(element.dataset.sentence)));
    text.querySelector(".evidence")?.scrollIntoView({ block: "nearest" });
  }

  return { show, light, prove };
}

function typeElement(type) {
  const element = make("span", { className: "type", textContent: type });
  element.style.setProperty("--hue", hueOf(type));
  return element;
}
