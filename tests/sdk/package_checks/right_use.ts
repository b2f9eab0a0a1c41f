// Every call and option as the contract has them: this file must compile.
import Default, { Waylink } from 'waylink';
import type { AttributionContext, InitOptions, WaylinkSDK } from 'waylink';

const options: InitOptions = {
  apiKey: 'c_web_1',
  baseUrl: 'https://links.example.com',
  cookieDomain: 'example.com',
  autoPageTracking: false,
  allowIframe: true,
  consentMode: 'required',
  debug: true,
};
const started: Promise<void> = Waylink.init(options);
await Waylink.init({ apiKey: 'c_web_1' });
Waylink.identify({ customer_id: 'c', email: 'a@b.example', phone: '+16505551212', name: 'Ada' });
Waylink.identify({ customer_id: 'c', email_sha256: 'f'.repeat(64), phone_sha256: '0'.repeat(64) });
await Waylink.trackLead();
await Waylink.trackLead({
  customer_id: 'c', email: 'a@b.example', name: 'Ada', event_id: 'form-8', client_timestamp: new Date().toISOString(),
});
await Waylink.trackConversion({ revenue: 19.99, currency: 'EUR' });
await Waylink.trackConversion({
  revenue: 19.99, currency: 'EUR', transaction_id: 'order-1', customer_id: 'c', product_id: 'kite',
});
await Waylink.trackEvent('size_chosen');
await Waylink.trackEvent('size_chosen', { product_id: 'kite', metadata: { size: 9, tags: ['red'] } });
const context: AttributionContext | null = Waylink.getAttribution();
const source: string | null | undefined = context?.utm_source;
const data: Record<string, unknown> | null | undefined = context?.custom_data;
Waylink.grantConsent();
Waylink.denyConsent();
Waylink.trackPageView();
const granted: boolean = Waylink.hasConsent();
const same: WaylinkSDK = Default;
export { data, granted, same, source, started };
