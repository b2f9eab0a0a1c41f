// The order of this tab, and how it is reported.

import { totalOf } from "./basket.js";
import { newReference } from "./references.js";

const KEY = "windrow.order";

/** An order of these lines. Its number is made here, once, and is the transaction id of every report. */
export function placeOrder(lines, currency) {
  const order = { number: newReference("W"), lines, total: totalOf(lines), currency };
  sessionStorage.setItem(KEY, JSON.stringify(order));
  return order;
}

/** The order placed last in this tab, or null. */
export function lastOrder() {
  return JSON.parse(sessionStorage.getItem(KEY));
}

/** Report the order to Waylink; two reports of one order are counted once. */
export function reportOrder(order) {
  return window.Waylink?.trackConversion({
    revenue: order.total,
    currency: order.currency,
    transaction_id: order.number,
    product_id: order.lines[0].slug,
  });
}
