// Every line here is wrong: the compiler must refuse each of them, one error a line.
import { Waylink, memoryStorage } from 'waylink-app';

Waylink.init();
Waylink.init({ apiKey: 'k', baseUrl: 'https://links.example.com', platform: 'ios' });
Waylink.init({ apiKey: 'k', baseUrl: 'https://links.example.com', platform: 'web', storage: memoryStorage() });
Waylink.init({ apiKey: 'k', baseUrl: 'https://links.example.com', platform: 'ios', storage: memoryStorage(), domain: 'go.shop.com' });
Waylink.open({ url: 'https://go.shop.com/spring' });
Waylink.onOpen();
Waylink.createLink({ destination_url: 'https://shop.com', link_name: 'Ada' });
Waylink.identify({ email: 'a@b.example' });
Waylink.trackConversion({ revenue: true, currency: 'EUR' });
Waylink.trackEvent({ name: 'rated' });
Waylink.trackPageView();
