"use strict";

// What the page asks of the service. Where it needs a token, the user is asked for it once; it
// stays in this closure, and ends with the page.

// What the service refuses, in its own words.
class Refusal extends Error {
  constructor(title, mend, status) {
    super(title);
    this.mend = mend;
    this.status = status;
  }
}

function makeCalls(askForToken) {
  let token = null;
  let asking = null; // one question for a token, however many calls wait for it

  // `body` is sent as JSON, or as it is where it is a form with files.
  async function call(method, path, { query = {}, body } = {}) {
    const search = new URLSearchParams(query).toString();
    const answer = await send(method, search ? `${path}?${search}` : path, body);
    if (answer.ok) return answer.json();
    if (answer.status === 401) {
      asking ??= askForToken().finally(() => (asking = null));
      token = await asking;
      if (token !== null) return call(method, path, { query, body });
    }
    throw await refusalOf(answer);
  }

  async function send(method, address, body) {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
    const isForm = body instanceof FormData;
    if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
    const content = isForm ? body : JSON.stringify(body);
    try {
      return await fetch(address, { method, headers, body: content, credentials: "omit" });
    } catch {
      throw new Refusal(say("unreachable"), say("unreachable-mend"), 0);
    }
  }

  async function refusalOf(answer) {
    const told = await answer.json().catch(() => ({}));
    return new Refusal(told.title ?? `HTTP ${answer.status}`, told.mend ?? "", answer.status);
  }

  return {
    get: (path, query) => call("GET", path, { query }),
    post: (path, body) => call("POST", path, { body }),
  };
}
