// What Usercentrics documents for Web CMP v3: usercentrics.com/docs/web, "UC_CONSENT" and "__ucCmp".
let details;

function apply(given) {
  const consent = (agreed) => ({ given: agreed, type: given ? 'EXPLICIT' : 'IMPLICIT' });
  details = {
    consent: { status: given === 'agreed' ? 'ALL_ACCEPTED' : 'SOME_DENIED', type: given ? 'EXPLICIT' : 'IMPLICIT' },
    services: {
      TEMPLATE_ID: { name: 'Waylink', consent: consent(given === 'agreed') },
      OTHER_ID: { name: 'Chat', consent: consent(given === 'in_part') },
    },
    categories: {},
  };
  window.dispatchEvent(new CustomEvent('UC_CONSENT', { detail: details }));
}

window.platform = {
  load(former) {
    window.__ucCmp = { isInitialized: async () => Boolean(details), getConsentDetails: async () => details };
    apply(former);
    window.dispatchEvent(new CustomEvent('UC_UI_INITIALIZED'));
  },
  answer: apply,
};
