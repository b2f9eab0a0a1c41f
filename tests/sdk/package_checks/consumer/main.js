import Default, { Waylink } from 'waylink';
import required from './required.cjs';

await Waylink.init({ apiKey: 'c_web_consumer' });
await Waylink.trackConversion({ revenue: 19.99, currency: 'EUR', transaction_id: 'order-1042' });
document.title = `same object: ${Default === Waylink && required.Waylink === Waylink}`;
