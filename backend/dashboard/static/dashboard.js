// What pages gain where scripts run. Every page works without them.

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) continue; // plain http on another host than localhost
  const said = button.querySelector('[data-copy-said]');
  const before = said.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    said.textContent = 'Copied';
    setTimeout(() => { said.textContent = before; }, 2000);
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
