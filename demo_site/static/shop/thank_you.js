import { creditOf } from "./attribution_words.js";
import { asMoney } from "./money.js";
import { lastOrder, reportOrder } from "./orders.js";
import { waylinkReady } from "./waylink_setup.js";

const put = (name, text) => (document.querySelector(`[data-${name}]`).textContent = text);

async function show(order) {
  put("thanks-sentence", "Your kite is as good as in the air.");
  put("order-number", order.number);
  put("order-total", asMoney(order.total, order.currency));
  put("order-credit", "…");
  document.querySelector("[data-thanks-order]").hidden = false;
  document.querySelector("[data-report-again]").addEventListener("click", () => reportOrder(order));
  await waylinkReady;
  put("order-credit", window.Waylink?.hasConsent() ? creditOf(window.Waylink.getAttribution()) : "nobody: not reported");
}

const order = lastOrder();
if (order) show(order);
