// Keys that work on every page: "/" searches, "n" makes a link, "?" shows the keys. Never while somebody types.
// A browser can switch them off, since people who dictate press keys by accident (WCAG 2.1.4).

const dialog = document.querySelector('[data-keys]');
const isOn = dialog?.querySelector('[data-keys-on]');
const OFF = 'waylink-keys-off';

function read() {
  try {
    return localStorage.getItem(OFF) === null;
  } catch {
    return true; // a browser that keeps nothing
  }
}

function keep() {
  try {
    if (isOn.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
  } catch {
    // It holds for this page then.
  }
  hint();
}

function hint() {
  for (const key of document.querySelectorAll('[data-keys-hint]')) key.hidden = !isOn.checked;
}

const isTyping = (element) => element.closest?.('input, textarea, select, [contenteditable]') != null;

// The search of the navigation that is shown; on narrow screens it is in the menu, which opens for it.
function search() {
  const menu = document.querySelector('details.menu');
  if (menu?.checkVisibility()) menu.open = true;
  const field = [...document.querySelectorAll('[data-search]')].find((each) => each.checkVisibility());
  field?.focus();
  field?.select();
}

const ACTIONS = {
  '/': search,
  n: () => dialog.querySelector('[data-key=n]')?.click(),
  '?': () => dialog.showModal(),
};

if (dialog) {
  isOn.checked = read();
  hint();
  isOn.addEventListener('change', keep);
  for (const button of document.querySelectorAll('[data-keys-show]')) {
    button.hidden = false;
    button.addEventListener('click', () => dialog.showModal());
  }
  document.addEventListener('keydown', (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing && !event.repeat;
    if (!isPlain || event.defaultPrevented || dialog.open || !isOn.checked || isTyping(event.target)) return;
    const action = ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
