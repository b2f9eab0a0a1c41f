// Runs the cases of docs/samples/app-protocol.json with the package in app_sdk_dist/ against a service.
// node conformance.mjs PACKAGE CASES SERVICE, the last as JSON; prints for each case what was wrong, or null.
import { readFileSync } from 'node:fs';
import { Phone, pause, until } from './phone.mjs';

const [packageUrl, casesFile, serviceJson] = process.argv.slice(2);
const { usual, cases } = JSON.parse(readFileSync(casesFile, 'utf8'));
const service = JSON.parse(serviceJson);
const PATHS = {
  open: '/serviceCore/app/v1/open',
  batch: '/serviceCore/sdk/v1/batch',
  links: '/serviceCore/app/v1/links',
};
const UUID = /^[\da-f]{8}(-[\da-f]{4}){4}[\da-f]{8}$/i;
const SILENCE = 700; // milliseconds after which "nothing" is believed
const isBlank = (value) => value === undefined || value === null || value === '';

class Run {
  constructor({ app = {}, steps }, number) {
    this.variables = { ...service.variables, random: `${Date.now()}-${number}` };
    const { clipboard, install_referrer: referrer, ...given } = this.filled(app);
    this.steps = this.filled(steps);
    this.bound = {};
    this.told = new Set();
    const options = {
      apiKey: given.api_key ?? this.variables.api_key,
      baseUrl: service.base_url,
      platform: given.platform ?? 'ios',
      appId: given.app_id,
      domains: [this.variables.host],
      consentMode: given.consent,
      eraseOnWithdrawal: given.erase_on_withdrawal,
      clipboard: clipboard && (async () => clipboard),
      installReferrer: referrer && (async () => referrer),
    };
    // Every other phone is one of Capacitor, the rest are of React Native.
    this.phone = new Phone(packageUrl, options, { isCapacitor: number % 2, storageFails: given.storage === 'failing' });
  }

  filled(value) {
    const text = JSON.stringify(value).replace(/\$([a-z_]+)/g, (whole, name) => this.variables[name] ?? whole);
    return JSON.parse(text);
  }

  async run() {
    for (const step of this.steps) {
      if (step.do) await this.act(step);
      else if (step.sends) await this.sends(step);
      else if (step.hears) await this.hears(step.hears);
      else await this.tells(step.tells);
    }
    await this.sendsNothing();
    const untold = this.phone.problems.filter((problem) => !this.told.has(problem.code));
    if (untold.length) throw new Error(`told ${JSON.stringify(untold)}`);
  }

  async act(step) {
    const { phone } = this;
    const { Waylink } = phone.app ?? {};
    const does = {
      start: () => this.start(step),
      stop: () => phone.stop(),
      network: () => (phone.network = step.is),
      wait: () => pause(step.milliseconds),
      opened: () => until(() => phone.app.onAddress, 'the adapter').then((tell) => void tell(step.address)),
      resume: () => Waylink.resume(),
      grant: () => Waylink.grantConsent(),
      deny: () => Waylink.denyConsent(),
      reset: () => Waylink.reset(),
      flush: () => Waylink.flush().then((left) => ({ left })),
      identify: () => Waylink.identify(step.fields),
      lead: () => Waylink.trackLead(step.fields),
      event: () => Waylink.trackEvent(step.event, step.fields),
      conversion: () => Waylink.trackConversion(step.fields),
      link: () => Waylink.createLink(step.fields),
    };
    const became = does[step.do]();
    if (step.becomes) this.match(step.becomes, await became, 'it became', true);
    else if (!step.fields) await became;
  }

  async start({ address, first, denied }) {
    await this.phone.start(address, { denied });
    await pause(50);
    if (first === false) {
      await until(() => this.phone.requests.length, 'the first launch');
      await pause(50);
      this.phone.requests.shift();
    }
  }

  async sends(step) {
    const { requests } = this.phone;
    if (step.sends === 'nothing') return this.sendsNothing();
    const calls = [...(step.calls ?? [])];
    const results = [...(step.results ?? [])];
    do {
      const request = await until(() => requests.shift(), step.sends);
      const { calls: sent = [], ...body } = request.body;
      this.match(PATHS[step.sends], request.path, 'path');
      this.match({ ...this.filled(usual[step.sends]), ...step.body }, body, 'body');
      this.match(step.gets ?? 200, request.status, 'status');
      this.match(calls.splice(0, sent.length), sent, 'calls');
      const got = results.splice(0, sent.length);
      this.match(sent.length && got.length ? { results: got } : (step.answer ?? {}), request.answer ?? {}, 'answer', true);
      const age = Date.parse(body.sent_at) - Date.parse(body.occurred_at ?? sent[0]?.occurred_at);
      if (step.age && !(age >= step.age)) throw new Error(`sent after ${age} ms, not ${step.age}`);
    } while (calls.length);
  }

  async sendsNothing() {
    await pause(SILENCE);
    const more = this.phone.requests.map((request) => request.path);
    if (more.length) throw new Error(`sent more: ${more}`);
  }

  async hears(expected) {
    if (expected !== 'nothing') this.match(expected, await until(() => this.phone.heard.shift(), 'a link'), 'heard', true);
    else if ((await pause(SILENCE), this.phone.heard.length)) throw new Error('heard of a link');
  }

  async tells(code) {
    this.told.add(code);
    await until(() => this.phone.problems.some((problem) => problem.code === code), `the developer to be told ${code}`);
  }

  // `isPart`: what was got may have more fields. A blank field is none.
  match(expected, got, where, isPart = false) {
    const wrong = () => new Error(`${where}: ${JSON.stringify(got)} is not ${JSON.stringify(expected)}`);
    const [, form, name] = /^<(uuid|time|text)(?: (.*))?>$/.exec(expected) ?? [];
    if (form) {
      const isRight = { uuid: () => UUID.test(got), time: () => !Number.isNaN(Date.parse(got)), text: () => got.length > 0 };
      if (!isRight[form]()) throw wrong();
      if (name) this.bind(`${form} ${name}`, got, wrong);
    } else if (expected && typeof expected === 'object') {
      if (!got || typeof got !== 'object') throw wrong();
      const names = Object.keys(got).filter((field) => !isPart && !isBlank(got[field]));
      for (const field of new Set([...Object.keys(expected), ...names])) {
        this.match(expected[field], got[field], `${where}.${field}`, isPart);
      }
    } else if (!(expected === got || (isBlank(expected) && isBlank(got)))) {
      throw wrong();
    }
  }

  bind(name, value, wrong) {
    const others = Object.entries(this.bound).filter(([other]) => other !== name && other.startsWith('uuid'));
    if ((this.bound[name] ?? value) !== value || others.some(([, taken]) => taken === value)) throw wrong();
    this.bound[name] = value;
  }
}

const wrong = {};
const waiting = cases.map((testCase, number) => [testCase, number]);
async function runCases() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [testCase, number] = next;
    wrong[testCase.name] = await new Run(testCase, number).run().then(() => null, (error) => error.message);
  }
}
// Some at a time: with all at once, a busy machine would answer later than the client waits.
await Promise.all(Array.from({ length: 8 }, runCases));
console.log(JSON.stringify(wrong));
process.exit(0);
