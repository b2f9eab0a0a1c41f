// The demo's panel. A site would not have it; it works in the page's own code, as any page's own code may.

import { chooseConsent, consentChoice, consentMode } from "../shop/consent.js";
import { creditOf } from "../shop/attribution_words.js";
import { waylinkReady } from "../shop/waylink_setup.js";
import { deviceId, forgetThisDevice } from "./device.js";
import { dockPanel } from "./docking.js";
import { recordedEntries, showTraffic } from "./traffic.js";

const part = (name) => document.querySelector(`[data-panel-${name}]`);

function show() {
  const entries = recordedEntries();
  showTraffic(entries);
  part("sum").textContent = summaryOf(entries);
  part("device").replaceChildren(deviceElement());
  part("attribution").textContent = attributionWords();
  showConsent();
}

function summaryOf(entries) {
  const calls = entries.flatMap((entry) => entry.request?.calls ?? []).length;
  if (!calls) return "nothing sent yet";
  return `${calls} ${calls === 1 ? "call" : "calls"} in ${entries.length} ${entries.length === 1 ? "request" : "requests"}`;
}

function deviceElement() {
  const code = document.createElement("code");
  code.textContent = deviceId() ?? "no cookie";
  return code;
}

function attributionWords() {
  if (!window.Waylink) return "Waylink did not load";
  return window.Waylink.hasConsent() ? creditOf(window.Waylink.getAttribution()) : "not looked at";
}

function showConsent() {
  const isRequired = consentMode() === "required";
  const has = window.Waylink?.hasConsent() ?? false;
  part("consent").textContent = consentWords(isRequired, has);
  part("grant").disabled = has;
  part("deny").disabled = consentChoice() === "denied";
  part("mode").textContent = isRequired ? "Don't ask for consent" : "Ask for consent first";
  part("mode").href = `/?consent=${isRequired ? "not_required" : "required"}`;
}

function consentWords(isRequired, has) {
  if (consentChoice() === "denied") return "denied: nothing is stored or sent";
  if (has) return isRequired ? "granted" : "not asked for on this site";
  return "waited for: nothing is stored or sent";
}

part("grant").addEventListener("click", () => chooseConsent("granted"));
part("deny").addEventListener("click", () => chooseConsent("denied"));
part("forget").addEventListener("click", forgetThisDevice);
document.addEventListener("waylink-traffic", show);
document.addEventListener("consent-chosen", show);
dockPanel();
show();
waylinkReady.then(show, show);
