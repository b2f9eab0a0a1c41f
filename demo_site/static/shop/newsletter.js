// The newsletter: a sign-up is a lead.

import { newReference } from "./references.js";

/** Wire the form. */
export function offerNewsletter() {
  const form = document.querySelector("[data-newsletter]");
  form.addEventListener("submit", (submitted) => {
    submitted.preventDefault();
    const input = form.elements.email;
    const isUsable = input.value.trim() !== "" && input.checkValidity();
    input.setAttribute("aria-invalid", String(!isUsable));
    if (isUsable) signUp(form, input.value);
    else refuse(input);
  });
}

function signUp(form, email) {
  // The e-mail address is hashed by Waylink before it leaves the page.
  window.Waylink?.trackLead({ email, event_id: newReference("N") });
  form.reset();
  say("You are on the list. The next letter comes with the equinox.");
}

function refuse(input) {
  say("That does not look like an e-mail address, for example you@example.org.");
  input.focus();
}

function say(text) {
  document.querySelector("[data-newsletter-said]").textContent = text;
}
