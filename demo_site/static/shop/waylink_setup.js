// What a site owner writes to use Waylink: the public key, where the service is, and what the visitor allows.

import { consentMode, passOnConsent } from "./consent.js";

const setting = (name) => document.querySelector(`meta[name="${name}"]`).content;

/** Resolves once Waylink is ready, and also where a blocker kept its file away: the shop works without it. */
export const waylinkReady = window.Waylink ? start() : Promise.resolve();

function start() {
  const ready = window.Waylink.init({
    apiKey: setting("waylink-web-key"),
    baseUrl: setting("waylink-base-url"),
    consentMode: consentMode(),
  });
  passOnConsent();
  return ready;
}
