// Every call and option, with the platforms' modules as they are typed: this file must compile.
import * as files from 'node:fs/promises';
import Default, {
  Waylink, capacitorAddresses, capacitorFetch, fileStorage, linkingAddresses, memoryStorage, preferencesStorage,
} from 'waylink-app';
import type { CreatedLink, Opened, Outcome, Storage, WaylinkApp } from 'waylink-app';

// As the platforms' packages declare them, as far as the adapters use them.
declare const AsyncStorage: {
  getItem(key: string, callback?: (error?: Error | null, result?: string | null) => void): Promise<string | null>;
  setItem(key: string, value: string, callback?: (error?: Error | null) => void): Promise<void>;
};
declare const Linking: {
  getInitialURL(): Promise<string | null>;
  addEventListener(type: 'url', handler: (event: { url: string }) => void): { remove(): void };
};
declare const App: {
  getLaunchUrl(): Promise<{ url: string } | undefined>;
  addListener(eventName: 'pause', listenerFunc: () => void): Promise<{ remove(): Promise<void> }>;
  addListener(eventName: 'appUrlOpen', listenerFunc: (event: { url: string; iosOpenInPlace?: boolean }) => void): Promise<{ remove(): Promise<void> }>;
};
declare const Preferences: {
  get(options: { key: string }): Promise<{ value: string | null }>;
  set(options: { key: string; value: string }): Promise<void>;
};
declare const CapacitorHttp: {
  request(options: { url: string; method?: string; data?: any; headers?: { [key: string]: string } }): Promise<{
    data: any; status: number; headers: { [key: string]: string }; url: string;
  }>;
};
declare const ExpoCrypto: { getRandomValues<T extends Uint8Array | Uint32Array>(typedArray: T): T };

const stores: Storage[] = [AsyncStorage, memoryStorage(), preferencesStorage(Preferences), fileStorage(files, '/tmp/storage.json')];
const started: Promise<boolean> = Waylink.init({
  apiKey: 'c_mob_1', baseUrl: 'https://links.example.com', platform: 'ios', storage: AsyncStorage,
});
await Waylink.init({
  apiKey: 'c_mob_1',
  baseUrl: 'https://links.example.com',
  platform: 'android',
  storage: stores[0]!,
  domains: ['go.shop.com'],
  appId: 'com.shop.app',
  addresses: linkingAddresses(Linking),
  installReferrer: async () => 'cl_link_id=1',
  clipboard: async () => null,
  fetch: capacitorFetch(CapacitorHttp),
  crypto: ExpoCrypto,
  consentMode: 'required',
  eraseOnWithdrawal: true,
  debug: true,
  onProblem: ({ code, message, detail }) => console.warn(code, message, detail),
});
await Waylink.init({
  apiKey: 'c_mob_1', baseUrl: 'https://links.example.com', platform: 'ios', storage: memoryStorage(),
  addresses: capacitorAddresses(App), fetch, crypto: globalThis.crypto,
});
const end: () => void = Waylink.onOpen(({ destination_url, link, match }: Opened) => console.log(destination_url, link?.custom_data, match));
const opened = await Waylink.open('https://go.shop.com/spring');
const counted: boolean | undefined = opened?.status === 'accepted' ? opened.is_counted : undefined;
await Waylink.open();
const made: CreatedLink = await Waylink.createLink({ external_id: 'a', destination_url: 'https://shop.com', link_name: 'Ada', custom_data: { inviter: 'a' } });
const address: string | undefined = made.status === 'accepted' ? made.short_url : undefined;
const sale: Outcome | undefined = await Waylink.trackConversion({ revenue: 19.99, currency: 'EUR', transaction_id: 'o-1' });
const reason: string | undefined = sale?.status === 'rejected' ? sale.error.errorMessage : undefined;
await Waylink.identify({ customer_id: 'c', email: 'a@b.example', phone: '+16505551212' });
await Waylink.trackLead();
await Waylink.trackEvent('rated', { product_id: 'kite', metadata: { stars: 5 } });
Waylink.grantConsent();
Waylink.denyConsent();
Waylink.resume();
const granted: boolean = Waylink.hasConsent();
const same: WaylinkApp = Default;
export { address, counted, end, granted, reason, same, started };
