// The basket's lines, and the order: who buys (identify), and what (trackConversion).

import { basketLines, emptyBasket, setQuantity, totalOf } from "./basket.js";
import { asMoney } from "./money.js";
import { placeOrder, reportOrder } from "./orders.js";
import { customerNumber } from "./references.js";

const currency = document.querySelector(".checkout").dataset.currency;
const list = document.querySelector("[data-lines]");
const form = document.querySelector("[data-order]");
// A visitor waits no longer than this for a report; what is not through by then arrives from the next page.
const WAIT_FOR_REPORT = 1500;

function show() {
  const lines = basketLines();
  document.querySelector("[data-basket-empty]").hidden = lines.length > 0;
  document.querySelector("[data-basket-full]").hidden = lines.length === 0;
  list.replaceChildren(...lines.map(lineElement));
  showTotal();
}

function showTotal() {
  document.querySelector("[data-total]").textContent = asMoney(totalOf(basketLines()), currency);
}

function lineElement(line) {
  const element = copyOf("[data-line]");
  element.dataset.slug = line.slug;
  const link = element.querySelector(".line-name");
  element.querySelector(".line-picture").append(copyOf(`[data-thumbnail="${CSS.escape(line.slug)}"]`));
  link.textContent = line.name;
  link.href = `/kites/${line.slug}`;
  element.querySelector(".line-price").textContent = asMoney(line.price * line.quantity, currency);
  wireQuantity(element, line);
  return element;
}

function wireQuantity(element, line) {
  const input = element.querySelector("input");
  element.querySelector(".visually-hidden").textContent = `How many of ${line.name}`;
  input.value = line.quantity;
  input.addEventListener("change", () => {
    setQuantity(line.slug, Number(input.value));
    show();
    list.querySelector(`[data-slug="${CSS.escape(line.slug)}"] input`)?.focus();
  });
  const remove = element.querySelector(".line-remove");
  remove.setAttribute("aria-label", `Remove ${line.name}`);
  remove.addEventListener("click", () => {
    setQuantity(line.slug, 0);
    show();
    document.querySelector("main").focus();
  });
}

function copyOf(selector) {
  return document.querySelector(selector).content.firstElementChild.cloneNode(true);
}

async function buy(submitted) {
  submitted.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  const { name, email } = Object.fromEntries(new FormData(form));
  window.Waylink?.identify({ customer_id: customerNumber(), email, name });
  const order = placeOrder(basketLines(), currency);
  await Promise.race([reportOrder(order), new Promise((waited) => setTimeout(waited, WAIT_FOR_REPORT))]);
  emptyBasket();
  location.assign("/thank-you");
}

form.addEventListener("submit", buy);
show();
