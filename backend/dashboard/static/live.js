// The page Live: new rows appear above the others as they arrive. Without scripts, a link reloads the page.

const feed = document.querySelector('[data-feed]');
const table = feed.querySelector('table');
const state = feed.querySelector('[data-feed-state]');
const announcement = document.querySelector('[data-announce]');
const pause = document.querySelector('[data-feed-pause]');
const ANNOUNCE_EVERY = 10000; // milliseconds: screen readers are told how many events came, not each event
const LONGEST_PAUSE = 30000;

let stream = null;
let isPaused = false;
let failures = 0;
let untold = 0;
let retry;

function show(words, colour) {
  state.textContent = words;
  state.className = `badge ${colour}`;
}

function rowOf(facts) {
  const row = feed.querySelector('template').content.querySelector('tr').cloneNode(true);
  for (const cell of row.querySelectorAll('[data-cell]')) cell.textContent = facts[cell.dataset.cell];
  const link = row.querySelector('[data-cell=link]');
  if (facts.address) link.href = facts.address;
  else link.replaceWith(facts.link);
  row.querySelector('[data-cell=country]').dataset.country = facts.country;
  row.classList.add('new');
  return row;
}

function add(message) {
  const rows = JSON.parse(message.data);
  feed.dataset.after = message.lastEventId;
  table.tBodies[0].prepend(...rows.map(rowOf));
  table.dispatchEvent(new CustomEvent('waylink:shown', { bubbles: true }));
  for (const row of [...table.tBodies[0].rows].slice(Number(feed.dataset.most))) row.remove();
  table.hidden = false;
  feed.querySelector('[data-feed-none]').hidden = true;
  untold += rows.length;
}

function close() {
  clearTimeout(retry);
  stream?.close();
  stream = null;
}

function address() {
  const asked = new URLSearchParams(location.search);
  asked.set('organization', feed.dataset.organization);
  asked.set('after', feed.dataset.after);
  return `${feed.dataset.feed}?${asked}`;
}

function open() {
  close();
  stream = new EventSource(address());
  stream.addEventListener('rows', add);
  stream.addEventListener('open', () => {
    failures = 0;
    show('Live', 'good');
  });
  stream.addEventListener('error', () => {
    show('Connecting again', 'warn');
    // After an answer that is no stream, the browser does not connect again by itself.
    if (stream?.readyState === EventSource.CLOSED) askWhy();
  });
}

async function askWhy() {
  close();
  failures += 1;
  retry = setTimeout(open, Math.min(1000 * 2 ** failures, LONGEST_PAUSE));
  try {
    const headers = { Accept: 'text/event-stream' };
    const answer = await fetch(address(), { method: 'HEAD', headers, redirect: 'manual' });
    // The session has ended, or acts for another organization now: loading the page shows what to do.
    if (answer.type === 'opaqueredirect') location.reload();
  } catch {
    // The service can't be reached just now.
  }
}

// A hidden page closes its connection. When it is visible again, it gets the newest of the rows that it missed.
function follow() {
  if (isPaused || document.hidden) {
    close();
    if (isPaused) show('Paused', 'warn');
  } else if (!stream) open();
}

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.querySelector('span').textContent = isPaused ? 'Go on' : 'Pause';
  follow();
});
document.addEventListener('visibilitychange', follow);
setInterval(() => {
  if (untold) announcement.textContent = `${untold} new ${untold === 1 ? 'event' : 'events'}`;
  untold = 0;
}, ANNOUNCE_EVERY);

feed.querySelector('[data-feed-reload]').hidden = true;
state.hidden = pause.hidden = false;
show('Connecting', 'warn');
follow();
