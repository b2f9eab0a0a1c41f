// sdk_src/page.py
var IS_BROWSER = typeof document == "object", of_document = function(property, new_value) {
  try {
    return Reflect[new_value ? "set" : "get"](typeof document[property] == "object" ? Document.prototype : document, property, new_value || document, document);
  } catch {
  }
}, script_tag = IS_BROWSER && of_document("currentScript");

// sdk_src/address.py
var address = IS_BROWSER && (location.host ? location : new URL(of_document("baseURI")));

// sdk_src/options.py
var script_source = /^http/.test(script_tag?.src) && script_tag.src, options = {};

// sdk_src/cookies.py
var COOKIE_LIFETIME = 400 * 24 * 60 * 60;
var WITHDRAWAL_LIFETIME = 1440 * 60;
var DELETED = 0, MIN_LABELS = 2;
var write_cookie = function(py_name, value, lifetime, domain) {
  of_document("cookie", py_name + "=" + value + "; max-age=" + lifetime + "; path=/; samesite=lax" + (domain && "; domain=" + domain) + (address.href[4] == "s" ? "; secure" : ""));
};
var has_cookie = function(py_name) {
  return ("" + of_document("cookie")).includes(py_name);
}, mark = function(py_name, lifetime) {
  for (var domain of cookie_domains()) {
    if (!has_cookie(py_name) == !lifetime)
      return;
    write_cookie(py_name, lifetime && 1, lifetime, domain);
  }
}, cookie_domains = function() {
  var labels = address.hostname.split(".");
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
  var rest = Object.assign({}, py_arguments), choice = rest.privacyControl == null ? choice_of_tag : rest.privacyControl;
  if (choice != null && ![IGNORE, WITHDRAW].includes(choice)) {
    var __except0__ = new TypeError("Waylink: privacyControl");
    throw __except0__;
  }
  return delete rest.privacyControl, options.cookieDomain = rest.cookieDomain, (choice || (rest.consentMode == "required" ? WITHDRAW : IGNORE)) == WITHDRAW && heed(), await native.init(py_arguments && rest);
}, heed = function() {
  is_heeded = !0, is_opposed() && native.denyConsent();
}, is_opposed = function() {
  return is_heeded && navigator.globalPrivacyControl && !has_agreed && !has_cookie(AGREEMENT_NAME);
}, grant_consent = function() {
  if (is_opposed()) {
    if (!navigator.userActivation?.isActive)
      return;
    mark(AGREEMENT_NAME, COOKIE_LIFETIME), has_agreed = !has_cookie(AGREEMENT_NAME);
  }
  native.grantConsent();
}, deny_consent = function() {
  native.denyConsent(), has_agreed = !1, mark(AGREEMENT_NAME, DELETED);
};

// entry.js
var import_waylink = require("./waylink.cjs");
install(import_waylink.Waylink);
