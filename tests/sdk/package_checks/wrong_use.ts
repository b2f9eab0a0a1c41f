// Every line here is wrong: the compiler must refuse each of them, one error a line.
import { Waylink } from 'waylink';

Waylink.init();
Waylink.init({});
Waylink.init({ apiKey: 5 });
Waylink.init({ apiKey: 'k', consentMode: 'sometimes' });
Waylink.init({ apiKey: 'k', baseURL: 'https://links.example.com' });
Waylink.identify({});
Waylink.identify({ email: 'a@b.example' });
Waylink.trackLead({ client_timestamp: new Date() });
Waylink.trackConversion();
Waylink.trackConversion({ revenue: 5 });
Waylink.trackConversion({ revenue: true, currency: 'EUR' });
Waylink.trackConversion({ revenue: 5, currency: 'EUR', transactionId: 'order-1' });
Waylink.trackEvent();
Waylink.trackEvent({ name: 'size_chosen' });
Waylink.trackEvent('size_chosen', { size: 9 });
Waylink.trackEvent('size_chosen', { metadata: ['size', 9] });
Waylink.trackEvent('size_chosen', { metadata: new Date() });
Waylink.trackEvent('size_chosen', { metadata: new Map() });
Waylink.trackEvent('size_chosen', { metadata: () => 9 });
Waylink.trackEvent('size_chosen', { metadata: 'size' });
Waylink.trackEvent('size_chosen', { metadata: null });
Waylink.getAttribution().utm_source;
Waylink.hasConsent(true);
Waylink.trackPurchase({ revenue: 5, currency: 'EUR' });
