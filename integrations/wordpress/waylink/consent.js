// The WP Consent API, which most consent plugins speak. Its own script comes after this one.
(function () {
  function tellWaylink(event) {
    var isTooEarly = event.type === 'DOMContentLoaded' && window.waitfor_consent_hook;
    var isAsked = window.wp_consent_type || window.wp_fallback_consent_type; // else there is nobody who asks the visitor
    if (!window.wp_has_consent || !isAsked || isTooEarly) return;
    if (wp_has_consent('statistics')) Waylink.grantConsent();
    else if (document.cookie.includes(consent_api.cookie_prefix + '_statistics=')) Waylink.denyConsent();
  }
  ['DOMContentLoaded', 'wp_consent_type_defined', 'wp_listen_for_consent_change'].forEach(function (name) {
    document.addEventListener(name, tellWaylink);
  });
})();
