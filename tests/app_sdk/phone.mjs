// A phone for tests: a storage that outlives the app, a network with faults, and apps that start and are ended.
// Each start imports the package afresh, as a new process would.
let starts = 0;

export class Phone {
  constructor(packageUrl, options) {
    this.packageUrl = packageUrl;
    this.options = options;
    this.texts = {};
    this.network = 'on';
    this.requests = [];
    this.heard = [];
    this.problems = [];
    this.app = null;
  }

  async start(address, { fails = false, denied = false } = {}) {
    starts += 1;
    const { Waylink } = await import(`${this.packageUrl}?start=${starts}`);
    const app = { Waylink, isAlive: true, onAddress: null };
    this.app = app;
    const whileAlive = (work) => (...given) => {
      if (!app.isAlive || fails) throw new Error('none');
      return work(...given);
    };
    const unlessEnded = (list) => (each) => app.isAlive && list.push(each);
    Waylink.onOpen(unlessEnded(this.heard));
    if (denied) Waylink.denyConsent();
    // Not awaited: an app goes on while the client starts.
    Waylink.init({
      ...this.options,
      storage: {
        getItem: whileAlive(async (key) => this.texts[key]),
        setItem: whileAlive(async (key, text) => {
          this.texts[key] = text;
        }),
      },
      addresses: { initial: async () => address, listen: (onAddress) => (app.onAddress = onAddress) },
      fetch: (url, request) => this.carry(app, url, request),
      onProblem: unlessEnded(this.problems),
    });
  }

  stop() {
    this.app.isAlive = false;
  }

  async carry(app, url, request) {
    const faults = this.network;
    if (!app.isAlive || faults === 'off') throw new TypeError('no network');
    const sent = { path: new URL(url).pathname, body: JSON.parse(request.body) };
    sent.key = request.headers['API-KEY'];
    if (faults.status) {
      this.requests.push({ ...sent, status: faults.status });
      const text = faults.text ?? '{}';
      return new Response(text, { status: faults.status, headers: faults.retry_after ? { 'Retry-After': faults.retry_after } : {} });
    }
    const response = await fetch(url, request);
    const answer = await response.json();
    this.requests.push({ ...sent, status: faults === 'on' ? response.status : 'nothing', answer });
    if (faults !== 'on') throw new TypeError('the answer is lost');
    return { status: response.status, headers: response.headers, json: async () => structuredClone(answer) };
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
