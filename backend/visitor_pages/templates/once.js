const MOST_MILLISECONDS = 10_000;
const form = document.querySelector("form");
let sentAt = -Infinity;

// A second tap would take another click of the link, and the visitor would see the answer to that one only.
form.addEventListener("submit", (event) => {
  if (event.timeStamp - sentAt < MOST_MILLISECONDS) event.preventDefault();
  else sentAt = event.timeStamp;
});
// Who comes back to this page may go on again.
addEventListener("pageshow", () => { sentAt = -Infinity; });
