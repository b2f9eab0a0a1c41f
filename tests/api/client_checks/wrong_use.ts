// Every line that ends with `// wrong` is: the compiler must refuse each of them, and nothing else.
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Schemas = components['schemas'];
declare const result: Schemas['ItemResult'];

const { POST } = createClient<paths>({ baseUrl: 'https://links.example.com' });
const sale: Schemas['Conversion'] = { revenue: 49.9, currency: 'EUR', transaction_id: 'order-1' };
const change: Schemas['LinkChanges'] = {};
const id = crypto.randomUUID();

export const told = [
  POST('/conversions', { body: { ...sale, revenue: ['49.90'] } }), // wrong
  POST('/conversions', { body: { revenue: 49.9, currency: 'EUR' } }), // wrong
  POST('/conversions', { body: { revenue: 49.9, transaction_id: 'order-1' } }), // wrong
  POST('/conversions', { body: { ...sale, transaction_id: true } }), // wrong
  { ...sale, transactionId: 'order-1' } satisfies Schemas['Conversion'], // wrong
  POST('/conversions', { body: { ...sale, occurred_at: new Date() } }), // wrong
  POST('/conversions', { body: { ...sale, metadata: 'invoice' } }), // wrong
  POST('/conversions', { body: { items: [{ customer_id: 'ada' }] } }), // wrong
  POST('/conversions', { body: { items: sale } }), // wrong
  POST('/conversions', {}), // wrong
  { email: 'ada@shop.example' } satisfies Schemas['Lead'], // wrong
  POST('/events', { body: { metadata: {} } }), // wrong
  POST('/identities', { body: { name: 'Ada' } }), // wrong
  POST('/conversions/refund', { body: { refund_id: 'r', amount: 9.9, currency: 'EUR' } }), // wrong
  POST('/links/bulk', { body: { operations: [{ op: 'create', link: change }] } }), // wrong
  POST('/links/bulk', { body: { operations: [{ op: 'create' }] } }), // wrong
  POST('/links/bulk', { body: { operations: [{ op: 'delete', id }] } }), // wrong
  POST('/links/bulk', { body: { operations: [{ op: 'update', id, link: { link_name: 5 } }] } }), // wrong
  POST('/links/bulk', { body: { operations: [{ op: 'archive', id, link: change }] } }), // wrong
  result.status === 'acepted', // wrong
  result.error.code, // wrong
];
