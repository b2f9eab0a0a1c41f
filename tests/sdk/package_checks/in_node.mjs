// What a server does with the package: import it, and perhaps call it. Prints what changed and what calls gave.
const before = new Set(Reflect.ownKeys(globalThis));
const { Waylink } = await import('waylink');
await import('waylink/links');
await import('waylink/domains');
await import('waylink/privacy');
const calls = [
  Waylink.whenAttributed(),
  Waylink.init({ apiKey: 'c_web_1', outboundLinks: true, otherDomains: ['blog.example.com'], privacyControl: 'withdraw' }),
  Waylink.identify({ customer_id: 'c' }),
  Waylink.trackLead(),
  Waylink.trackConversion({ revenue: 1, currency: 'EUR' }),
  Waylink.trackEvent('seen'),
  Waylink.getAttribution(),
  Waylink.grantConsent(),
  Waylink.denyConsent(),
  Waylink.trackPageView(),
  Waylink.reset(),
  Waylink.flush(),
];
const results = await Promise.all(calls);
const added = Reflect.ownKeys(globalThis).filter((name) => !before.has(name));
console.log(JSON.stringify({ added, results: results.map((result) => result ?? null), timers: process.getActiveResourcesInfo() }));
