// From CommonJS: this file must compile, and its code run.
import waylink = require('waylink');
import type { WaylinkSDK } from 'waylink';

const { Waylink } = waylink;
const same: WaylinkSDK = waylink.default;
const started: Promise<void> = Waylink.init({ apiKey: 'c_web_1' });
export = { same, started };
