/** Where the client keeps what must survive the end of the app. AsyncStorage is one as it is. */
export interface Storage {
  getItem(key: string): Promise<string | null | undefined>;
  setItem(key: string, text: string): Promise<unknown>;
}

/** The addresses that the system opens the app with. */
export interface Addresses {
  /** The one that started the app, if one did. */
  initial(): Promise<string | null | undefined>;
  /** Call `onAddress` with each that comes while the app runs. */
  listen(onAddress: (address: string) => void): unknown;
}

export interface Request {
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** What the client reads of a response; that of `fetch` is one. */
export interface Response {
  status: number;
  headers: { get(name: string): string | null | undefined };
  json(): Promise<unknown>;
}

export interface Problem {
  /** Such as `error`: the service refused a call; `dropped`, `refused`, `fields`, `options`, `storage`. */
  code: string;
  message: string;
  detail: unknown;
}

/** What `init` takes. */
export interface InitOptions {
  /** Mobile key of your organization (`c_mob_…`). Anybody can read it out of the app. */
  apiKey: string;
  /** Address of the service. */
  baseUrl: string;
  platform: 'ios' | 'android';
  storage: Storage;
  /** Hosts of your links. An opened address of another host is never sent. */
  domains?: string[] | undefined;
  /** Bundle id or package; needed where the organization has more than one app. */
  appId?: string | undefined;
  /** The opened addresses. Without it, call `open` yourself. */
  addresses?: Addresses | undefined;
  /** Android: what Play's Install Referrer Library gave. Asked at the first launch. */
  installReferrer?: (() => Promise<string | null | undefined>) | undefined;
  /** iOS: the clipboard's text. Asked at the first launch, and sent if a link's page put it there. */
  clipboard?: (() => Promise<string | null | undefined>) | undefined;
  /** Default: the global `fetch`. */
  fetch?: ((url: string, request: Request) => Promise<Response>) | undefined;
  /** Random numbers, where there is no global `crypto`: expo-crypto, for example. */
  crypto?: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): unknown } | undefined;
  /** 'required': calls wait for `grantConsent`, and opens leave nothing with the installation. Default: 'not_required'. */
  consentMode?: 'required' | 'not_required' | undefined;
  /** On `denyConsent`, also have the service erase what it has of this installation. Default: false. */
  eraseOnWithdrawal?: boolean | undefined;
  /** Called with what went wrong. Default: a warning on the console. */
  onProblem?: ((problem: Problem) => void) | undefined;
  /** Also say in the console what went well. */
  debug?: boolean | undefined;
}

export interface Link {
  id: string;
  short_url: string;
  destination_url: string;
  link_name: string;
  custom_data: Record<string, unknown> | null;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  utm_term: string | null;
  utm_content: string | null;
  social_title: string | null;
  social_description: string | null;
  social_image_url: string | null;
}

/** An open that the service has. */
export interface Opened {
  status: 'accepted';
  is_new_install: boolean;
  is_counted: boolean;
  /** How the link was found. By `address` it is only likely: show nothing that only one person may see. */
  match: 'link' | 'install_referrer' | 'clipboard' | 'address' | 'none';
  /** Where to go. */
  destination_url: string | null;
  link: Link | null;
}

/** The client has it and sends it again, also after the app's next start. */
export interface Waiting {
  status: 'waiting';
}

/** The service does not take it, for this reason, and it is not sent again. */
export interface Rejected {
  status: 'rejected';
  error: { errorMessage: string; fieldName: string };
}

/** What became of a call at the first attempt to deliver it. */
export type Outcome = { status: 'accepted'; notes?: string[] } | Waiting | Rejected;

export interface Identity {
  customer_id: string | number;
  /** Hashed on the device before it is sent. */
  email?: string | undefined;
  /** E.164, such as +16505551212; hashed on the device before it is sent. */
  phone?: string | undefined;
  name?: string | undefined;
  email_sha256?: string | undefined;
  phone_sha256?: string | undefined;
}

export interface Lead {
  customer_id?: string | number | undefined;
  /** Hashed on the device before it is sent. */
  email?: string | undefined;
  name?: string | undefined;
  /** Two leads with the same event_id count once. */
  event_id?: string | number | undefined;
  /** ISO 8601. */
  client_timestamp?: string | undefined;
}

export interface Conversion {
  /** In major units: 19.99, not 1999. Also as text, with digits and one point: '19.99'. */
  revenue: number | string;
  /** ISO 4217, such as EUR. */
  currency: string;
  /** Two conversions with the same transaction_id count once. */
  transaction_id?: string | number | undefined;
  customer_id?: string | number | undefined;
  product_id?: string | number | undefined;
}

/** A plain object, such as the value of an interface; no array, Date, Map or function. */
export type Metadata =
  | Record<string, unknown>
  | (object & { readonly [Symbol.iterator]?: never; readonly getTime?: never; readonly bind?: never });

export interface EventFields {
  product_id?: string | number | undefined;
  metadata?: Metadata | undefined;
}

export interface NewLink {
  /** Your own id of the invitation: the same one gives the same link. */
  external_id: string;
  destination_url: string;
  link_name: string;
  /** Who invites. Whoever opens the link gets it. */
  custom_data?: Record<string, unknown> | undefined;
}

export type CreatedLink =
  | { status: 'accepted'; id: string; short_url: string }
  | Rejected
  /** No answer, or too many links: call again later. */
  | { status: 'unavailable' };

/** Nothing here throws, and no promise rejects. */
export interface WaylinkApp {
  /**
   * Start, once, as early as possible; whether it did. It resolves after the first attempt to tell the open of this start;
   * nothing else has to wait for it.
   */
  init(options: InitOptions): Promise<boolean>;
  /** Without `addresses`: tell an open by this address. Undefined where there is nothing to tell. */
  open(address?: string | null): Promise<Opened | Waiting | Rejected | null | undefined>;
  /** Be called with each open that leads somewhere, the latest ones included; returns what ends that. */
  onOpen(listener: (opened: Opened) => void): () => void;
  createLink(link: NewLink): Promise<CreatedLink>;
  /** Say who the person is; later calls of this process carry it. */
  identify(identity: Identity): Promise<Outcome | undefined>;
  /** Each of these resolves with undefined where nothing is sent, because there is no consent. */
  trackLead(lead?: Lead): Promise<Outcome | undefined>;
  trackConversion(conversion: Conversion): Promise<Outcome | undefined>;
  trackEvent(name: string, fields?: EventFields): Promise<Outcome | undefined>;
  grantConsent(): void;
  /** Forget the calls that wait and the installation's id; send no calls any more. */
  denyConsent(): void;
  hasConsent(): boolean;
  /** The app is in front again, or the network is back: send what waits now. */
  resume(): void;
  /** The person logs out: another installation id from now on. What waits still goes out with the former one. */
  reset(): void;
  /** Send what waits now; how many calls still wait once that was answered or tried. */
  flush(): Promise<number>;
}

export declare const Waylink: WaylinkApp;
export default Waylink;

/** For tests: what it keeps ends with the process. */
export declare function memoryStorage(): Storage;
/** Capacitor: `preferencesStorage(Preferences)`. */
export declare function preferencesStorage(preferences: {
  get(options: { key: string }): Promise<{ value: string | null }>;
  set(options: { key: string; value: string }): Promise<unknown>;
}): Storage;
/** Node.js: `fileStorage(await import('node:fs/promises'), path)`. */
export declare function fileStorage(
  files: {
    readFile(path: string, encoding: 'utf8'): Promise<string>;
    writeFile(path: string, text: string): Promise<unknown>;
    rename(from: string, to: string): Promise<unknown>;
  },
  path: string,
): Storage;
/** React Native and Expo: `linkingAddresses(Linking)`. */
export declare function linkingAddresses(linking: {
  getInitialURL(): Promise<string | null>;
  addEventListener(type: 'url', listener: (event: { url: string }) => void): unknown;
}): Addresses;
/** Capacitor: `capacitorAddresses(App)`. */
export declare function capacitorAddresses(app: {
  getLaunchUrl(): Promise<{ url: string } | undefined>;
  addListener(name: 'appUrlOpen', listener: (event: { url: string }) => void): unknown;
}): Addresses;
/** Capacitor: `capacitorFetch(CapacitorHttp)`. */
export declare function capacitorFetch(http: {
  request(options: {
    url: string;
    method: string;
    headers: Record<string, string>;
    data: unknown;
  }): Promise<{ status: number; data: unknown; headers: Record<string, string> }>;
}): (url: string, request: Request) => Promise<Response>;
