// sdk_src/options.py
var IS_BROWSER = typeof document == "object", script_tag = IS_BROWSER && Reflect.get(Document.prototype, "currentScript", document), script_source = script_tag?.src, options = {};

// sdk_src/cookies.py
var COOKIE_LIFETIME = 400 * 24 * 60 * 60;
var WITHDRAWAL_LIFETIME = 1440 * 60;
var DELETED = 0, MIN_LABELS = 2;
var write_cookie = function(py_name, value, lifetime, domain) {
  document.cookie = py_name + "=" + value + "; max-age=" + lifetime + "; path=/; samesite=lax" + (domain && "; domain=" + domain) + (location.href[4] == "s" ? "; secure" : "");
};
var delete_cookie = function(py_name) {
  try {
    if (document.cookie.includes(py_name))
      for (var domain of cookie_domains())
        write_cookie(py_name, "", DELETED, domain);
  } catch {
  }
}, has_cookie = function(py_name) {
  try {
    return document.cookie.includes(py_name);
  } catch {
  }
};
var cookie_domains = function() {
  var labels = location.hostname.split(".");
  return [].concat(options.cookieDomain || [], labels.map((function(_, index) {
    return labels.slice(-MIN_LABELS - index).join(".");
  })), "");
};

// sdk_src/privacy_control.py
var AGREEMENT_NAME = "cl_agreed", IGNORE = "ignore", WITHDRAW = "withdraw", native = {}, is_heeded = !1, has_agreed = !1, install = function(waylink, tag) {
  IS_BROWSER && (Object.assign(native, waylink), waylink.grantConsent = grant_consent, waylink.denyConsent = deny_consent, waylink.init = (function(py_arguments) {
    return init_with(py_arguments, tag?.dataset.privacyControl);
  }), tag?.dataset.privacyControl == WITHDRAW && heed());
}, init_with = async function(py_arguments, choice_of_tag) {
  var rest = Object.assign({}, py_arguments), choice = rest.privacyControl;
  if (choice != null && ![IGNORE, WITHDRAW].includes(choice)) {
    var __except0__ = new TypeError("Waylink: privacyControl");
    throw __except0__;
  }
  return delete rest.privacyControl, options.cookieDomain = rest.cookieDomain, (choice || choice_of_tag || (rest.consentMode == "required" ? WITHDRAW : IGNORE)) == WITHDRAW && heed(), await native.init(py_arguments && rest);
}, heed = function() {
  is_heeded = !0, is_opposed() && native.denyConsent();
}, is_opposed = function() {
  return is_heeded && navigator.globalPrivacyControl && !has_agreed && !has_cookie(AGREEMENT_NAME);
}, grant_consent = function() {
  if (is_opposed()) {
    if (!navigator.userActivation?.isActive)
      return;
    mark_agreement(), has_agreed = !has_cookie(AGREEMENT_NAME);
  }
  native.grantConsent();
}, deny_consent = function() {
  native.denyConsent(), has_agreed = !1, delete_cookie(AGREEMENT_NAME);
}, mark_agreement = function() {
  try {
    for (var domain of cookie_domains())
      has_cookie(AGREEMENT_NAME) || write_cookie(AGREEMENT_NAME, 1, COOKIE_LIFETIME, domain);
  } catch {
  }
};

// entry.js
var import_waylink = require("./waylink.cjs");
install(import_waylink.Waylink);
