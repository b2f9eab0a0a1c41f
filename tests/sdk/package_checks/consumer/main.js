import Default, { Waylink } from 'waylink';
import required from './required.cjs';

await import('waylink/links');
await Waylink.init({ apiKey: 'c_web_consumer', outboundLinks: true });
await Waylink.trackConversion({ revenue: 19.99, currency: 'EUR', transaction_id: 'order-1042' });
document.body.innerHTML = '<a href="mailto:ada@example.com">mail</a>';
document.body.firstChild.click();
document.title = `same object: ${Default === Waylink && required.Waylink === Waylink}`;
