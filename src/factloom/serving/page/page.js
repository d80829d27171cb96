"use strict";

// The frame: views, language, the token, and what went wrong. It begins with the question whether
// the service has a store, and leaves out what needs one where it has none.

function showView(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isShown = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    part(tab.getAttribute("aria-controls")).hidden = !isShown;
  }
}

// As in all rows of tabs: arrows go from one to the next, and round.
function listenToTabs(onShow) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    const name = tab.id.replace("tab-", "");
    showView(name);
    onShow(name);
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const shown = tabs.filter((each) => !each.hidden);
      const next = shown.at((shown.indexOf(tab) + step) % shown.length);
      next.focus();
      choose(next);
    });
  }
}

// Resolves to what the user gives, or to null.
function askForToken() {
  const dialog = part("token-dialog");
  const field = part("token");
  field.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const end = (token) => {
      field.value = "";
      dialog.onclose = null;
      dialog.close();
      resolve(token);
    };
    part("token-form").onsubmit = (event) => {
      event.preventDefault();
      end(field.value.trim());
    };
    part("token-cancel").onclick = () => end(null);
    dialog.onclose = () => resolve(null);
  });
}

// Does what takes calls, and shows what is refused; says whether it went well.
async function tell(work) {
  try {
    part("problem").hidden = true;
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    part("problem-title").textContent = error.message;
    part("problem-mend").textContent = error.mend;
    part("problem").hidden = false;
    part("problem").scrollIntoView({ block: "nearest" });
    return false;
  }
}

function begin(health) {
  const calls = makeCalls(askForToken);
  const hasStore = health.store;
  const corrections = makeCorrections({
    calls,
    tell,
    onChanged: () => Promise.all([reading.refresh(), browser.refresh()]),
    said: part("said"),
    list: part("correction-list"),
    by: part("your-name"),
  });
  const openDocument = (id, fact) =>
    tell(async () => {
      showView("read");
      await reading.open(id, fact);
    });
  const reading = makeReading({
    calls,
    tell,
    corrections,
    hasStore,
    openThing: (thing) => {
      showView("store");
      browser.around(thing);
    },
  });
  const answers = makeAnswers({ calls, tell, corrections, openDocument });
  const browser = makeBrowser(part("browser"), { calls, tell, corrections, openDocument });

  part("model").textContent = `${health.model} · ${health.version}`;
  part("no-store").hidden = hasStore;
  for (const element of document.querySelectorAll("[data-needs-store]")) element.hidden = !hasStore;
  listenToTabs((name) => {
    if (name === "store") tell(corrections.showList);
  });
  part("problem-close").addEventListener("click", () => (part("problem").hidden = true));
  part("language").addEventListener("click", () => {
    speak(language === "zh" ? "en" : "zh");
    for (const view of [reading, answers, browser]) view.say();
  });
}

speak(wantedLanguage(navigator.languages));
tell(async () => begin(await makeCalls(askForToken).get("/health")));
