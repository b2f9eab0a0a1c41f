// What templates of Google Tag Manager may `require`: developers.google.com/tag-platform/tag-manager/templates/api. As in Tag
// Manager, each checks the permissions of the template, which the test gives as `permissions`.
const consent = { analytics_storage: 'denied', ad_storage: 'denied' };
const listeners = [];
const scripts = {};

function need(permission, key, right) {
  const granted = permissions[permission].some((entry) => typeof entry === 'string'
    ? new RegExp(`^${entry.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*')}$`).test(key)
    : (entry.key || entry.consentType) === key && entry[right]);
  if (!granted) throw new Error(`The template has no permission ${permission} ${right} for ${key}`);
}

const apis = {
  addConsentListener(type, listener) {
    need('access_consent', type, 'read');
    listeners.push((changed, granted) => changed === type && listener(type, granted));
  },
  isConsentGranted(type) {
    need('access_consent', type, 'read');
    return consent[type] === 'granted';
  },
  callInWindow(path, ...given) {
    need('access_globals', path, 'execute');
    const names = path.split('.');
    const owner = names.slice(0, -1).reduce((object, name) => object[name], window);
    return owner[names.at(-1)](...given);
  },
  injectScript(url, onSuccess, onFailure, cacheToken) {
    need('inject_script', url.replace('http://localhost', 'https://localhost'), 'urls');
    scripts[cacheToken] ||= new Promise((resolve, reject) => {
      document.head.append(Object.assign(document.createElement('script'), { src: url, onload: resolve, onerror: reject }));
    });
    scripts[cacheToken].then(onSuccess, onFailure);
  },
  makeNumber: Number,
};

window.platform = {
  load() {},
  fire: (code, data) => new Promise((resolve, reject) => {
    const outcome = { gtmOnSuccess: resolve, gtmOnFailure: reject };
    new Function('require', 'data', code)((name) => apis[name], { ...data, ...outcome });
  }),
  answer(given) {
    for (const type of Object.keys(consent)) {
      consent[type] = given === 'agreed' ? 'granted' : 'denied';
      listeners.forEach((listener) => listener(type, given === 'agreed'));
    }
  },
};
