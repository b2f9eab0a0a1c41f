// The site's own consent tool. Waylink keeps no consent over pages: this tool does, and tells Waylink on each one.

const MODE = "windrow.consent_mode";
const CHOICE = "windrow.consent";

// The demo shows both kinds of site: ?consent=required makes this tab's pages ask first.
const asked = new URLSearchParams(location.search).get("consent");
if (asked && asked !== consentMode()) {
  sessionStorage.setItem(MODE, asked === "required" ? "required" : "not_required");
  localStorage.removeItem(CHOICE);
}

/** 'required' where visitors are asked first, else 'not_required'. */
export function consentMode() {
  return sessionStorage.getItem(MODE) ?? "not_required";
}

/** 'granted', 'denied', or null where the visitor has not said. */
export function consentChoice() {
  return localStorage.getItem(CHOICE);
}

/** Keep the visitor's choice, tell Waylink, and let the page show it. */
export function chooseConsent(choice) {
  localStorage.setItem(CHOICE, choice);
  passOnConsent();
  document.dispatchEvent(new CustomEvent("consent-chosen"));
}

/** Tell Waylink what the visitor chose, on this page or an earlier one. */
export function passOnConsent() {
  if (consentChoice() === "granted") window.Waylink?.grantConsent();
  if (consentChoice() === "denied") window.Waylink?.denyConsent();
}
