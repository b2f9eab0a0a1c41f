// A phone for tests: a storage that outlives the app, a network with faults, and apps that start and are ended.
// Each start imports the package afresh, as a new process would, and hands it the modules of React Native or of
// Capacitor, as far as the package's adapters use them.
let starts = 0;

const reactNative = (sdk, phone, app, address) => ({
  storage: { getItem: async (key) => phone.read(app, key) ?? null, setItem: async (key, text) => phone.write(app, key, text) },
  addresses: sdk.linkingAddresses({
    getInitialURL: async () => address ?? null,
    addEventListener(type, handler) {
      if (type === 'url') app.onAddress = (url) => handler({ url });
      return { remove() {} };
    },
  }),
  async fetch(url, { headers, body }) {
    const { status, text, answered } = await phone.carry(app, url, headers, body);
    return { status, headers: new Headers(answered), json: async () => JSON.parse(text) };
  },
});

const capacitor = (sdk, phone, app, address) => ({
  storage: sdk.preferencesStorage({
    get: async ({ key }) => ({ value: phone.read(app, key) ?? null }),
    set: async ({ key, value }) => phone.write(app, key, value),
  }),
  addresses: sdk.capacitorAddresses({
    getLaunchUrl: async () => (address ? { url: address } : undefined),
    async addListener(name, handler) {
      if (name === 'appUrlOpen') app.onAddress = (url) => handler({ url });
      return { remove: async () => {} };
    },
  }),
  fetch: sdk.capacitorFetch({
    async request({ url, headers, data }) {
      const { status, text, answered } = await phone.carry(app, url, headers, JSON.stringify(data));
      return { status, headers: answered, data: text.startsWith('{') ? JSON.parse(text) : text, url };
    },
  }),
});

export class Phone {
  constructor(packageUrl, options, { isCapacitor = false, storageFails = false } = {}) {
    this.packageUrl = packageUrl;
    this.options = options;
    this.modules = isCapacitor ? capacitor : reactNative;
    this.storageFails = storageFails;
    this.texts = {};
    this.network = 'on';
    this.requests = [];
    this.heard = [];
    this.problems = [];
    this.app = null;
  }

  async start(address, { denied = false } = {}) {
    starts += 1;
    const sdk = await import(`${this.packageUrl}?start=${starts}`);
    const app = { Waylink: sdk.Waylink, isAlive: true, onAddress: null };
    this.app = app;
    const unlessEnded = (list) => (item) => app.isAlive && list.push(item);
    sdk.Waylink.onOpen(unlessEnded(this.heard));
    if (denied) sdk.Waylink.denyConsent();
    // Not awaited: an app goes on while the client starts.
    sdk.Waylink.init({
      ...this.options,
      ...this.modules(sdk, this, app, address),
      onProblem: unlessEnded(this.problems),
    });
  }

  stop() {
    this.app.isAlive = false;
  }

  read(app, key) {
    this.refuse(app);
    return this.texts[key];
  }

  write(app, key, text) {
    this.refuse(app);
    this.texts[key] = text;
  }

  refuse(app) {
    if (!app.isAlive || this.storageFails) throw new Error('no storage');
  }

  // Send a request of the app: status, body and headers of the answer.
  async carry(app, url, headers, body) {
    const faults = this.network;
    if (!app.isAlive || faults === 'off') throw new TypeError('no network');
    const sent = { path: new URL(url).pathname, body: JSON.parse(body) };
    if (faults.status) {
      this.requests.push({ ...sent, status: faults.status });
      const answered = faults.retry_after ? { 'Retry-After': faults.retry_after } : {};
      return { status: faults.status, text: faults.text ?? '{}', answered };
    }
    const response = await fetch(url, { method: 'POST', headers, body });
    const text = await response.text();
    this.requests.push({ ...sent, status: faults === 'on' ? response.status : 'nothing', answer: JSON.parse(text) });
    if (faults !== 'on') throw new TypeError('the answer is lost');
    return { status: response.status, text, answered: Object.fromEntries(response.headers) };
  }
}

export async function until(found, what) {
  const end = Date.now() + 20000;
  for (;;) {
    const value = found();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await pause(10);
  }
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
