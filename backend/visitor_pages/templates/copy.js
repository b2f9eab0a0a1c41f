const button = document.getElementById("copy");
const MOST_MILLISECONDS = 500;

button.addEventListener("click", (event) => {
  if (!navigator.clipboard) return; // an older browser, or no https: the link leads on by itself
  // A browser may write after the page is left, and then it does not: so the App Store waits for the copy,
  // but never for long.
  event.preventDefault();
  const goOn = () => location.assign(button.href);
  const late = setTimeout(goOn, MOST_MILLISECONDS);
  const written = navigator.clipboard.writeText(button.dataset.text);
  written.catch(() => {}).then(() => {
    clearTimeout(late);
    goOn();
  });
});
