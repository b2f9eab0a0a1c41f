// What a server does with types that openapi-typescript generated; it prints what it was told.
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Schemas = components['schemas'];

declare const process: { env: Record<string, string | undefined> };
const { API, KEY = '', DOMAIN = '' } = process.env;
const { GET, POST } = createClient<paths>({ baseUrl: API ?? '', headers: { 'API-KEY': KEY } });

const sale: Schemas['Conversion'] = {
  revenue: 49.9,
  currency: 'EUR',
  transaction_id: 'ts-1',
  customer_id: 'ada',
  product_id: null,
  occurred_at: new Date().toISOString(),
  metadata: { invoice: 'R-1001', boxes: 2 },
};
const wrong: Schemas['Conversion'] = { ...sale, currency: 'EURO', customer_id: null };
const refund: Schemas['Refund'] = { refund_id: 'ts-r1', transaction_id: 'ts-1', amount: 9.9, currency: 'EUR' };
const link: Schemas['NewLink'] = {
  domain: DOMAIN,
  destination_url: 'https://shop.example/',
  link_name: 'Shop',
  custom_data: { colour: 'red' },
  rules: [{ if: { country: ['DE'] }, then: { destination_url: 'https://shop.example/de' } }],
};

function statuses(data?: Schemas['ItemResults'], error?: Schemas['ErrorAnswer']): string[] {
  const results: Array<'accepted' | 'duplicate' | 'rejected'> = data?.results.map((each) => each.status) ?? [];
  const fields = error?.errors?.map((each) => each.fieldName) ?? [];
  return error ? [String(error.code), ...fields] : results;
}

async function conversions(body: Schemas['Conversion'] | Schemas['ConversionList']): Promise<string[]> {
  const { data, error } = await POST('/conversions', { body });
  return statuses(data, error);
}

const told = {
  one: await conversions(sale),
  many: await conversions({ items: [sale, wrong] }),
  refused: await conversions(wrong),
};
const leads = await POST('/leads', { body: { items: [{ customer_id: 'ada', event_id: 'ts-signup' }] } });
const events = await POST('/events', { body: { name: 'shipped', customer_id: 'ada', metadata: { boxes: 2 } } });
const identities = await POST('/identities', { body: { customer_id: 'ada' } });
const refunded = await POST('/conversions/refund', { body: refund });
const refunds = await POST('/conversions/refund', { body: { items: [refund] } });

const made = await POST('/links', { body: link });
const id: string = made.data?.id ?? '';
const colour: unknown = made.data?.custom_data?.['colour'];
const operations: Schemas['LinkOperations']['operations'] = [
  { op: 'create', link },
  { op: 'upsert', link: { ...link, external_id: 'ts' } },
  { op: 'update', id, link: { link_name: 'Our shop', max_clicks: 100, tags: null } },
  { op: 'archive', id },
  { op: 'archive', id: crypto.randomUUID() },
];
const bulk = await POST('/links/bulk', { body: { operations } });
const explained = await GET('/conversions/{transaction_id}/explain', {
  params: { path: { transaction_id: 'ts-1' } },
});
const answer = await POST('/analytics/query', { body: { measures: ['conversions'] } });
const sold = answer.data?.totals.conversions_by_currency?.map((each) => [each.currency, each.conversions > 0] as const);

console.log(
  JSON.stringify({
    ...told,
    leads: statuses(leads.data, leads.error),
    events: statuses(events.data, events.error),
    identities: statuses(identities.data, identities.error),
    refund: statuses(refunded.data, refunded.error),
    refunds: statuses(refunds.data, refunds.error),
    bulk: bulk.data?.results.map((each) => each.status),
    sold: Object.fromEntries(sold ?? []),
    colour,
    net: explained.data?.net_revenue,
  }),
);
