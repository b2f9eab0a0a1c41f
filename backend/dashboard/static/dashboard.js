// Improves pages where scripts run. Every page works without scripts.

// Screen readers read this element aloud when its text changes.
const announcement = document.querySelector('[data-announce]');

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) continue; // plain http on another host than localhost
  const label = button.querySelector('[data-copy-said]');
  const before = label.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    label.textContent = 'Copied';
    announcement.textContent = 'Copied';
    button.classList.add('done');
    setTimeout(() => {
      label.textContent = before;
      announcement.textContent = '';
      button.classList.remove('done');
    }, 2000);
  });
}

// A checkbox that ticks all links of a page.
for (const form of document.querySelectorAll('form[data-ticks]')) {
  const all = form.querySelector('[data-tick-all]');
  const ticks = [...form.querySelectorAll('input[name^="link-"]')];
  const box = all.querySelector('input');
  all.hidden = false;
  box.addEventListener('change', () => {
    for (const tick of ticks) tick.checked = box.checked;
  });
  form.addEventListener('change', () => {
    box.checked = ticks.every((tick) => tick.checked);
  });
}

// The picture of a QR code and its files follow the form at once. Without scripts they do after "Show".
const code = document.querySelector('form[data-qr]');
if (code) {
  const picture = document.querySelector('[data-qr-picture]');
  const refused = document.querySelector('[data-qr-refused]');
  const files = document.querySelectorAll('[data-qr-file]');
  let waiting;
  picture.addEventListener('error', () => { refused.hidden = false; });
  picture.addEventListener('load', () => { refused.hidden = true; });
  code.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const style = new URLSearchParams(new FormData(code));
      picture.src = `${picture.dataset.qrPicture}?${style}`;
      for (const file of files) file.href = `${file.dataset.qrFile}?${style}&download=1`;
    }, 250);
  });
}

// An image file is sent in base64, as a field of its form.
const logo = document.querySelector('form[data-logo]');
if (logo) {
  const file = logo.querySelector('input[type="file"]');
  const keep = logo.querySelector('[data-logo-keep]');
  logo.querySelector('[data-logo-file]').hidden = false;
  file.addEventListener('change', () => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      logo.querySelector('input[name="image"]').value = reader.result.split(',')[1] ?? '';
      keep.hidden = false;
    });
    if (file.files[0]) reader.readAsDataURL(file.files[0]);
  });
}

// A chosen template fills the UTM fields at once. Without scripts it does so when the link is made.
const template = document.querySelector('select[data-template]');
if (template) {
  const hint = document.querySelector('[data-template-hint]');
  hint.textContent = hint.dataset.templateHint;
  template.removeAttribute('name');
  let filled = {};
  template.addEventListener('change', () => {
    const utm = JSON.parse(template.selectedOptions[0].dataset.utm ?? '{}');
    for (const input of template.form.querySelectorAll('input[name^="utm_"]')) {
      // A value that somebody typed stays.
      if (input.value && input.value !== filled[input.name]) continue;
      input.value = utm[input.name] ?? '';
    }
    filled = utm;
  });
}

// The rows of an A/B test: as many as are filled in and at least two, more one by one. Without scripts all are there.
const variants = document.querySelector('[data-variants]');
if (variants) {
  const rows = [...variants.tBodies[0].rows];
  const value = (row, at) => row.querySelectorAll('input')[at].value.trim();
  const isFilled = (row) => value(row, 0) !== '' || value(row, 2) !== '';
  const add = document.querySelector('[data-variants-add]');
  const shares = add.querySelector('[data-variants-shares]');
  const refresh = () => {
    add.querySelector('button').hidden = rows.every((row) => !row.hidden);
    const filled = rows.filter(isFilled);
    const weights = filled.map((row) => Number(value(row, 1)));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    shares.textContent = filled.length > 1 && total > 0
      ? filled.map((row, at) => `${value(row, 0) || '?'}: ${Math.round((100 * weights[at]) / total)} %`).join(', ')
      : '';
  };
  const shown = Math.max(2, rows.findLastIndex((row) => isFilled(row) || row.querySelector('.problem')) + 1);
  for (const row of rows.slice(shown)) row.hidden = true;
  add.hidden = false;
  add.querySelector('button').addEventListener('click', () => {
    const next = rows.find((row) => row.hidden);
    next.hidden = false;
    next.querySelector('input').focus();
    refresh();
  });
  variants.addEventListener('input', refresh);
  refresh();
}

// The value of a filter is suggested from those of the chosen field. Without scripts, from those of the field that
// was chosen when the form was sent last.
for (const select of document.querySelectorAll('form[data-funnel] select[name^="field_"]')) {
  const input = select.form.elements[select.name.replace('field', 'value')];
  select.addEventListener('change', () => {
    input.setAttribute('list', `values-${select.value}`);
    input.value = '';
  });
}

// A file with a table is read here and put into the form: it is looked at as if somebody had pasted it.
const sheet = document.querySelector('[data-sheet]');

// Excel saves Unicode text as UTF-16, and CSV files often in the code page of Windows.
function textOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

if (sheet) {
  const box = sheet.querySelector('[data-sheet-file]');
  const said = box.querySelector('[data-sheet-said]');
  const file = box.querySelector('input');
  box.hidden = false;
  file.addEventListener('change', async () => {
    const bytes = new Uint8Array(await file.files[0].arrayBuffer());
    file.value = '';
    if (bytes[0] === 0x50 && bytes[1] === 0x4b) {
      said.textContent = 'This is a workbook. Save it as CSV, or copy its cells and paste them below.';
      return;
    }
    sheet.elements.sheet.value = textOf(bytes);
    sheet.requestSubmit();
  });
}

// The menu of narrow screens closes as menus do.
const menu = document.querySelector('details.menu');
menu?.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu.open) return;
  menu.open = false;
  menu.querySelector(':scope > summary').focus();
});

// Pages show times in the browser's time zone. No request has it, so a cookie tells it.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
if (timeZone && !document.cookie.split('; ').includes(`waylink_zone=${timeZone}`)) {
  document.cookie = `waylink_zone=${timeZone}; path=/; max-age=31536000; samesite=lax`;
}

// Shows names of countries instead of codes. An unknown code stays as it is.
const countries = new Intl.DisplayNames(['en'], { type: 'region' });
function nameCountries(root) {
  for (const place of root.querySelectorAll('[data-country]')) {
    const code = place.dataset.country;
    if (/^[A-Z]{2}$/.test(code)) place.textContent = countries.of(code) ?? code;
  }
}
nameCountries(document);
// Other scripts send this event when they add rows.
document.addEventListener('waylink:shown', (event) => nameCountries(event.target));

// What is under way (the check of an installation, an archive that is made) asks repeatedly until it is over,
// while the page is visible. Only texts change: a page that is read aloud stays where it is.
const live = document.querySelector('[data-live]');
const LOOK_EVERY = 2000; // milliseconds

function showStep({ label, sentence, written, total }, isNew) {
  live.querySelector('[data-live-label]').textContent = label;
  const bar = live.querySelector('progress');
  bar.max = total || 1;
  bar.value = written;
  bar.parentElement.hidden = !total;
  // Numbers go on every two seconds: what is read aloud is only that something else begins.
  if (isNew) announcement.textContent = `${label}. ${sentence}`;
}

function show(answer) {
  const { state, colour, sentence } = answer;
  const status = live.querySelector('[data-live-said]');
  if (status.textContent !== sentence) status.textContent = sentence;
  if (answer.label) showStep(answer, live.dataset.state !== state);
  live.dataset.state = state;
  const coloured = live.querySelector('[data-live-label]') ?? live;
  coloured.classList.remove('good', 'warn', 'bad');
  if (colour) coloured.classList.add(colour);
}

async function look() {
  let isOver = false;
  if (!document.hidden) {
    try {
      const answer = await fetch(live.dataset.live, { redirect: 'error' });
      const found = answer.ok ? await answer.json() : { is_over: answer.status === 404 }; // it was deleted
      if (answer.ok) show(found);
      isOver = found.is_over;
    } catch {
      // The service can't be reached just now, or the session has ended: asking goes on.
    }
  }
  // What can only be done while it goes on.
  for (const action of live.querySelectorAll('[data-live-open]')) action.hidden = isOver;
  if (!isOver) setTimeout(look, LOOK_EVERY);
}

if (live) setTimeout(look, LOOK_EVERY);

// The table of a link's latest clicks asks for new clicks while the page is visible, for ten minutes.
const latest = document.querySelector('[data-latest]');
const ASK_EVERY = 3000; // milliseconds
const MOST_QUESTIONS = 200;
const latestNote = document.querySelector('[data-latest-said]');
let questions = 0;

function latestRow(facts) {
  const row = document.querySelector('[data-latest-row]').content.querySelector('tr').cloneNode(true);
  row.dataset.at = facts.at;
  for (const cell of row.querySelectorAll('[data-cell]')) cell.textContent = facts[cell.dataset.cell];
  row.querySelector('[data-cell=country]').dataset.country = facts.country;
  nameCountries(row);
  return row;
}

function showLatest({ since, rows }) {
  const from = Number(latest.dataset.since);
  latest.dataset.since = since;
  if (!rows.length) return;
  // The answer has all clicks since that time, also those that the table has already.
  for (const row of [...latest.rows]) if (Number(row.dataset.at) >= from) row.remove();
  latest.prepend(...rows.map(latestRow));
  for (const row of [...latest.rows].slice(Number(latest.dataset.most))) row.remove();
  latest.closest('.latest').hidden = false;
  document.querySelector('[data-latest-none]').hidden = true;
}

async function askLatest() {
  if (!document.hidden) {
    questions += 1;
    try {
      const address = `${latest.dataset.latest}?since=${latest.dataset.since}`;
      const answer = await fetch(address, { redirect: 'error' });
      if (answer.status === 200) showLatest(await answer.json());
    } catch {
      // The service can't be reached just now, or the session has ended: asking goes on for a while.
    }
  }
  if (questions < MOST_QUESTIONS) setTimeout(askLatest, ASK_EVERY);
  else latestNote.textContent = ' Load the page again to see newer ones.';
}

if (latest) {
  latestNote.hidden = false;
  setTimeout(askLatest, ASK_EVERY);
}

// The picture beside a form is drawn again when the form changes. Without scripts, its button draws it.
for (const form of document.querySelectorAll('form[data-picture]')) {
  const button = form.querySelector('[formtarget="picture"]');
  let waits;
  form.addEventListener('input', () => {
    clearTimeout(waits);
    waits = setTimeout(() => form.requestSubmit(button), 400);
  });
  button.hidden = true;
}
