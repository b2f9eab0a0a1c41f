// What pages gain where scripts run. Every page works without them.

// Screen readers say what is written here.
const announcement = document.querySelector('[data-announce]');

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) continue; // plain http on another host than localhost
  const said = button.querySelector('[data-copy-said]');
  const before = said.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    said.textContent = 'Copied';
    announcement.textContent = 'Copied';
    button.classList.add('done');
    setTimeout(() => {
      said.textContent = before;
      announcement.textContent = '';
      button.classList.remove('done');
    }, 2000);
  });
}

// The menu of narrow screens closes as menus do.
const menu = document.querySelector('details.menu');
menu?.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu.open) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});

// Countries by their names instead of their codes; a code that is none stays as it is.
const countries = new Intl.DisplayNames(['en'], { type: 'region' });
for (const place of document.querySelectorAll('[data-country]')) {
  const code = place.dataset.country;
  if (/^[A-Z]{2}$/.test(code)) place.textContent = countries.of(code) ?? code;
}

// The check of an installation goes on asking until a call has arrived, while the page is looked at.
const live = document.querySelector('[data-live]');
const LOOK_EVERY = 2000; // milliseconds
const COLOURS = { arrived: 'good', refused: 'bad' };

function show({ state, sentence }) {
  const said = live.querySelector('[data-live-said]');
  if (said.textContent !== sentence) said.textContent = sentence;
  live.dataset.state = state;
  live.classList.remove(...Object.values(COLOURS));
  if (COLOURS[state]) live.classList.add(COLOURS[state]);
}

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(live.dataset.live, { redirect: 'error' });
      if (answer.ok) show(await answer.json());
    } catch {
      // The service can't be reached just now, or the session has ended: asking goes on.
    }
  }
  if (live.dataset.state !== 'arrived') setTimeout(look, LOOK_EVERY);
}

if (live && live.dataset.state !== 'arrived') setTimeout(look, LOOK_EVERY);
