// A product's page: into the basket is an event of the site's own.

import { addToBasket, basketCount } from "./basket.js";

const form = document.querySelector("[data-add]");

form.addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  const { slug, name, price, currency } = form.dataset;
  addToBasket({ slug, name, price: Number(price) });
  window.Waylink?.trackEvent("add_to_cart", { product_id: slug, metadata: { price: Number(price), currency } });
  say(name);
});
// Only now does a click do anything.
form.querySelector("button").disabled = false;

function say(name) {
  const link = document.createElement("a");
  link.href = "/checkout";
  link.textContent = "Go to checkout";
  const pieces = basketCount();
  const words = `${name} is in, ${pieces} ${pieces === 1 ? "kite" : "kites"} in the basket. `;
  document.querySelector("[data-add-said]").replaceChildren(words, link);
}
