// What the script of the plugin WP Consent API defines (its assets/js/wp-consent-api.js), with a consent plugin that asks.
window.consent_api = { consent_type: 'optin', waitfor_consent_hook: false, cookie_prefix: 'wp_consent' };

function wp_has_consent(category) {
  const kind = window.wp_consent_type || window.wp_fallback_consent_type;
  const [, value] = document.cookie.match(`${consent_api.cookie_prefix}_${category}=(\\w+)`) || [];
  return !kind || (kind.includes('optout') && !value) || value === 'allow';
}

function wp_set_consent(category, value) {
  document.cookie = `${consent_api.cookie_prefix}_${category}=${value};path=/`;
  const changed = [];
  changed[category] = value;
  document.dispatchEvent(new CustomEvent('wp_listen_for_consent_change', { detail: changed }));
}

window.platform = {
  load(former) {
    Object.assign(consent_api, window.settings);
    window.wp_fallback_consent_type = consent_api.consent_type;
    window.waitfor_consent_hook = consent_api.waitfor_consent_hook;
    document.cookie = 'wp_consent_statistics=;path=/;max-age=0';
    if (former) document.cookie = `wp_consent_statistics=${former === 'agreed' ? 'allow' : 'deny'};path=/`;
  },
  answer: (given) => wp_set_consent('statistics', given === 'agreed' ? 'allow' : 'deny'),
};
