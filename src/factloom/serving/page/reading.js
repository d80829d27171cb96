"use strict";

// The reading of texts: a form for text and files, the documents that were read, and of one of them
// the text beside what was found in it.
//   reading.open(id, shown)  a document of the store; `shown` is a fact, or a quote, to be lit
//   reading.refresh()        the open document again, after a correction
//   reading.say()            again, in another language
function makeReading({ calls, tell, corrections, openThing, hasStore }) {
  const PLAIN = /\.(txt|text|md|markdown)$/i; // what the page can read itself
  const form = part("reading-form");
  const field = part("reading-text");
  const documents = new Map(); // those that were read here, by their ids
  let open = null;

  const knowledge = makeKnowledge(part("found"), {
    onChoose: prove,
    onThing: setAbout,
    onLight: light,
    cards: { actions: (fact) => (open.isKept ? corrections.actions(fact) : []) },
    aboutActions: (thing) => [...storeButton(thing), ...corrections.aboutActions(thing)],
  });
  const textView = makeTextView({
    text: part("document-text"),
    legend: part("document-legend"),
    nameOf: (key) => open.things.get(key).name,
    onLight: light,
    onChoose: (key) => setAbout(open.things.get(key)),
  });

  function light(key) {
    textView.light(key);
    knowledge.light(key);
  }

  function setAbout(thing) {
    knowledge.setAbout(thing);
  }

  function prove(facts) {
    const sentences = facts.flatMap((fact) => fact.evidence.flatMap((said) => said.sentences));
    textView.prove(sentences);
  }

  function storeButton(thing) {
    if (thing.iri === null) return [];
    const button = worded("button", "store", { type: "button" });
    button.addEventListener("click", () => openThing(thing));
    return [button];
  }

  // --- documents -----------------------------------------------------------------------------

  function show(document) {
    open = document;
    documents.set(document.id, document);
    part("document").hidden = false;
    part("document-name").textContent = document.id;
    textView.show(document);
    knowledge.setAbout(null);
    knowledge.show(document.facts);
    showDocuments();
  }

  function showDocuments() {
    part("document-list").hidden = documents.size < 2;
    refill(
      part("document-list"),
      [...documents.values()].map((document) => {
        const button = make("button", { type: "button", textContent: document.id });
        button.setAttribute("aria-current", String(document.id === open.id));
        button.addEventListener("click", () =>
          tell(async () => show(document.isKept ? await fetched(document.id) : document)),
        );
        return make("li", {}, button);
      }),
    );
  }

  async function fetched(id) {
    const [document, things, facts] = await Promise.all([
      calls.get(`/v1/documents/${id.split("/").map(encodeURIComponent).join("/")}`),
      allOf("/v1/things", "things", id),
      allOf("/v1/facts", "facts", id),
    ]);
    return keptDocument(document, things, facts);
  }

  async function allOf(path, what, id) {
    const found = [];
    let next = 0;
    while (next !== null) {
      const query = { document: id, offset: next, limit: 1000, rejected: true };
      const answer = await calls.get(path, query);
      found.push(...answer[what]);
      next = answer.next;
    }
    return found;
  }

  // --- what is sent --------------------------------------------------------------------------

  function keeps() {
    return hasStore && part("keep").checked;
  }

  async function readText() {
    const text = field.value;
    if (!text.trim()) {
      field.focus();
      return;
    }
    const name = part("reading-name").value.trim();
    await busy(() => readTexts([{ text, ...(name ? { id: name } : {}) }]));
  }

  async function readTexts(texts) {
    if (!keeps()) {
      const answer = await calls.post("/v1/extract", { documents: texts });
      const found = answer.documents.map(readDocument);
      for (const document of found) documents.set(document.id, document);
      show(found[0]);
      tellRead(answer.problems);
      return;
    }
    await openStored(await calls.post("/v1/documents", { documents: texts }));
  }

  async function openStored({ documents: stored, problems }) {
    const [first, ...others] = stored;
    for (const { id } of others) documents.set(id, { id, isKept: true });
    show(await fetched(first.id));
    tellRead(problems);
  }

  // Text is read where it is; a service with a store reads other kinds of files, too.
  async function readFiles(files) {
    if (!files.length) return;
    await busy(async () => {
      if (keeps()) {
        const sent = new FormData();
        for (const file of files) sent.append("files", file);
        await openStored(await calls.post("/v1/documents/files", sent));
        return;
      }
      const other = files.find((file) => !PLAIN.test(file.name));
      if (other)
        throw new Refusal(
          say("file-needs-store", { name: other.name }),
          say("file-needs-store-mend"),
          0,
        );
      const texts = files.map(async (file) => ({ id: file.name, text: await file.text() }));
      await readTexts(await Promise.all(texts));
    });
  }

  function tellRead(problems) {
    const told = [
      say("read-done", {
        name: open.id,
        entities: counted(open.things.size),
        relations: counted(open.facts.length),
      }),
    ];
    if (problems.length) {
      const names = problems.map(({ where, title }) => `${where.document ?? "?"} (${title})`);
      told.push(say("not-read", { names: names.join(", ") }));
    }
    part("reading-status").textContent = told.join(" ");
    part("document-name").scrollIntoView({ block: "start" });
  }

  async function busy(work) {
    const button = part("read-it");
    button.disabled = true;
    part("reading-status").textContent = say("reading");
    const done = await tell(work);
    if (!done) part("reading-status").textContent = "";
    button.disabled = false;
  }

  function listen() {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      readText();
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) readText();
    });
    part("files").addEventListener("change", (event) => {
      readFiles([...event.target.files]);
      event.target.value = ""; // the same file again is a change, too
    });
    for (const event of ["dragover", "dragenter"])
      form.addEventListener(event, (drag) => {
        drag.preventDefault();
        form.classList.add("dropping");
      });
    for (const event of ["dragleave", "drop"])
      form.addEventListener(event, () => form.classList.remove("dropping"));
    form.addEventListener("drop", (drop) => {
      if (!drop.dataTransfer.files.length) return; // text: it falls into the field
      drop.preventDefault();
      readFiles([...drop.dataTransfer.files]);
    });
  }
  listen();

  return {
    open: async (id, fact) => {
      show(await fetched(id));
      if (fact) choose(fact);
    },
    refresh: async () => {
      if (open?.isKept) show(await fetched(open.id));
    },
    say: () => {
      if (open) knowledge.say();
    },
  };

  // A fact that another view has shown: by its ends' names, where keys differ.
  function choose({ head, tail, name }) {
    const same = open.facts.find(
      (fact) =>
        fact.name === name && fact.head.name === head.name && fact.tail.name === tail.name,
    );
    if (same) knowledge.choose(same.head.key, same.tail.key);
  }
}
