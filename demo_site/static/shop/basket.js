// The basket: lines {slug, name, price, quantity}, kept in this browser.

const KEY = "windrow.basket";
const MOST_OF_ONE = 20;

/** The lines of the basket, oldest first. */
export function basketLines() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

/** How many pieces there are. */
export function basketCount() {
  return basketLines().reduce((count, line) => count + line.quantity, 0);
}

/** What they cost together. */
export function totalOf(lines) {
  return lines.reduce((total, line) => total + line.price * line.quantity, 0);
}

/** One more of a kite. */
export function addToBasket({ slug, name, price }) {
  const lines = basketLines();
  const line = lines.find((stored) => stored.slug === slug);
  if (line) line.quantity = Math.min(line.quantity + 1, MOST_OF_ONE);
  else lines.push({ slug, name, price, quantity: 1 });
  keep(lines);
}

/** Another quantity of a kite; none takes it out. */
export function setQuantity(slug, quantity) {
  const whole = Math.min(Math.max(Math.trunc(quantity) || 0, 0), MOST_OF_ONE);
  keep(basketLines().map((line) => (line.slug === slug ? { ...line, quantity: whole } : line)));
}

/** Empty the basket. */
export function emptyBasket() {
  keep([]);
}

function keep(lines) {
  localStorage.setItem(KEY, JSON.stringify(lines.filter((line) => line.quantity > 0)));
  document.dispatchEvent(new CustomEvent("basket-changed"));
}
