/// <reference types="waylink/global" />
// A script of a site that has the SDK by script tag: nothing is imported, and the global is typed.
Waylink.init({ apiKey: 'c_web_1' });
Waylink.trackConversion({ revenue: 19.99, currency: 'EUR' }).then((outcome) => outcome?.status === 'accepted');
declare const shown: Window;
shown.Waylink?.trackLead();
