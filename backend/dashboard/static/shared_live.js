// A shared report of Live: its figures are loaded again every few seconds, while the page is seen. No connection
// stays open meanwhile, so that many may watch. Without scripts, a link loads the page again.

const pause = document.querySelector('[data-live-pause]');
let isPaused = false;

const shown = (page = document) => page.querySelector('[data-live]');
const asOf = (page = document) => page.querySelector('[data-as-of]').firstChild;

// The page as a document. XMLHttpRequest makes one, which the policy of trusted types allows to no other.
// In a frame of another site there is no cookie, so a page with a password is asked for with its pass.
function load() {
  if (isPaused || document.hidden) return;
  const { pass } = shown().dataset;
  const asked = new XMLHttpRequest();
  asked.open(pass ? 'POST' : 'GET', location.pathname);
  asked.responseType = 'document';
  asked.addEventListener('load', () => asked.status === 200 && show(asked.responseXML));
  asked.send(pass && new URLSearchParams({ pass }));
}

function show(page) {
  const figures = shown(page);
  if (!figures) return location.reload(); // the password is asked for again
  const folds = figures.querySelectorAll('details');
  for (const [at, fold] of shown().querySelectorAll('details').entries()) {
    if (folds[at]) folds[at].open = fold.open;
  }
  shown().replaceWith(figures);
  asOf().textContent = asOf(page).textContent;
}

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.textContent = isPaused ? 'Go on' : 'Pause';
  load();
});
document.addEventListener('visibilitychange', load);
document.querySelector('[data-live-again]').hidden = true;
pause.hidden = false;
setInterval(load, 1000 * Number(shown().dataset.live));
