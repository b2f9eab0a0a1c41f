// What Borlabs Cookie documents for version 3: borlabs.io/kb/javascript-api-v3.
let consents = [];

function keep(given) {
  consents = given === 'agreed' ? ['borlabs-cookie', 'waylink'] : given === 'in_part' ? ['borlabs-cookie', 'chat'] : ['borlabs-cookie'];
  document.cookie = `borlabs-cookie=${encodeURIComponent(JSON.stringify({ consents }))}; path=/`;
}

window.platform = {
  load(former) {
    document.cookie = 'borlabs-cookie=; path=/; max-age=0';
    if (former) keep(former);
    window.BorlabsCookie = { Consents: { hasConsent: (service) => consents.includes(service) } };
    window.dispatchEvent(new CustomEvent('borlabs-cookie-after-init'));
  },
  answer(given) {
    keep(given);
    window.dispatchEvent(new CustomEvent('borlabs-cookie-consent-saved'));
  },
};
