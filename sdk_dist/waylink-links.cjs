// sdk_src/page.py
var IS_BROWSER = typeof document == "object", of_document = function(property, new_value) {
  try {
    return Reflect[new_value ? "set" : "get"](typeof document[property] == "object" ? Document.prototype : document, property, new_value || document, document);
  } catch {
  }
}, script_tag = IS_BROWSER && of_document("currentScript");

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

// sdk_src/address.py
var address = IS_BROWSER && (location.host ? location : new URL(of_document("baseURI")));

// sdk_src/outbound_links.py
var OPTION = "outboundLinks", MAX_URL_CHARACTERS = 1e3, DOWNLOAD = "file_download", NAMES = { "mailto:": "email_click", "tel:": "phone_click", "blob:": DOWNLOAD, "data:": DOWNLOAD }, FILES = RegExp("\\.(7z|aac|apk|avi|bz2|csv|dmg|docx?|epub|exe|flac|gz|ics|iso|jar|key|m4a|mkv|mobi|mov|mp[34]|mpe?g|msi|numbers|od[pst]|ogg|pages|pdf|pkg|pptx?|rar|rtf|tar|tgz|txt|wav|webm|wm[av]|xlsx?|xz|zip)$", "i"), waylink = {}, clicks = [], install = function(page_waylink, tag) {
  waylink = page_waylink, take_option(waylink, OPTION, watch_clicks, tell_clicks);
  var choice = tag?.dataset.outboundLinks;
  watch_clicks(choice != null && choice != "false");
}, watch_clicks = function(is_on) {
  IS_BROWSER && is_on && !waylink[OPTION] && (waylink[OPTION] = !0, addEventListener("click", on_click, !0), addEventListener("auxclick", on_click, !0), addEventListener("pagehide", tell_clicks));
}, on_click = function(event) {
  try {
    var link = link_of(event), told = link && describe(link);
    told && (clicks.push({ event, event_name: told.event_name, fields: told.fields }), setTimeout(tell_clicks));
  } catch {
  }
}, describe = function(link) {
  var url = new URL(address_of(link), document.baseURI);
  if (NAMES[url.protocol])
    return { event_name: NAMES[url.protocol] };
  var is_file = link.hasAttribute("download") || FILES.test(url.pathname);
  return url.protocol.startsWith("http") && (is_file || url.host != address.host) ? { event_name: is_file ? DOWNLOAD : "outbound_click", fields: { metadata: { url: (url.origin + url.pathname).slice(0, MAX_URL_CHARACTERS) } } } : null;
}, tell_clicks = function() {
  for (var click of clicks.splice(0))
    click.event.defaultPrevented || waylink.trackEvent(click.event_name, click.fields);
};

// entry.js
var import_waylink = require("./waylink.cjs");
install(import_waylink.Waylink);
