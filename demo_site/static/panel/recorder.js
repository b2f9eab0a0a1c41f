// Listens to what the page sends to Waylink's batch endpoint and to the answers, for the demo's panel.
//
// It runs before the SDK, passes every call on untouched, gives back exactly what the browser gave, and only reads
// a copy of the answer. What it heard is kept for this tab, so that it can be read on the next page.

(() => {
  const BATCH_PATH = "/serviceCore/sdk/v1/batch";
  const KEY = "windrow.traffic";
  const MOST_ENTRIES = 40;

  const nativeFetch = window.fetch;
  const nativeSendBeacon = navigator.sendBeacon;

  window.fetch = function fetch(resource, options) {
    const answer = nativeFetch.apply(this, arguments);
    if (isBatch(resource)) listen(resource, options, answer);
    return answer;
  };

  navigator.sendBeacon = function sendBeacon(url, body) {
    const isQueued = nativeSendBeacon.apply(this, arguments);
    if (isBatch(url)) begin("beacon", body, isQueued ? "queued" : "refused");
    return isQueued;
  };

  let isLeaving = false;
  addEventListener("pagehide", () => (isLeaving = true));
  addEventListener("pageshow", () => (isLeaving = false));

  function isBatch(resource) {
    try {
      return new URL(resource.url ?? resource, location.href).pathname.endsWith(BATCH_PATH);
    } catch {
      return false;
    }
  }

  async function listen(resource, options, answer) {
    const started = performance.now();
    const entry = begin("fetch", options?.body, "waiting");
    try {
      const response = (await answer).clone();
      Object.assign(entry, { state: "answered", status: response.status, answer: parsed(await response.text()) });
    } catch (error) {
      Object.assign(entry, isLeaving ? { state: "left" } : { state: "failed", problem: String(error) });
    }
    entry.took = Math.round(performance.now() - started);
    update(entry);
  }

  function begin(transport, body, state) {
    const entry = {
      id: `${Date.now()}-${Math.random().toString(36).slice(2)}`,
      at: new Date().toISOString(),
      page: location.pathname,
      transport,
      state,
      request: parsed(body),
    };
    keep([entry, ...entries()]);
    return entry;
  }

  function update(entry) {
    keep(entries().map((kept) => (kept.id === entry.id ? entry : kept)));
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return text == null ? null : String(text);
    }
  }

  function entries() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
    } catch {
      return [];
    }
  }

  function keep(list) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(list.slice(0, MOST_ENTRIES)));
    } catch {
      // There is no storage, or it is full: the panel lacks this request, and the page goes on.
    }
    document.dispatchEvent(new CustomEvent("waylink-traffic"));
  }

  // Requests of the page before, which was left before their answers came.
  const unanswered = entries().map((entry) => (entry.state === "waiting" ? { ...entry, state: "left" } : entry));
  if (unanswered.length) keep(unanswered);
})();
