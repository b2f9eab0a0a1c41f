/** What `init` takes. */
export interface InitOptions {
  /** Public key of your organization (`c_web_…`). */
  apiKey: string;
  /**
   * Address of the service, or of a first-party proxy in front of it. Default: where the script was loaded from. May also
   * be the script's own address at the proxy, which ends with `.js`: then calls go to its name without that ending.
   */
  baseUrl?: string | undefined;
  /** Domain of the device cookie. Default: the widest one that the browser accepts. */
  cookieDomain?: string | undefined;
  /** Check the address again on client-side route changes. Default: true. */
  autoPageTracking?: boolean | undefined;
  /** Work inside iframes too. Default: false. */
  allowIframe?: boolean | undefined;
  /** 'required': nothing is stored or sent before `grantConsent`. Default: 'not_required'. */
  consentMode?: 'required' | 'not_required' | undefined;
  /**
   * When consent is withdrawn, also have the service erase what it has of this device. Default: false. The organization
   * must have switched it on: `waylink privacy withdrawal`.
   */
  eraseOnWithdrawal?: boolean | undefined;
  /** With `waylink/links`: tell clicks on links that leave the site, on files, mail addresses and phone numbers. Default: false. */
  outboundLinks?: boolean | undefined;
  /** With `waylink/domains`: host names of the owner's other sites, to which links hand the device over. */
  otherDomains?: readonly string[] | undefined;
  /**
   * With `waylink/privacy`: whether Global Privacy Control withdraws consent. Default: 'withdraw' where `consentMode` is
   * 'required', else 'ignore'.
   */
  privacyControl?: 'ignore' | 'withdraw' | undefined;
  /** Say in the console what happens, and why nothing happens: in codes, or in the sentences of the service's `waylink.json`. */
  debug?: boolean | Readonly<Record<string, string>> | undefined;
}

/** Where the visitor came from. */
export interface AttributionContext {
  cl_link_id: string | null;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  utm_term: string | null;
  utm_content: string | null;
  custom_data: Record<string, unknown> | null;
}

export interface Identity {
  customer_id: string | number;
  /** Hashed in the browser before it is sent. */
  email?: string | undefined;
  /** E.164, such as +16505551212; hashed in the browser before it is sent. */
  phone?: string | undefined;
  name?: string | undefined;
  email_sha256?: string | undefined;
  phone_sha256?: string | undefined;
}

export interface Lead {
  customer_id?: string | number | undefined;
  /** Hashed in the browser before it is sent. */
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

/** What became of a call at the first attempt to deliver it. */
export type Outcome =
  /** The service has it, now or since an earlier attempt; `notes` say what it left out, cut or rounded. */
  | { status: 'accepted'; notes?: string[] }
  /** The service could not be reached, or asked to wait: the call is kept, and sent again by this page or a later one. */
  | { status: 'waiting' }
  /** The script has not come: the snippet keeps the call. */
  | { status: 'not_loaded' }
  /** The service will not take it, for this reason, and it is not sent again. */
  | { status: 'rejected'; error: { errorMessage: string; fieldName: string } };

/** What this page lost, and why: the numbers grow while the page is open, and the first of each is a warning in the console. */
export interface PageState {
  status?: undefined;
  /** Calls that were dropped because too many were waiting. */
  dropped: number;
  /** What stood in storage under Waylink's names, and is no call or has waited for more than a week. */
  unknown: number;
  /** Answers that came from something other than the service: `baseUrl`, or the script's address, is not the service's. */
  baseUrl: number;
}

/** The script has not come: the snippet keeps the call, which is made if it comes later. Only where pages use the snippet. */
export interface NotLoaded {
  status: 'not_loaded';
  dropped?: undefined;
  unknown?: undefined;
  baseUrl?: undefined;
}

export interface WaylinkSDK {
  /** Start, once for each page load, as early as possible. Resolves with undefined in an iframe and on a server. */
  init(options: InitOptions): Promise<void> & Promise<PageState | NotLoaded | undefined>;
  /** Say who the visitor is; later calls of this tab session carry it. */
  identify(identity: Identity): void;
  /** Each of the three resolves with undefined where nothing is sent: no consent, an iframe, a server. */
  trackLead(lead?: Lead): Promise<Outcome | undefined>;
  trackConversion(conversion: Conversion): Promise<Outcome | undefined>;
  trackEvent(name: string, fields?: EventFields): Promise<Outcome | undefined>;
  /** Where the visitor came from; null before `init` has resolved, and on organic traffic. */
  getAttribution(): AttributionContext | null;
  /**
   * The same once this page's first attempt has been answered or has failed, also where consent comes later; at once
   * where the page makes none, as after options that `init` rejects. Until `init` is called it stays open.
   */
  whenAttributed(): Promise<AttributionContext | null>;
  /** The visitor agrees; other tabs of the origin hear it. */
  grantConsent(): void;
  /** Forget what waits, and what was stored; send nothing more, in this and in other tabs of the origin. */
  denyConsent(): void;
  hasConsent(): boolean;
  /** With `autoPageTracking: false`: check the address of the page now. */
  trackPageView(): void;
  /**
   * The visitor logs out: this browser is another device from then on, nobody's, without the former visit, in all tabs of
   * the origin. What waits still goes out as the former device's. Consent stays as it is.
   */
  reset(): void;
  /** Send what waits now; how many calls still wait once that was answered or tried. */
  flush(): Promise<number>;
}

export declare const Waylink: WaylinkSDK;
export default Waylink;
