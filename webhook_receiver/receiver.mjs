// A receiver of Waylink's webhooks in Node.js: verifies, stores each event once, and answers then.
// Run it with: npm install && WEBHOOK_SECRET=whsec_… PORT=9000 node receiver.mjs
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const file = process.env.WEBHOOK_FILE ?? 'webhooks.ndjson';

// A line that has no end was being written when this process was killed: it was not answered, and comes again.
const stored = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
const whole = stored.subarray(0, stored.lastIndexOf('\n') + 1);
if (whole.length < stored.length) truncateSync(file, whole.length);
const storedIds = new Set(whole.toString().split('\n').filter(Boolean).map((line) => JSON.parse(line).id));

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const content = Buffer.concat(chunks).toString();
  let body;
  try {
    body = webhook.verify(content, request.headers);
  } catch {
    response.writeHead(401).end('The signature is wrong, or older than five minutes.');
    return;
  }
  // A repeat has the same id. The file is on the disk before the answer: without that, the same comes again.
  const events = (body.events ?? [body]).filter((event) => !storedIds.has(event.id));
  appendFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { flush: true });
  events.forEach((event) => storedIds.add(event.id));
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 9000), '127.0.0.1');
