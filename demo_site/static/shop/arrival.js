// "How you got here": what Waylink.getAttribution() says about this visitor.

import { factsOf } from "./attribution_words.js";
import { waylinkReady } from "./waylink_setup.js";

const card = document.querySelector("[data-arrival]");
const sentence = document.querySelector("[data-arrival-sentence]");
const facts = document.querySelector("[data-arrival-facts]");

/** Fill the card, and again when the visitor says what we may know. */
export async function showArrival() {
  await waylinkReady;
  show();
  document.addEventListener("consent-chosen", async () => {
    await window.Waylink?.whenAttributed();
    show();
  });
}

function show() {
  const context = window.Waylink?.getAttribution() ?? null;
  const [state, words] = whatToSay(context);
  card.dataset.arrival = state;
  sentence.replaceChildren(...words);
  facts.replaceChildren(...(context ? factsOf(context).map(fact) : []));
  facts.hidden = !context;
}

function whatToSay(context) {
  if (!window.Waylink) return ["unknown", ["Waylink was kept from loading, so we don't know. The shop works all the same."]];
  if (!window.Waylink.hasConsent()) return ["unknown", ["We have not looked, because you have not allowed it."]];
  if (!context) return ["organic", ["You found us on your own: no link, no campaign. We like that kind of visitor best."]];
  return context.cl_link_id ? ["link", linkWords(context)] : ["campaign", campaignWords(context)];
}

function linkWords(context) {
  if (!context.utm_source && !context.utm_campaign) return ["You followed ", strong("one of our links"), ". Welcome."];
  return ["You followed our link", ...where(context), ". Welcome."];
}

function campaignWords(context) {
  return ["You came", ...where(context), ", without one of our short links."];
}

function where({ utm_source: source, utm_campaign: campaign }) {
  const words = [];
  if (source) words.push(" from ", strong(source));
  if (campaign) words.push(" in the campaign ", strong(campaign));
  return words.length ? words : [" by an ad"];
}

function strong(text) {
  const element = document.createElement("strong");
  element.textContent = text;
  return element;
}

function fact([label, value]) {
  const row = document.createElement("div");
  const term = document.createElement("dt");
  const description = document.createElement("dd");
  term.textContent = label;
  description.textContent = value;
  row.append(term, description);
  return row;
}
