/** An amount in major units as people read it: €48, €48.50. */
export function asMoney(amount, currency) {
  const digits = Number.isInteger(amount) ? 0 : 2;
  return new Intl.NumberFormat("en-IE", { style: "currency", currency, minimumFractionDigits: digits }).format(amount);
}
