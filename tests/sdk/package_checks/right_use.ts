// Every call and option as the contract has them: this file must compile.
import Default, { Waylink } from 'waylink';
import 'waylink/links';
import 'waylink/domains';
import 'waylink/privacy';
import type { AttributionContext, InitOptions, NotLoaded, Outcome, PageState, WaylinkSDK } from 'waylink';

const options: InitOptions = {
  apiKey: 'c_web_1',
  baseUrl: 'https://links.example.com',
  cookieDomain: 'example.com',
  autoPageTracking: false,
  allowIframe: true,
  consentMode: 'required',
  eraseOnWithdrawal: true,
  outboundLinks: true,
  privacyControl: 'ignore',
  otherDomains: ['blog.example.com'] as const,
  debug: true,
};
const started: Promise<void> = Waylink.init(options);
await Waylink.init({ apiKey: 'c_web_1' });
const state: PageState | NotLoaded | undefined = await Waylink.init({ apiKey: 'c_web_1' });
const lost: number = (state?.dropped ?? 0) + (state?.unknown ?? 0) + (state?.baseUrl ?? 0);
Waylink.identify({ customer_id: 'c', email: 'a@b.example', phone: '+16505551212', name: 'Ada' });
Waylink.identify({ customer_id: 'c', email_sha256: 'f'.repeat(64), phone_sha256: '0'.repeat(64) });
await Waylink.trackLead();
await Waylink.trackLead({
  customer_id: 'c', email: 'a@b.example', name: 'Ada', event_id: 'form-8', client_timestamp: new Date().toISOString(),
});
await Waylink.trackConversion({ revenue: '19.99', currency: 'EUR', transaction_id: 5678901234567, customer_id: 17 });
await Waylink.trackConversion({
  revenue: 19.99, currency: 'EUR', transaction_id: 'order-1', customer_id: 'c', product_id: 'kite',
});
await Waylink.trackEvent('size_chosen');
await Waylink.trackEvent('size_chosen', { product_id: 'kite', metadata: { size: 9, tags: ['red'] } });
const context: AttributionContext | null = Waylink.getAttribution();
const later: Promise<AttributionContext | null> = Waylink.whenAttributed();
const source: string | null | undefined = context?.utm_source;
const data: Record<string, unknown> | null | undefined = context?.custom_data;
Waylink.grantConsent();
Waylink.denyConsent();
Waylink.trackPageView();
Waylink.reset();
const left: number = await Waylink.flush();
const granted: boolean = Waylink.hasConsent();
const same: WaylinkSDK = Default;
// What a site has as an interface is metadata, without an index signature.
interface Cart {
  readonly items: number;
  coupon?: string;
}
const cart: Cart = { items: 2 };
const nothing: object = {};
await Waylink.trackEvent('cart_opened', { metadata: cart });
await Waylink.trackEvent('cart_opened', { metadata: nothing });
await Waylink.trackEvent('cart_opened', { metadata: { sort: 'price', length: 3, nested: [cart] } });
// What a form left out is undefined, also with exactOptionalPropertyTypes.
declare const maybe: string | undefined;
await Waylink.init({ apiKey: 'c_web_1', baseUrl: maybe, cookieDomain: maybe, consentMode: undefined, debug: undefined });
Waylink.identify({ customer_id: 'c', email: maybe, phone: maybe, name: maybe, email_sha256: maybe, phone_sha256: maybe });
await Waylink.trackLead({ customer_id: maybe, email: maybe, name: maybe, event_id: maybe, client_timestamp: maybe });
await Waylink.trackConversion({
  revenue: 1, currency: 'EUR', transaction_id: maybe, customer_id: maybe, product_id: maybe,
});
await Waylink.trackEvent('size_chosen', { product_id: maybe, metadata: undefined });
// What became of a call.
const sale: Outcome | undefined = await Waylink.trackConversion({ revenue: 1, currency: 'EUR' });
const reason: string | undefined = sale?.status === 'rejected' ? sale.error.errorMessage : undefined;
const notes: string[] | undefined = sale?.status === 'accepted' ? sale.notes : undefined;
export { notes, reason };
export { data, granted, left, same, source, started };
