// A shared report of Live: its figures are loaded again every few seconds, while the page is seen. No connection
// stays open meanwhile, so that many may watch. Without scripts, a link loads the page again.

const pause = document.querySelector('[data-live-pause]');
let isPaused = false;

const shown = () => document.querySelector('[data-live]');

// In a frame of another site there is no cookie, so a page with a password is asked for with its pass.
function request() {
  const { pass } = shown().dataset;
  const body = pass && new URLSearchParams({ pass });
  return fetch(location.pathname, body ? { method: 'POST', body } : {});
}

async function load() {
  if (isPaused || document.hidden) return;
  try {
    const answer = await request();
    if (!answer.ok) return; // it is tried again
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const figures = page.querySelector('[data-live]');
    if (!figures) return location.reload(); // the password is asked for again
    const wasOpen = shown().querySelector('details').open;
    figures.querySelector('details').open = wasOpen;
    shown().replaceWith(figures);
    document.querySelector('[data-as-of]').firstChild.textContent = page.querySelector('[data-as-of]').firstChild.textContent;
  } catch {
    // The service can't be reached just now.
  }
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
