// From CommonJS: prints whether `require` and `import` give one SDK, and what its calls gave.
const waylink = require('waylink');
require('waylink/links');
require('waylink/domains');

import('waylink').then(async (imported) => {
  const one = waylink.Waylink === imported.Waylink && waylink.default === imported.default;
  const lead = await waylink.Waylink.trackLead();
  console.log(JSON.stringify({ one, lead: lead ?? null, attribution: waylink.Waylink.getAttribution() }));
});
