// One start of an app in Node.js, from its first line to its end: what `act` names, with a file as its storage.
// node shop_app.mjs PACKAGE OPTIONS, the last as JSON; prints what became of it.
import * as files from 'node:fs/promises';

const [packageUrl, optionsJson] = process.argv.slice(2);
const { act, file, address, host, base_url: baseUrl, api_key: apiKey } = JSON.parse(optionsJson);
const before = new Set(Reflect.ownKeys(globalThis));
const { Waylink, fileStorage } = await import(packageUrl);

const heard = [];
const problems = [];
Waylink.onOpen(({ match, destination_url, link }) => heard.push([match, destination_url, link.utm_campaign]));
const outcomes = [];
const noNetwork = async () => {
  throw new TypeError('no network');
};
const started = Waylink.init({
  apiKey,
  baseUrl,
  platform: 'ios',
  appId: 'com.shop.app',
  domains: [host],
  storage: fileStorage(files, file),
  addresses: { initial: async () => address, listen: () => {} },
  onProblem: ({ code }) => problems.push(code),
  ...(act === 'buy offline' ? { fetch: noNetwork } : {}),
});
outcomes.push(await started);
if (act === 'buy offline') {
  outcomes.push(await Waylink.identify({ customer_id: 'ada', email: 'ada@shop.example' }));
  outcomes.push(await Waylink.trackLead({ event_id: 'newsletter-7' }));
  outcomes.push(await Waylink.trackConversion({ revenue: 49, currency: 'EUR', transaction_id: 'order-1042' }));
}
if (act === 'invite') {
  // What waited is sent meanwhile: the outbox is empty once the file holds no call any more.
  while (/"waylink:[^"]*call_/.test(await files.readFile(file, 'utf8'))) await new Promise((resolve) => setTimeout(resolve, 20));
  const fields = { external_id: 'ada', destination_url: 'https://shop.example/invite/kites', link_name: 'Ada invites' };
  outcomes.push(await Waylink.createLink({ ...fields, custom_data: { inviter: 'ada' } }));
  outcomes.push(await Waylink.trackConversion({ revenue: -1, currency: 'EUR' }));
}
// Node.js's own `fetch` adds a symbol.
const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
console.log(JSON.stringify({ heard, outcomes, problems, added }));
process.exit(0); // as a system ends an app: nothing is said to it
