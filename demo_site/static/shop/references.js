// Numbers that a shop with a back office would get from there.

const LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
const CUSTOMER = "windrow.customer";

/** A new reference such as W-7K2MQ9TF; a new order takes one, and keeps it. */
export function newReference(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `${prefix}-${Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("")}`;
}

/** The customer number of this browser's visitor, made at the first order. */
export function customerNumber() {
  const number = localStorage.getItem(CUSTOMER) ?? newReference("C");
  localStorage.setItem(CUSTOMER, number);
  return number;
}
