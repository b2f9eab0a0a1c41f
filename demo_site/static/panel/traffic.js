// The list of requests: each with its calls, their results, and the whole JSON.

import { answerOf, fieldsOf } from "./call_words.js";
import { prettyJson } from "./pretty_json.js";

const KEY = "windrow.traffic";
const list = document.querySelector("[data-panel-requests]");
const requestTemplate = document.querySelector("[data-panel-request]");
const callTemplate = document.querySelector("[data-panel-call]");
const shown = new Map(); // by the entry's id: the entry as JSON, and its element

/** What was recorded in this tab, newest first. */
export function recordedEntries() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

/** Bring the list up to date. Elements of entries that have not changed stay: focus and open details with them. */
export function showTraffic(entries) {
  entries.forEach((entry, index) => {
    const element = elementOf(entry);
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
  });
  while (list.children.length > entries.length) list.lastElementChild.remove();
  document.querySelector("[data-panel-nothing]").hidden = entries.length > 0;
}

function elementOf(entry) {
  const version = JSON.stringify(entry);
  const earlier = shown.get(entry.id);
  if (earlier?.version === version) return earlier.element;
  const element = requestElement(entry);
  element.querySelector("details").open = earlier?.element.querySelector("details").open ?? false;
  earlier?.element.remove();
  shown.set(entry.id, { version, element });
  return element;
}

function requestElement(entry) {
  const element = requestTemplate.content.firstElementChild.cloneNode(true);
  const time = element.querySelector("time");
  element.querySelector(".request-what").textContent = `POST /batch on ${entry.page}`;
  element.querySelector(".request-status").textContent = statusOf(entry);
  time.dateTime = entry.at;
  time.textContent = new Date(entry.at).toLocaleTimeString("en-GB");
  element.querySelector(".request-why").textContent = whyOf(entry.answer?.error);
  element.querySelector(".request-calls").append(...callsOf(entry).map((call, index) => callElement(call, index, entry)));
  fillJson(element, "request", entry.request);
  fillJson(element, "answer", entry.answer ?? entry.problem ?? null);
  return element;
}

function fillJson(element, side, value) {
  const block = element.querySelector(`[data-side="${side}"]`);
  block.setAttribute("aria-label", `${side} as JSON`);
  block.replaceChildren(...prettyJson(value));
}

function callsOf(entry) {
  return Array.isArray(entry.request?.calls) ? entry.request.calls : [];
}

function callElement(call, index, entry) {
  const element = callTemplate.content.firstElementChild.cloneNode(true);
  const result = entry.answer?.results?.[index];
  const mark = element.querySelector(".call-result");
  const answer = answerOf(result);
  element.querySelector(".call-kind").textContent = call.kind;
  mark.textContent = resultOf(result, entry);
  mark.classList.add(result?.status ?? (isRefused(entry) ? "rejected" : "open"));
  element.querySelector(".call-fields").textContent = fieldsOf(call);
  element.querySelector(".call-answer").textContent = answer && `→ ${answer}`;
  element.querySelector(".call-why").textContent = whyOf(result?.error);
  element.querySelector(".call-id").textContent = call.call_id;
  return element;
}

/** Why a call, or the whole request, was refused: a sentence, with the field's name where the service gives it. */
function whyOf(error) {
  if (!error) return "";
  return typeof error === "string" ? error : [error.fieldName, error.errorMessage].filter(Boolean).join(": ");
}

function isRefused(entry) {
  return entry.state === "failed" || (entry.state === "answered" && entry.status >= 400);
}

function resultOf(result, entry) {
  return result?.status ?? { waiting: "on its way", left: "answer not seen", queued: "sent on leaving", refused: "not taken" }[entry.state] ?? "no result";
}

function statusOf(entry) {
  if (entry.state === "answered") return `${entry.status}, ${entry.took} ms`;
  return { failed: "no answer", queued: "sendBeacon", refused: "sendBeacon refused", left: "page left", waiting: "…" }[entry.state];
}
