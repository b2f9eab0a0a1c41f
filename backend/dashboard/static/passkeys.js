// Passkeys: a form with data-passkey-create or data-passkey-get sends what the browser made or signed with it.
// Both are shown only where the browser knows passkeys.

const isKnown = typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;

async function create(options) {
  return navigator.credentials.create({publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options)});
}

async function get(options) {
  return navigator.credentials.get({publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options)});
}

for (const [name, ask] of [['passkeyCreate', create], ['passkeyGet', get]]) {
  for (const form of document.querySelectorAll('form')) {
    if (!(name in form.dataset)) continue;
    form.hidden = !isKnown;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const told = form.querySelector('[data-passkey-told]');
      told.textContent = '';
      try {
        const credential = await ask(JSON.parse(form.dataset[name]));
        form.elements.credential.value = JSON.stringify(credential);
      } catch (error) {
        // Whoever closed the browser's window knows why nothing happens.
        const isKnownAlready = error.name === 'InvalidStateError';
        told.textContent = isKnownAlready ? 'This device has a passkey for you already.' : 'The browser gave no passkey.';
        return;
      }
      form.submit();
    });
  }
}
