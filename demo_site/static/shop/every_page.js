import { basketCount } from "./basket.js";
import { chooseConsent, consentChoice, consentMode } from "./consent.js";

const badge = document.querySelector("[data-basket-count]");
const banner = document.querySelector("[data-consent-banner]");

function showBasketCount() {
  const count = basketCount();
  badge.textContent = count;
  badge.hidden = count === 0;
}

function showBanner() {
  banner.hidden = consentMode() !== "required" || consentChoice() !== null;
}

document.addEventListener("basket-changed", showBasketCount);
document.addEventListener("consent-chosen", showBanner);
for (const button of banner.querySelectorAll("[data-consent]")) {
  button.addEventListener("click", () => chooseConsent(button.dataset.consent));
}
showBasketCount();
showBanner();
