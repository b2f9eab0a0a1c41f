import type { WaylinkSDK } from './index.js';

declare global {
  /** The script tag's: there once the snippet or the file has run. With npm, import it instead. */
  var Waylink: WaylinkSDK;
  interface Window {
    /** There once the snippet or the script tag's file has run; an import of the package does not set it. */
    Waylink?: WaylinkSDK;
  }
}
