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

// sdk_src/stores.py
var KEY_PREFIX = "waylink:";
var open_store = function(native_name) {
  var memory = {}, attempt = function(action) {
    try {
      return action(window[native_name]);
    } catch {
    }
  }, read = function(key) {
    return "" + (attempt((function(native_store) {
      return native_store.getItem(key);
    })) || memory[key] || "");
  }, write = function(key, text) {
    var keep = function(native_store) {
      native_store.setItem(key, text), delete memory[key];
    };
    memory[key] = text, attempt(keep);
  }, remove = function(key) {
    delete memory[key], attempt((function(native_store) {
      return native_store.removeItem(key);
    }));
  }, names = function(prefix) {
    var py_keys = Object.keys(memory).concat(attempt(Object.keys) || []);
    return py_keys.filter((function(key) {
      return key.startsWith(prefix);
    }));
  }, forget2 = function() {
    names(KEY_PREFIX).filter((function(key) {
      return key != KEY_PREFIX;
    })).forEach(remove);
  };
  return { read, write, remove, names, forget: forget2 };
};
var session = open_store("sessionStorage"), local = open_store("localStorage");

// sdk_src/parts.py
var MIDDLE_BUTTON = 1;
var take_option = function(waylink2, py_name, use, start) {
  var init = waylink2.init, init_without = async function(py_arguments) {
    var rest = py_arguments;
    if (py_arguments?.[py_name] != null) {
      use(py_arguments[py_name], py_arguments);
      var rest = Object.assign({}, py_arguments);
      delete rest[py_name];
    }
    var started = init(rest);
    return start(), await started;
  };
  waylink2.init = init_without;
}, link_of = function(event) {
  return event.button <= MIDDLE_BUTTON && event.composedPath().find((function(element) {
    return element.href && ["a", "area"].includes(element.localName);
  }));
}, address_of = function(link) {
  return link.href.baseVal || link.href;
};

// sdk_src/ids.py
var UUID_PATTERN = "[\\da-f]{8}(?:-[\\da-f]{4}){4}[\\da-f]{8}", UUID_BYTES = 16, HEXADECIMAL = 16, new_uuid = function() {
  var digits = to_hexadecimal(crypto.getRandomValues(new Uint8Array(UUID_BYTES)));
  return digits.replace(/(.{8})(....).(...).(...)/, "$1-$2-4$3-8$4-");
}, to_hexadecimal = function(bytes) {
  var digits = "";
  for (var byte of bytes)
    digits += byte.toString(HEXADECIMAL).padStart(2, "0");
  return digits;
};

// sdk_src/cookies.py
var DEVICE_ID_NAME = "cl_device_id", SERVICE_COOKIE_NAME = "cl_device_id_kept", COOKIE_LIFETIME = 400 * 24 * 60 * 60;
var WITHDRAWAL_LIFETIME = 1440 * 60, PROBE_LIFETIME = 9, DELETED = 0, MIN_LABELS = 2, FIRST_GROUP = 1, read_cookie = function(py_name) {
  var match = ("; " + of_document("cookie") + ";").match("; " + py_name + "=(" + UUID_PATTERN + ");");
  return match?.[FIRST_GROUP];
}, write_cookie = function(py_name, value, lifetime, domain) {
  of_document("cookie", py_name + "=" + value + "; max-age=" + lifetime + "; path=/; samesite=lax" + (domain && "; domain=" + domain) + (address.href[4] == "s" ? "; secure" : ""));
}, keep_cookie = function(device, known_id) {
  for (var domain of cookie_domains()) {
    var probe = known_id ? new_uuid() : DEVICE_ID_NAME;
    if (known_id && read_cookie(SERVICE_COOKIE_NAME) == device)
      return !0;
    if (write_cookie(probe, device, known_id ? PROBE_LIFETIME : COOKIE_LIFETIME, domain), read_cookie(probe) == device)
      return known_id && (write_cookie(probe, "", DELETED, domain), write_cookie(DEVICE_ID_NAME, device, COOKIE_LIFETIME, domain)), !0;
  }
};
var cookie_domains = function() {
  var labels = address.hostname.split(".");
  return [].concat(options.cookieDomain || [], labels.map((function(_, index) {
    return labels.slice(-MIN_LABELS - index).join(".");
  })), "");
};

// sdk_src/other_domains.py
var OPTION = "otherDomains", PARAMETER = "cl_device", GIVEN = PARAMETER + "=[^&#]*", LIFETIME = 120 * 1e3, BASE = 36, DEVICE = 1, TIME = 2, CHECKSUM = 3, waylink = {}, told, handed_device, loans = [], install = function(page_waylink, tag) {
  waylink = page_waylink, IS_BROWSER && (follow("grantConsent", take_over), follow("denyConsent", forget), follow("reset", forget), addEventListener("storage", (function() {
    return setTimeout(take_over);
  }))), take_option(waylink, OPTION, name_hosts, take_over);
  try {
    name_hosts(tag.dataset.otherDomains, options), take_over();
  } catch {
  }
}, follow = function(py_name, action) {
  var method = waylink[py_name], call_and_act = function() {
    method(), action();
  };
  waylink[py_name] = call_and_act;
}, name_hosts = function(names, py_arguments) {
  var listed = typeof names == "string" ? names.match(/[^\s,]+/g) : names, hosts = Array.isArray(listed) ? listed.map(host_of) : [""];
  if (!hosts.every((function(host) {
    return host;
  }))) {
    var __except0__ = new TypeError("Waylink: otherDomains");
    throw __except0__;
  }
  var is_watching = waylink[OPTION];
  waylink[OPTION] = hosts, options.cookieDomain = py_arguments.cookieDomain, IS_BROWSER && (read_told(), is_watching || (addEventListener("click", on_click, !0), addEventListener("auxclick", on_click, !0)));
}, host_of = function(py_name) {
  try {
    return new URL(py_name.includes("/") ? py_name : "https://" + py_name).hostname;
  } catch {
  }
}, take_parameter = function() {
  try {
    var found = location.search.match(RegExp("[?&]" + PARAMETER + "=([^&]*)"));
    found && top == window && (told = found[1], history.replaceState(history.state, "", without_parameter(location.href)));
  } catch {
  }
}, without_parameter = function(address2) {
  return address2.replace(RegExp("([?&])" + GIVEN + "(?:&" + GIVEN + ")*(&?)", "g"), (function(_, before, after) {
    return after ? before : "";
  }));
}, read_told = function() {
  try {
    var found = told.match("^(" + UUID_PATTERN + ")\\.(\\w+)\\.(\\w+)$"), arrived_at = Date.now() - performance.now(), age = arrived_at - parseInt(found[TIME], BASE);
    found[CHECKSUM] == checksum(found[DEVICE], found[TIME], location.hostname) && Math.abs(age) < LIFETIME && waylink[OPTION].includes(new URL(document.referrer).hostname) && (handed_device = found[DEVICE]);
  } catch {
  }
  told = null;
}, take_over = function() {
  if (handed_device && waylink.hasConsent())
    if (document.prerendering)
      document.addEventListener("prerenderingchange", take_over);
    else {
      var known_id = read_cookie(DEVICE_ID_NAME) || "";
      keep_cookie(handed_device, known_id), read_cookie(DEVICE_ID_NAME) == handed_device && known_id != handed_device && dispatchEvent(new StorageEvent("storage", { key: KEY_PREFIX, newValue: DEVICE_ID_NAME })), handed_device = null;
    }
}, forget = function() {
  handed_device = null;
}, on_click = function(event) {
  try {
    var link = link_of(event);
    if (link && waylink.hasConsent()) {
      var url = new URL(without_parameter(address_of(link)), document.baseURI), device = is_listed(url) && read_cookie(DEVICE_ID_NAME);
      device && lend(link, handing_over(url, device));
    }
  } catch {
  }
}, is_listed = function(url) {
  return waylink[OPTION].includes(url.hostname) && url.hostname != location.hostname && (url.protocol == "https:" || url.protocol == location.protocol);
}, handing_over = function(url, device) {
  var time = Date.now().toString(BASE), parameter = PARAMETER + "=" + device + "." + time + "." + checksum(device, time, url.hostname), mark = url.href.split("#")[0].includes("?") ? "&" : "?";
  return url.href.replace(/#|$/, (function(end) {
    return mark + parameter + end;
  }));
}, lend = function(link, address2) {
  loans.filter((function(loan2) {
    return loan2.link == link;
  })).forEach(give_back);
  var loan = { link, own_address: link.getAttribute("href"), address: address2 };
  loan.own_address != null && (link.setAttribute("href", address2), loans.push(loan), setTimeout((function() {
    return give_back(loan);
  })));
}, give_back = function(loan) {
  loans = loans.filter((function(other) {
    return other != loan;
  })), loan.link.getAttribute("href") == loan.address && loan.link.setAttribute("href", loan.own_address);
}, checksum = function(device, time, host) {
  var text = [device, time, host, navigator.userAgent, navigator.language, (/* @__PURE__ */ new Date()).getTimezoneOffset()].join(), number = 2166136261;
  for (var character of text)
    var number = Math.imul(number ^ character.charCodeAt(0), 16777619);
  return (number & 2147483647).toString(BASE);
};
IS_BROWSER && take_parameter();

// entry.js
var import_waylink = require("./waylink.cjs");
install(import_waylink.Waylink);
