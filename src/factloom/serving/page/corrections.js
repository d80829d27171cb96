"use strict";

// What the user says of facts and things: accept, reject, correct, merge; each can be taken back.
//   corrections.actions(fact)        elements for a fact's card
//   corrections.aboutActions(thing)  elements for a thing of the store
//   corrections.showList()           all that has been said and stands
// calls `onChanged()` when the store has changed. `said` is the place of the last word and of its
// undoing, `list` that of all, `by` the field with the user's name; `tell(work)` runs calls and
// shows what the service refuses.
function makeCorrections({ calls, tell, onChanged, said, list, by }) {
  const known = make("datalist", { id: "known-relations" });
  document.body.append(known);

  function send(correction) {
    return tell(async () => {
      const made = await calls.post("/v1/corrections", { ...correction, by: by.value.trim() });
      await onChanged();
      await showList();
      showSaid(made);
    });
  }

  function undo(number) {
    return tell(async () => {
      const undone = await calls.post("/v1/corrections/undo", { number });
      await onChanged();
      await showList();
      refill(said, [make("span", { textContent: say("undone", { about: undone.about }) })]);
    });
  }

  function undoButton(correction) {
    const button = worded("button", "undo", { type: "button" });
    button.addEventListener("click", () => undo(correction.number));
    return button;
  }

  // The card whose button was used is gone by now: the focus goes to where it can be taken back.
  function showSaid(made) {
    const button = undoButton(made);
    refill(said, [make("span", { textContent: inWords(made) }), button]);
    button.focus({ preventScroll: true });
  }

  function inWords({ action, about }) {
    const key = `said-${action}`;
    return Object.hasOwn(WORDS, key) ? say(key, { about }) : `${action}: ${about}`;
  }

  async function showList() {
    const { corrections } = await calls.get("/v1/corrections", { limit: 1000 });
    const rows = corrections.reverse().map((correction) =>
      make(
        "li",
        {},
        make("span", { textContent: inWords(correction) }),
        make("span", {
          className: "small",
          textContent: [correction.by, new Date(correction.when).toLocaleString(language)]
            .filter(Boolean)
            .join(", "),
        }),
        undoButton(correction),
      ),
    );
    refill(list, rows.length ? rows : [worded("li", "no-corrections", { className: "note" })]);
  }

  // --- facts ---------------------------------------------------------------------------------

  // A fact by its address, where that is known, else by its names.
  function named(fact) {
    const address = fact.evidence.find((one) => one.address !== null)?.address;
    return address ?? { head: fact.head.name, relation: fact.name, tail: fact.tail.name };
  }

  function actions(fact) {
    const form = make("form", { className: "correction", hidden: true });
    const correct = worded("button", "correct", { type: "button" });
    correct.setAttribute("aria-expanded", "false");
    correct.addEventListener("click", () => {
      form.hidden = !form.hidden;
      correct.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) fillCorrection(form, fact);
    });
    const decide = (action, decision) => {
      const button = worded("button", action, { type: "button" });
      button.disabled = fact.decision === decision;
      button.addEventListener("click", () => send({ action, fact: named(fact) }));
      return button;
    };
    return [
      make(
        "div",
        { className: "actions" },
        decide("accept", "accepted"),
        decide("reject", "rejected"),
        correct,
      ),
      form,
    ];
  }

  function fillCorrection(form, fact) {
    const before = { head: fact.head.name, relation: fact.name, tail: fact.tail.name };
    const fields = Object.entries(before).map(([key, value]) => {
      const field = make("input", { name: key, value, required: true, autocomplete: "off" });
      if (key === "relation") field.setAttribute("list", known.id);
      return make("label", {}, worded("span", key), field);
    });
    refill(form, [...fields, worded("button", "save-correction", { type: "submit" })]);
    form.onsubmit = (event) => {
      event.preventDefault();
      const given = Object.keys(before).map((key) => [key, form.elements[key].value.trim()]);
      const changed = Object.fromEntries(given.filter(([key, value]) => value !== before[key]));
      send({ action: "correct", fact: named(fact), ...changed });
    };
    form.elements.head.focus();
    tell(fillKnown);
  }

  async function fillKnown() {
    const { relations } = await calls.get("/v1/relations");
    refill(
      known,
      relations.map(({ name }) => make("option", { value: name })),
    );
  }

  // --- things --------------------------------------------------------------------------------

  function aboutActions(thing) {
    if (thing.iri === null) return [];
    const search = makeThingSearch({ calls, tell, hint: "merge-hint", onPick: offer });
    search.element.hidden = true;
    const merge = worded("button", "merge", { type: "button" });
    merge.setAttribute("aria-expanded", "false");
    merge.addEventListener("click", () => {
      search.element.hidden = !search.element.hidden;
      merge.setAttribute("aria-expanded", String(!search.element.hidden));
      if (!search.element.hidden) search.focus();
    });
    // A merge moves many facts: it is said in words before it is done.
    function offer(other) {
      const names = { name: thing.name, other: other.name };
      const button = make("button", { type: "button", textContent: say("merge-with", names) });
      button.addEventListener("click", () =>
        send({ action: "merge", things: [{ name: thing.iri }, { name: other.iri }] }),
      );
      search.element.append(button);
      button.focus();
    }
    return [merge, search.element];
  }

  return { actions, aboutActions, showList };
}
