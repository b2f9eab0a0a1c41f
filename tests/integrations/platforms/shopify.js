// What Shopify documents of its Customer Privacy API: shopify.dev/docs/api/customer-privacy.
let analytics_consent = '';

window.Shopify = {
  loadFeatures(features, callback) {
    setTimeout(() => {
      window.Shopify.customerPrivacy = {
        analyticsProcessingAllowed: () => analytics_consent === 'yes',
        currentVisitorConsent: () => ({ marketing: '', analytics: analytics_consent, preferences: '', sale_of_data: '' }),
      };
      callback(features[0].name === 'consent-tracking-api' ? undefined : new Error('no such feature'));
    });
  },
};

window.platform = {
  load(former) {
    analytics_consent = { agreed: 'yes', refused: 'no' }[former] || '';
  },
  answer(given) {
    this.load(given);
    document.dispatchEvent(new CustomEvent('visitorConsentCollected', { detail: { analyticsAllowed: given === 'agreed' } }));
  },
};
