// The slider over the shelf: kites that the wind of the day does not suit step back.

const BEAUFORT = ["", "light air", "light breeze", "gentle breeze", "moderate breeze", "fresh breeze", "strong breeze", "near gale"];

/** Wire the slider to the cards. */
export function followTheWind() {
  const slider = document.querySelector("[data-wind]");
  slider.addEventListener("input", () => show(Number(slider.value)));
  show(Number(slider.value));
}

function show(wind) {
  document.querySelector("[data-wind-words]").textContent = `Force ${wind}, ${BEAUFORT[wind]}`;
  for (const card of document.querySelectorAll("[data-least-wind]")) {
    const { leastWind: least, mostWind: most } = card.dataset;
    const words = wordsFor(wind, Number(least), Number(most));
    card.classList.toggle("unsuited", words !== "");
    card.querySelector(".wind-words").textContent = words || `Force ${least} to ${most}`;
  }
}

/** What keeps a kite on the ground, or nothing. */
function wordsFor(wind, least, most) {
  if (wind < least) return `Wants force ${least} at least`;
  return wind > most ? `Force ${most} at most` : "";
}
