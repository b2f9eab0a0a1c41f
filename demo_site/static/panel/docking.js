// Whether the panel is open. Wide screens start with it open beside the shop, others with a bar below it.

const KEY = "windrow.panel";
const toggle = document.querySelector("[data-panel-toggle]");
const wide = window.matchMedia("(min-width: 66rem)");

/** Show the panel as it was left, and wire its bar. */
export function dockPanel() {
  set(localStorage.getItem(KEY) ?? (wide.matches ? "open" : "closed"));
  toggle.addEventListener("click", () => {
    const state = toggle.getAttribute("aria-expanded") === "true" ? "closed" : "open";
    localStorage.setItem(KEY, state);
    set(state);
  });
}

function set(state) {
  document.documentElement.dataset.panelState = state;
  toggle.setAttribute("aria-expanded", String(state === "open"));
}
