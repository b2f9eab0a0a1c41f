var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: !0 });
}, __copyProps = (to, from, except, desc) => {
  if (from && typeof from == "object" || typeof from == "function")
    for (let key of __getOwnPropNames(from))
      !__hasOwnProp.call(to, key) && key !== except && __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: !0 }), mod);

// entry.js
var entry_exports = {};
__export(entry_exports, {
  Waylink: () => Waylink,
  default: () => Waylink
});
module.exports = __toCommonJS(entry_exports);

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
var script_source = /^http/.test(script_tag?.src) && script_tag.src, options = {}, batch_url = function() {
  return (options.baseUrl || script_source || address.origin).replace(/((\/waylink[^\/?#]*)?\.js|\/?)([?#].*)?$/, (function(_, end) {
    return end == ".js" ? "" : "/serviceCore/sdk/v1/batch";
  }));
};

// sdk_src/stores.py
var KEY_PREFIX = "waylink:", storage_key = function(py_name) {
  return KEY_PREFIX + options.apiKey + ":" + py_name;
}, open_store = function(native_name) {
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
  }, forget = function() {
    names(KEY_PREFIX).filter((function(key) {
      return key != KEY_PREFIX;
    })).forEach(remove);
  };
  return { read, write, remove, names, forget };
}, parse_json = function(text) {
  try {
    return JSON.parse(text);
  } catch {
  }
}, session = open_store("sessionStorage"), local = open_store("localStorage");

// sdk_src/debug.py
var read_json = function(response) {
  return response.json();
}, say = function(code, detail, is_warning) {
  try {
    (options.debug || is_warning) && console[is_warning ? "warn" : "log"]("Waylink", options.debug?.[code] || code, detail || "");
  } catch {
  }
};

// sdk_src/attribution.py
var CHECK = "attribution", CHECKED_ADDRESSES = "checked", MAX_CHECKED_CHARACTERS = 15e3, resolve_attempted, NativePromise = Promise, keep_resolver = function(resolve) {
  resolve_attempted = resolve;
}, attempted = new NativePromise(keep_resolver), renew_attempted = function() {
  resolve_attempted(), attempted = new NativePromise(keep_resolver);
}, is_due = function(check) {
  var checked_addresses = session.read(storage_key(CHECKED_ADDRESSES)), line = `
` + check.page + `
`;
  if (check.signals && !checked_addresses.includes(line))
    return session.write(storage_key(CHECKED_ADDRESSES), (line + checked_addresses).slice(0, MAX_CHECKED_CHARACTERS)), !0;
  say("signals");
}, read_context = function() {
  return parse_json(session.read(storage_key(CHECK))) || null;
}, keep_result = function(result, is_of_visit) {
  for (var code of ["error", "notes"])
    result[code] && say(code, result, !0);
  is_of_visit && result.attribution && session.write(storage_key(CHECK), JSON.stringify(result.attribution));
};

// sdk_src/locks.py
var LOCK_TIMEOUT = 1e4, run_exclusively = async function(lock_name, work) {
  var run = function() {
    var first = work;
    return work = null, first?.();
  };
  try {
    await NativePromise.race([navigator.locks.request(lock_name, run), new NativePromise((function(resolve) {
      return setTimeout(resolve, LOCK_TIMEOUT);
    }))]);
  } catch {
  }
  await run();
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
var DEVICE_ID_NAME = "cl_device_id", SERVICE_COOKIE_NAME = "cl_device_id_kept", COOKIE_LIFETIME = 400 * 24 * 60 * 60, WITHDRAWAL_NAME = "cl_withdrawn", WITHDRAWAL_LIFETIME = 1440 * 60, PROBE_LIFETIME = 9, DELETED = 0, MIN_LABELS = 2, FIRST_GROUP = 1, read_cookie = function(py_name) {
  var match = ("; " + of_document("cookie") + ";").match("; " + py_name + "=(" + UUID_PATTERN + ");");
  return match?.[FIRST_GROUP];
}, write_cookie = function(py_name, value, lifetime, domain) {
  of_document("cookie", py_name + "=" + value + "; max-age=" + lifetime + "; path=/; samesite=lax" + (domain && "; domain=" + domain) + (address.href[4] == "s" ? "; secure" : ""));
}, keep_cookie = function(device2, known_id) {
  for (var domain of cookie_domains()) {
    var probe = known_id ? new_uuid() : DEVICE_ID_NAME;
    if (known_id && read_cookie(SERVICE_COOKIE_NAME) == device2)
      return !0;
    if (write_cookie(probe, device2, known_id ? PROBE_LIFETIME : COOKIE_LIFETIME, domain), read_cookie(probe) == device2)
      return known_id && (write_cookie(probe, "", DELETED, domain), write_cookie(DEVICE_ID_NAME, device2, COOKIE_LIFETIME, domain)), !0;
  }
}, delete_cookies = function() {
  mark(DEVICE_ID_NAME, DELETED), mark(SERVICE_COOKIE_NAME, DELETED);
}, has_cookie = function(py_name) {
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

// sdk_src/device_id.py
var VISIT_KEY = KEY_PREFIX + DEVICE_ID_NAME, device, read_device_id = function() {
  return "" + (read_cookie(DEVICE_ID_NAME) || session.read(storage_key(DEVICE_ID_NAME)).match(UUID_PATTERN) || "");
}, open_device = function() {
  var known_id = read_device_id();
  return device = known_id || new_uuid(), session.read(VISIT_KEY) != device && (session.forget(), session.write(VISIT_KEY, device)), keep_cookie(device, known_id) || (session.write(storage_key(DEVICE_ID_NAME), device), say("cookie")), mark(WITHDRAWAL_NAME, DELETED), !known_id;
}, forget_device = function() {
  device = null;
};

// sdk_src/clock.py
var LAST_TIME = 864e13, latest_time = 0, now = function() {
  return latest_time = Math.min(Math.max(Date.now(), latest_time + 1) || latest_time + 1, LAST_TIME), new Date(latest_time).toISOString();
};

// sdk_src/outbox.py
var REQUEST_TIMEOUT = 1e4, TOO_MANY_REQUESTS = 429, FINAL_STATUSES = /40[013]|41[35]/, SALE = "conversion", CALL_PREFIX = "call_", PAUSE_KEY = "pause", LEASE_TIME = 3e4, LEASE_ENDED = -1, RECHECK_DELAY = 500, MAX_PAUSE = 3600 * 1e3, MIN_RETRY_DELAY = 500, MAX_JITTER = 1e3, SECOND = 1e3, MAX_AGE = 10080 * 60 * 1e3, MAX_STORED_CHARACTERS = 24e4, MIN_ENTRY_CHARACTERS = 2400, MAX_BATCH_CHARACTERS = 1e4, own = {}, unfinished = {}, unsent_entries = [], is_leaving = !1, state = { dropped: 0, unknown: 0, baseUrl: 0 }, last_outcome, failures = 0, sending, timer, add = function(entry) {
  lease(entry, LEASE_TIME), unsent_entries.push(entry), drop_excess(stored_entries()), send_unsent();
}, lease = function(entry, milliseconds) {
  entry.until = Date.now() + milliseconds, milliseconds == LEASE_TIME && (unfinished[entry.call.call_id] = entry), own[entry_key(entry)] = JSON.stringify(entry), local.write(entry_key(entry), own[entry_key(entry)]);
}, send_unsent = function() {
  unsent_entries.is_busy || (unsent_entries.is_busy = !0, sending = send_all(unsent_entries));
}, send_all = async function(entries) {
  try {
    for (; entries.length; )
      await send_batch(take_batch(entries));
  } catch {
  }
  entries.is_busy = !1, schedule_recovery();
}, send_batch = async function(batch) {
  var own_before = own;
  try {
    if (!remaining_pause()) {
      try {
        var response = await post('{"calls":[' + batch.map((function(entry2) {
          return JSON.stringify(entry2.call);
        })).join() + "],", batch[0].device), retry_after = response.headers.get("retry-after"), content = await read_json(response);
        for (var entry of batch) {
          var batch_refusal = FINAL_STATUSES.test(response.status) && content.code > 0 && content.error.fieldName.length && content, result = batch_refusal || content.results.find((function(call_result) {
            return call_result.call_id == entry.call.call_id;
          }));
          if (result) {
            var answered = result.error ? "rejected" : "accepted";
            result.status = answered, entry.outcome = result, keep_result(result, entry.device == device), unstore(entry);
          }
        }
      } catch {
      }
      last_outcome = answered || (response ? "refused" : "offline"), say(last_outcome, batch), !answered && response?.status < TOO_MANY_REQUESTS && note("baseUrl", batch_url()), answered ? failures = 0 : is_leaving || (failures++, local.write(storage_key(PAUSE_KEY), Date.now() + retry_delay(retry_after)));
    }
  } finally {
    for (var entry of batch)
      delete unfinished[entry.call.call_id], own_before === own && !entry.outcome && (lease(entry, LEASE_ENDED), entry.outcome = { status: "waiting" }), finish_entry(entry);
    device ? batch[0].device != device && keep_cookie(device, device) : erase_device(batch[0].device);
  }
}, post = async function(json_start, device_id) {
  return fetch(batch_url(), { method: "POST", body: json_start + JSON.stringify({ api_key: options.apiKey, device_id, sdk: "js/1.0.0", sent_at: now() }).slice(1), keepalive: is_leaving || !failures, signal: AbortSignal.timeout?.(REQUEST_TIMEOUT) });
}, erase_device = function(device_id) {
  local.forget(), session.forget(), delete_cookies(), device_id && options.eraseOnWithdrawal && post('{"erase":true,', device_id).then(read_json).then(keep_result).catch(say);
}, retry_delay = function(retry_after) {
  return Math.min(Math.max(retry_after * SECOND || Date.parse(retry_after) - Date.now() || 0, failures * failures * (MIN_RETRY_DELAY + MAX_JITTER * Math.random())), MAX_PAUSE);
}, remaining_pause = function() {
  return remaining_time(local.read(storage_key(PAUSE_KEY)), MAX_PAUSE);
}, remaining_time = function(end, longest) {
  var remaining = end && end - Date.now();
  return remaining > 0 && remaining <= longest && remaining;
}, schedule_recovery = function() {
  clearTimeout(timer);
  var entries = stored_entries();
  drop_excess(entries), entries.length && (timer = setTimeout(recover, remaining_pause() + RECHECK_DELAY)), resolve_attempted();
}, recover = function(event, page_leaves) {
  if (is_leaving = page_leaves, device)
    if (event && last_outcome == "offline" && (failures = 0, local.remove(storage_key(PAUSE_KEY))), page_leaves)
      send_stored(), send_unsent_at_last();
    else
      return run_exclusively(KEY_PREFIX, send_stored);
}, send_unsent_at_last = function() {
  var entries = unsent_entries.splice(0).sort(sales_first);
  for (var entry of Object.values(unfinished))
    lease(entry, LEASE_ENDED);
  for (; entries.length; )
    send_batch(take_batch(entries)).catch(say).then(schedule_recovery);
}, send_stored = function() {
  var free_entries = stored_entries().filter((function(entry2) {
    return !unfinished[entry2.call.call_id] && !remaining_time(entry2.until, LEASE_TIME);
  }));
  for (var entry of free_entries)
    lease(entry, is_leaving ? LEASE_ENDED : LEASE_TIME);
  return send_all(free_entries);
}, stored_entries = function() {
  var entries = [];
  for (var key of Object.keys(own))
    local.read(key) || local.write(key, own[key]);
  for (var key of local.names(storage_key(CALL_PREFIX)).sort()) {
    var entry = read_entry(key, local.read(key));
    entry ? entries.push(entry) : (note("unknown", key), local.remove(key));
  }
  return entries;
}, read_entry = function(key, text) {
  try {
    var entry = JSON.parse(text), is_of_now = Math.abs(Date.now() - (entry.since || Date.parse(entry.call.occurred_at))) < MAX_AGE;
    if (key == entry_key(entry) && entry.device.match(UUID_PATTERN) == entry.device && entry.call.call_id.match(UUID_PATTERN) == entry.call.call_id && (is_of_now || !entry.since))
      return { call: entry.call, device: entry.device, until: entry.until, since: is_of_now ? entry.since : Date.now() };
  } catch {
  }
}, discard_unsent = function() {
  own = {}, unsent_entries.splice(0).forEach(discard);
}, forget_deleted = function() {
  for (var key of Object.keys(own))
    local.read(key) || (note("dropped", key), delete own[key]);
}, drop_excess = function(entries) {
  var used = {};
  for (var entry of entries.slice().reverse().sort(sales_first)) {
    var is_of_site = !entry.call.signals;
    used[is_of_site] = (used[is_of_site] || 0) + Math.max(MIN_ENTRY_CHARACTERS, JSON.stringify(entry).length), used[is_of_site] > MAX_STORED_CHARACTERS && (entries.splice(entries.indexOf(entry), 1), unstore(entry), unfinished[entry.call.call_id] || (note("dropped", entry), finish_entry(entry)));
  }
}, sales_first = function(entry, other) {
  return (other.call.kind == SALE) - (entry.call.kind == SALE);
}, unstore = function(entry) {
  delete own[entry_key(entry)], local.remove(entry_key(entry));
}, note = function(code, detail) {
  say(code, detail, !state[code]), state[code]++;
}, discard = function(entry) {
  unstore(entry), finish_entry(entry);
}, finish_entry = function(entry) {
  entry.resolve?.(entry.outcome);
}, entry_key = function(entry) {
  return storage_key(CALL_PREFIX + entry.call.occurred_at + entry.call.call_id);
}, take_batch = function(entries) {
  for (var count = 1; count < entries.length && entries[count].device == entries[0].device && JSON.stringify(entries.slice(0, count + 1)).length < MAX_BATCH_CHARACTERS; )
    count++;
  return entries.splice(0, count);
};

// sdk_src/history_hooks.py
var watch_history = function(on_change) {
  var call_and_tell = function(method, this_object, arguments_list) {
    var result = method.apply(this_object, arguments_list);
    return on_change(), result;
  };
  for (var owner of [history, History.prototype])
    for (var py_name of ["pushState", "replaceState"])
      try {
        owner.hasOwnProperty(py_name) && (owner[py_name] = new Proxy(owner[py_name], { apply: call_and_tell }));
      } catch {
      }
  addEventListener("popstate", on_change);
};

// sdk_src/consent.py
var GRANTED_IN_OTHER_TAB = 1, DENIED_IN_OTHER_TAB = 0, decision, has_consent = function() {
  return !!(decision ?? (options.apiKey && options.consentMode != "required"));
}, record_decision = function(told) {
  decision = told;
};

// sdk_src/call_rules.py
var MAX_JSON_BYTES = 4096, TRIMMED_TEXT = /^[\s\p{Cc}]*([^\s\p{Cc}][^]{0,255}?)?[\s\p{Cc}]*$/u, FIELDS = { identify: "customer_id! email_sha256 email name phone_sha256 phone", lead: "customer_id email_sha256 email client_timestamp event_id name", event: "customer_id product_id metadata name!", conversion: "customer_id product_id transaction_id revenue! currency!" }, PATTERNS = { name: /^"/, email: /^"/, phone: /^"/, email_sha256: /^"[\da-f]{64}"$/i, currency: /^"[a-z]{3}"$/i, phone_sha256: /^"[\da-f]{64}"$/i, client_timestamp: /^"\d{4}-[01]\d-[0-3]\d/, revenue: /^"?(10{12}|\d{1,12}(\.\d+)?)(e-\d+|"?)$/, metadata: /^{(?![^]*\n {8})/, id: /^("|-?\d+$)/ };

// sdk_src/checks.py
var OPTIONS = "cookieDomain autoPageTracking apiKey! consentMode debug eraseOnWithdrawal allowIframe baseUrl", OPTION_PATTERNS = { consentMode: /^"(not_)?required"$/, cookieDomain: /^"/, apiKey: /^"/, baseUrl: /^"/, id: /^([^"]|"true")/ }, WHOLE_MATCH = 0, FIRST_GROUP2 = 1, validate = function(py_arguments, fields, patterns, preset) {
  var py_arguments = py_arguments ?? {}, wrong = {}.toString.call(py_arguments) != "[object Object]" && "fields", valid = {}, field_names = fields.match(/\w+/g);
  for (var field of field_names.concat(Object.keys(py_arguments)))
    try {
      if (field_names.includes(field)) {
        var given = (preset?.hasOwnProperty(field) ? preset : py_arguments)[field], value = JSON.parse(JSON.stringify(given) || null);
        if (value == null && given != null) {
          var __except0__ = value;
          throw __except0__;
        }
        if (typeof value == "string")
          var value = value.match(TRIMMED_TEXT)[FIRST_GROUP2];
        if (value != null || fields.includes(field + "!")) {
          if (field == "baseUrl")
            var value = new URL(value.trim(), address.href).href;
          var byte_past_limit = new TextEncoder().encode(JSON.stringify(value))[MAX_JSON_BYTES], indented = JSON.stringify(byte_past_limit > 0 || value, null, 1);
          indented.match(patterns[field] || patterns.id)[WHOLE_MATCH], valid[field] = value;
        }
      } else
        say("unknown", field, !0);
    } catch {
      var wrong = wrong || field + " " + (given && given.toString?.());
    }
  if (wrong) {
    var __except0__ = new TypeError("Waylink: " + wrong);
    throw __except0__;
  }
  return valid;
};

// sdk_src/signals.py
var SIGNAL_NAMES = "^(cl_((link|click)_id|variant)|utm_(campaign|source|term|medium|content)|(fb|tt|g)clid|[gw]braid)$", MAX_SIGNAL_CHARACTERS = 512, read_signals = function(address2) {
  var signals = null, parameters = (address2.search + address2.hash).replace(/#[^?]*\??/g, "&");
  for (var [signal_name, value] of new URLSearchParams(parameters))
    if (value && signal_name.match(SIGNAL_NAMES)) {
      var signals = signals || {};
      signals[signal_name] = signals[signal_name] || value.slice(0, MAX_SIGNAL_CHARACTERS);
    }
  return signals;
};

// sdk_src/hashing.py
var SECOND2 = 1, hash_contacts = async function(fields) {
  for (var py_name of ["email", "phone"]) {
    var contact = fields[py_name];
    if (delete fields[py_name], contact)
      try {
        var text = contact.toLowerCase();
        if (py_name == "phone")
          var text = text.replace(/(?!^\+)\D/g, "");
        var bytes = new TextEncoder().encode(text[SECOND2].length && text), digest = await crypto.subtle.digest("SHA-256", bytes);
        fields[py_name + "_sha256"] = to_hexadecimal(new Uint8Array(digest));
      } catch {
        say(py_name);
      }
  }
};

// sdk_src/calls.py
var CUSTOMER_ID_KEY = "customer", MAX_PAGE_CHARACTERS = 3e3, UNDECIDED = null, waiting_entries = [], may_send = IS_BROWSER ? UNDECIDED : !1, last_submission, new_call = function(kind) {
  if (IS_BROWSER) {
    var signals = read_signals(address), call = { kind, call_id: new_uuid(), occurred_at: now(), page: (address.origin + address.pathname + (signals ? "?" + new URLSearchParams(signals) : "")).slice(0, MAX_PAGE_CHARACTERS) };
    return kind == CHECK && (call.signals = signals), call;
  }
}, track_call = async function(kind, py_arguments, preset) {
  var call = Object.assign(validate(py_arguments, FIELDS[kind], PATTERNS, preset), new_call(kind));
  return new NativePromise((function(resolve) {
    return queue_call(call, resolve);
  }));
}, queue_call = function(call, resolve, change_device) {
  waiting_entries.push({ call, resolve, change_device }), allow_sending(may_send), has_consent() || drop_excess(waiting_entries);
}, allow_sending = function(permission) {
  may_send = permission, permission != UNDECIDED && waiting_entries.splice(0).forEach(permission ? submit : finish_entry);
}, submit = function(entry) {
  entry.change_device?.(), entry.device = device, last_submission = prepare(last_submission, entry);
}, prepare = async function(previous_submission, entry) {
  var own_before = own;
  try {
    if (complete_call(entry.call) && (await previous_submission, await hash_contacts(entry.call), own_before === own))
      return add(entry);
  } catch {
  }
  finish_entry(entry);
}, complete_call = function(call) {
  return call.kind == CHECK ? is_due(call) : (call.kind == "identify" && session.write(storage_key(CUSTOMER_ID_KEY), call.customer_id), call.customer_id = call.customer_id || session.read(storage_key(CUSTOMER_ID_KEY)), !0);
};

// sdk_src/visit.py
var loaded_at = now(), initialization, current_start, landing, is_active, init = function(py_arguments) {
  return is_active == null ? initialization = begin_visit(py_arguments) : say("init"), initialization;
}, begin_visit = async function(py_arguments) {
  try {
    Object.assign(options, IS_BROWSER && validate(py_arguments, OPTIONS, OPTION_PATTERNS));
  } catch (__except0__) {
    throw renew_attempted(), __except0__;
  }
  if (is_active = IS_BROWSER && (top == window || !!options.allowIframe), is_active)
    return options.baseUrl || script_source || say("baseUrl", "", !0), addEventListener("pageshow", on_outside_event), addEventListener("online", on_outside_event), addEventListener("storage", on_outside_event), addEventListener("visibilitychange", on_leave), addEventListener("pagehide", on_leave), options.autoPageTracking != !1 && watch_history(check_address), landing = new_call(CHECK), landing.occurred_at = loaded_at, has_consent() ? await start_visit() : decision == !1 ? forget_visitor() : say("grantConsent"), state;
  say("iframe"), allow_sending(!1), resolve_attempted();
}, start_visit = async function() {
  if (!current_start) {
    var __left0__ = {}, own_start = __left0__;
    current_start = __left0__;
    try {
      await new NativePromise(resolve_once_shown), read_cookie(DEVICE_ID_NAME), await new NativePromise(setTimeout), session.read(KEY_PREFIX), await new NativePromise(setTimeout), decision === !0 && local.write(KEY_PREFIX, storage_key("")), local.remove(KEY_PREFIX), await new NativePromise(setTimeout), await run_exclusively(DEVICE_ID_NAME, arrive), await landing, own_start == current_start && (allow_sending(!0), schedule_recovery());
    } catch {
    }
  }
}, arrive = function() {
  if (current_start && !device) {
    var check = landing || new_call(CHECK);
    open_device() && (check.signals = check.signals || {}), landing = new NativePromise((function(resolve) {
      return submit({ call: check, resolve });
    }));
  }
}, begin_anew = function(change_device) {
  var check = new_call(CHECK);
  check.signals = {}, queue_call(check, null, change_device);
}, reset = function() {
  IS_BROWSER && begin_anew(replace_device);
}, replace_device = function() {
  delete_cookies(), take_over_device(), local.write(KEY_PREFIX, DEVICE_ID_NAME), local.remove(KEY_PREFIX);
}, take_over_device = function() {
  session.remove(storage_key(DEVICE_ID_NAME)), open_device();
}, flush = async function() {
  send_at_once();
  var recovery = recover({});
  return await last_submission, await sending, await recovery, stored_entries().length + waiting_entries.length;
}, send_at_once = function() {
  if (current_start && !of_document("prerendering"))
    return arrive(), allow_sending(!0), !0;
}, forget_visitor = function() {
  var forgotten_device = device || read_cookie(DEVICE_ID_NAME);
  current_start = null, landing = null, discard_unsent(), forget_device(), decision === !1 ? (forgotten_device && (local.remove(KEY_PREFIX), local.write(KEY_PREFIX, KEY_PREFIX), mark(WITHDRAWAL_NAME, WITHDRAWAL_LIFETIME)), erase_device(forgotten_device)) : session.forget(), say("denyConsent");
}, apply_decision = function(new_decision) {
  record_decision(new_decision), allow_sending(new_decision && (may_send || UNDECIDED)), is_active && (new_decision ? start_visit() : forget_visitor()), new_decision || renew_attempted();
}, on_outside_event = function(event) {
  event.newValue || delete own[event.key];
  var has_lost_device = device && (event.newValue == DEVICE_ID_NAME || event.persisted && read_device_id() != device);
  event.newValue == KEY_PREFIX || has_lost_device && (local.read(KEY_PREFIX) == KEY_PREFIX || has_cookie(WITHDRAWAL_NAME)) ? apply_decision(DENIED_IN_OTHER_TAB) : has_lost_device ? (event.persisted && forget_deleted(), begin_anew(take_over_device)) : event.newValue == storage_key("") && decision !== !1 && apply_decision(GRANTED_IN_OTHER_TAB), event.key || recover(event);
}, on_leave = async function(event) {
  send_at_once() ? (recover(event, !0), await last_submission, send_unsent_at_last()) : event.persisted != null && !of_document("prerendering") && waiting_entries.find((function(entry) {
    return entry.change_device;
  })) && (delete_cookies(), session.forget());
}, resolve_once_shown = function(resolve) {
  of_document("prerendering") ? addEventListener("prerenderingchange", resolve, !0) : setTimeout(resolve);
}, check_address = async function() {
  var check = new_call(CHECK);
  check?.signals ? queue_call(check) : say("signals");
}, get_attribution = function() {
  return may_send ? read_context() : null;
};

// sdk_src/waylink.py
var grant_consent = function() {
  is_active != !1 && apply_decision(!0);
}, deny_consent = function() {
  apply_decision(!1);
}, identify = function(fields) {
  track_call("identify", fields).catch((function(error) {
    return say("identify", error, !0);
  }));
}, track_lead = function(fields) {
  return track_call("lead", fields);
}, track_conversion = function(fields) {
  return track_call("conversion", fields);
}, track_event = function(py_name, fields) {
  return track_call("event", fields, { name: py_name });
}, track_page_view = function() {
  check_address();
}, when_attributed = async function() {
  return decision != !1 && IS_BROWSER && (is_active || !initialization) && await attempted, get_attribution();
}, Waylink = { init, identify, trackLead: track_lead, trackConversion: track_conversion, trackEvent: track_event, getAttribution: get_attribution, whenAttributed: when_attributed, grantConsent: grant_consent, denyConsent: deny_consent, hasConsent: has_consent, trackPageView: track_page_view, reset, flush };
