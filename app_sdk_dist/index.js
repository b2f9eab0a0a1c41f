// waylink-app: compiled from Python; its sources are app_sdk_src/ and sdk_src/ of Waylink.

// app_sdk_src/time_limit.py
var within = async function(milliseconds, work) {
  var timer2 = null, reject_later = function(_, reject2) {
    timer2 = setTimeout(reject2, milliseconds);
  };
  try {
    return await Promise.race([work, new Promise(reject_later)]);
  } finally {
    clearTimeout(timer2);
  }
};

// app_sdk_src/options.py
var OPTIONS = "apiKey! baseUrl! platform! domains appId consentMode eraseOnWithdrawal debug", OPTION_PATTERNS = { apiKey: /^"/, baseUrl: /^"https?:/, platform: /^"(ios|android)"$/, domains: /^\[\n "/, consentMode: /^"(not_)?required"$/ }, ADAPTERS = ["storage", "addresses", "installReferrer", "clipboard", "fetch", "crypto", "onProblem"], options = {}, service_url = function(path) {
  return options.baseUrl.replace(/\/*$/, path);
}, batch_url = function() {
  return service_url("/serviceCore/sdk/v1/batch");
};

// app_sdk_src/debug.py
var SENTENCES = { accepted: "Sent:", addresses: "The adapter for opened addresses failed:", clipboard: "The adapter for the clipboard failed:", denyConsent: "Consent withdrawn: waiting calls deleted, new installation id", dropped: "Dropped: too many calls wait:", email: "email not sent: it could not be hashed", error: "Rejected by the service:", fields: "Not sent, the name of the field that is wrong:", init: "init ignored: called before", installReferrer: "The adapter for the install referrer failed:", listener: "A listener of onOpen threw:", notes: "Taken, but not all of it:", offline: "No answer, sent again later:", options: "Not started, the name of the option that is wrong:", phone: "phone not sent: it has no digits", refused: "Refused (429, 5xx or not by the service), sent again later:", rejected: "Not taken by the service:", storage: "The storage failed, so this is kept until the app ends:", unknown: "Left out, an unknown name, or a stored call that is none or too old:" }, ADDRESS = "baseUrl", ALWAYS = ["dropped", "email", "phone", "refused", "storage"], read_json = function(response) {
  return response.json();
}, say = function(code, detail, is_warning) {
  try {
    var message = SENTENCES[code] || code;
    if (code == ADDRESS)
      return;
    is_warning || ALWAYS.includes(code) ? options.onProblem ? options.onProblem({ code, message, detail }) : console.warn("Waylink", message, detail || "") : options.debug && console.log("Waylink", message, detail || "");
  } catch {
  }
};

// app_sdk_src/attempts.py
var run = async function(work) {
  return await work();
}, attempt = function(code, work) {
  return run(work).catch((function(error) {
    return say(code, error, !0);
  }));
};

// app_sdk_src/stores.py
var KEY_PREFIX = "waylink:", STORAGE_TIMEOUT = 3e3, is_loaded = !1, is_changed = !1, writing, storage_key = function(py_name) {
  return KEY_PREFIX + options.apiKey + ":" + py_name;
}, open_store = function(on_change) {
  var texts = {}, read = function(key) {
    return texts[key] || "";
  }, write = function(key, text) {
    texts[key] = text, on_change();
  }, remove = function(key) {
    texts[key] != null && (delete texts[key], on_change());
  }, names = function(prefix) {
    return Object.keys(texts).filter((function(key) {
      return key.startsWith(prefix);
    }));
  }, forget = function() {
    names("").forEach(remove);
  };
  return { read, write, remove, names, forget, texts };
}, note_change = function() {
  is_changed = !0, is_loaded && !writing && (writing = write_all());
}, write_all = async function() {
  for (; is_changed; )
    await Promise.resolve(), is_changed = !1, await attempt("storage", (function() {
      return options.storage.setItem(storage_key("all"), JSON.stringify(local.texts));
    }));
  writing = null;
}, load = async function() {
  var kept = parse_json(await attempt("storage", (function() {
    return options.storage.getItem(storage_key("all"));
  }))) || {};
  for (var key of Object.keys(kept))
    local.texts[key] = "" + kept[key];
  is_loaded = !0;
}, saved = async function() {
  try {
    await within(STORAGE_TIMEOUT, writing);
  } catch {
  }
}, parse_json = function(text) {
  try {
    return JSON.parse(text);
  } catch {
  }
}, session = open_store((function() {
  return null;
})), local = open_store(note_change);

// app_sdk_src/locks.py
var run_exclusively = async function(_lock_name, work) {
  await work();
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

// app_sdk_src/device_id.py
var DEVICE_KEY = "install", device, open_device = function() {
  device = local.read(storage_key(DEVICE_KEY)) || new_uuid(), local.write(storage_key(DEVICE_KEY), device);
}, renew_device = function() {
  device = new_uuid(), local.write(storage_key(DEVICE_KEY), device);
};

// app_sdk_src/cookies.py
var delete_cookies = function() {
}, keep_cookie = function(_device, _known_id) {
};

// sdk_src/clock.py
var LAST_TIME = 864e13, latest_time = 0, now = function() {
  return latest_time = Math.min(Math.max(Date.now(), latest_time + 1) || latest_time + 1, LAST_TIME), new Date(latest_time).toISOString();
};

// sdk_src/consent.py
var decision, has_consent = function() {
  return !!(decision ?? (options.apiKey && options.consentMode != "required"));
}, record_decision = function(told) {
  decision = told;
};

// app_sdk_src/attribution.py
var CHECK = "attribution", LAUNCHED_KEY = "launched", NAMED = "link", NativePromise = Promise, own_opens = {}, listeners = [], unheard = [], unremembered_visit, is_due = function(check) {
  return check.signals;
}, resolve_attempted = function() {
}, keep_result = function(result) {
  for (var code of ["error", "notes"])
    result[code] && say(code, result, !0);
  result.match && keep_open(result);
}, keep_open = function(result) {
  local.write(storage_key(LAUNCHED_KEY), "yes");
  var occurred_at = own_opens[result.call_id];
  result.link && occurred_at && !has_consent() && (unremembered_visit = { link_id: result.link.id, occurred_at }), result.destination_url && (occurred_at || result.match != NAMED) && (unheard.push(result), tell_listeners());
}, tell_listeners = function() {
  listeners.length && unheard.splice(0).forEach(tell);
}, tell = function(result) {
  listeners.slice().forEach((function(listener) {
    return attempt("listener", (function() {
      return listener(result);
    }));
  }));
}, listen = function(listener) {
  listeners.push(listener), tell_listeners();
  var end = function() {
    var place = listeners.indexOf(listener);
    place >= 0 && listeners.splice(place, 1);
  };
  return end;
}, take_unremembered_visit = function() {
  var visit = unremembered_visit;
  return unremembered_visit = null, visit;
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
};
var drop_excess = function(entries) {
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

// app_sdk_src/requests.py
var OPEN = "open", OFFLINE_KEY = "offline", OK = 200, fetch = async function(_, request) {
  await saved();
  var batch = JSON.parse(request.body), envelope = { api_key: batch.api_key, install_id: batch.device_id, sdk: "app-" + batch.sdk };
  if (batch.erase)
    return as_response(await send(batch_url(), Object.assign(envelope, { erase: !0, sent_at: now() })));
  var results = [];
  for (var part of parts_of(batch.calls)) {
    var answer = null;
    try {
      var answer = await send_part(part, envelope);
    } catch (__except0__) {
      if (local.write(storage_key(OFFLINE_KEY), "yes"), !results.length)
        throw __except0__;
    }
    answer && local.remove(storage_key(OFFLINE_KEY));
    var part_results = answer && results_of(part, answer);
    if (!part_results)
      return as_response(Object.assign({}, answer, { content: { results } }));
    var results = results.concat(part_results);
  }
  return as_response({ status: OK, content: { results } });
}, parts_of = function(calls) {
  var parts = [], together = null;
  for (var call of calls)
    if (call.kind == OPEN) {
      var together = null;
      parts.push([call]);
    } else if (together)
      together.push(call);
    else {
      var together = [call];
      parts.push(together);
    }
  return parts;
}, send_part = function(calls, envelope) {
  return calls[0].kind == OPEN ? send(service_url("/serviceCore/app/v1/open"), open_body(calls[0], envelope)) : send(batch_url(), Object.assign({}, envelope, { sent_at: now(), calls }));
}, open_body = function(call, envelope) {
  var is_first_launch = !local.read(storage_key(LAUNCHED_KEY));
  return { platform: options.platform, install_id: envelope.install_id, is_first_launch, open_id: call.call_id, occurred_at: call.occurred_at, sent_at: now(), app_id: options.appId, short_url: call.signals.short_url, install_referrer: is_first_launch ? call.signals.install_referrer : null, clipboard_text: is_first_launch ? call.signals.clipboard_text : null, has_consent: has_consent() };
}, send = async function(url, body) {
  var request = { method: "POST", headers: { "Content-Type": "application/json", "API-KEY": options.apiKey }, body: JSON.stringify(body) }, send_request = options.fetch || globalThis.fetch, response = await within(REQUEST_TIMEOUT, send_request(url, request)), content = null;
  try {
    var content = await within(REQUEST_TIMEOUT, response.json());
  } catch {
  }
  var content = content || {};
  return { status: response.status, retry_after: response.headers.get("retry-after"), content };
}, results_of = function(calls, answer) {
  var content = answer.content;
  return answer.status == OK ? content.results ? content.results : content.match ? [Object.assign({ call_id: calls[0].call_id }, content)] : null : is_refusal(answer) ? calls.map((function(call) {
    return { call_id: call.call_id, error: content.error };
  })) : null;
}, is_refusal = function(answer) {
  var content = answer.content;
  return FINAL_STATUSES.test("" + answer.status) && content.code > 0 && content.error;
}, as_response = function(answer) {
  return { status: answer.status, headers: { get: (function(_) {
    return answer.retry_after;
  }) }, json: (function() {
    return answer.content;
  }) };
};

// app_sdk_src/sha256.py
var WORD = 4294967296, BLOCK_BYTES = 64, ROUNDS = 64, LENGTH_BYTES = 8, state_at_start = [], round_constants = [], fill_constants = function() {
  for (var number = 2; round_constants.length < ROUNDS; )
    is_prime(number) && (state_at_start.length < 8 && state_at_start.push(fraction_bits(Math.pow(number, 1 / 2))), round_constants.push(fraction_bits(Math.pow(number, 1 / 3)))), number++;
}, is_prime = function(number) {
  for (var divisor = 2; divisor * divisor <= number; ) {
    if (Math.floor(number / divisor) * divisor == number)
      return !1;
    divisor++;
  }
  return !0;
}, fraction_bits = function(number) {
  return (number - Math.floor(number)) * WORD | 0;
}, shifted = function(word, bits) {
  return word >> bits & (1 << 32 - bits) - 1;
}, rotated = function(word, bits) {
  return shifted(word, bits) | word << 32 - bits;
}, sha256 = function(bytes) {
  for (var blocks = padded(bytes), state2 = state_at_start.slice(), start2 = 0; start2 < blocks.length; )
    add_block(state2, schedule_of(blocks, start2)), start2 += BLOCK_BYTES;
  var digest = [];
  for (var word of state2)
    digest.push(shifted(word, 24), word >> 16 & 255, word >> 8 & 255, word & 255);
  return new Uint8Array(digest);
}, padded = function(bytes) {
  var blocks = [];
  for (var byte of bytes)
    blocks.push(byte);
  for (blocks.push(128); blocks.length + LENGTH_BYTES & BLOCK_BYTES - 1; )
    blocks.push(0);
  var bits = bytes.length * 8;
  return blocks.push(0, 0, 0, 0, shifted(bits, 24), bits >> 16 & 255, bits >> 8 & 255, bits & 255), blocks;
}, schedule_of = function(blocks, start2) {
  for (var words = [], place = start2; words.length < 16; )
    words.push(blocks[place] << 24 | blocks[place + 1] << 16 | blocks[place + 2] << 8 | blocks[place + 3]), place += 4;
  for (; words.length < ROUNDS; ) {
    var count = words.length, early = words[count - 15], late = words[count - 2], early_mix = rotated(early, 7) ^ rotated(early, 18) ^ shifted(early, 3), late_mix = rotated(late, 17) ^ rotated(late, 19) ^ shifted(late, 10);
    words.push(words[count - 16] + early_mix + words[count - 7] + late_mix | 0);
  }
  return words;
}, add_block = function(state2, words) {
  for (var __left0__ = state2, a = __left0__[0], b = __left0__[1], c = __left0__[2], d = __left0__[3], e = __left0__[4], f = __left0__[5], g = __left0__[6], h = __left0__[7], count = 0; count < ROUNDS; ) {
    var e_mix = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25), choice = e & f ^ ~e & g, first = h + e_mix + choice + round_constants[count] + words[count] | 0, a_mix = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22), majority = a & b ^ a & c ^ b & c, h = g, g = f, f = e, e = d + first | 0, d = c, c = b, b = a, a = first + a_mix + majority | 0;
    count++;
  }
  var add_word = function(word, place) {
    state2[place] = state2[place] + word | 0;
  };
  [a, b, c, d, e, f, g, h].forEach(add_word);
};
fill_constants();

// app_sdk_src/injected.py
var AbortSignal = {}, random_source = function() {
  return options.crypto || globalThis.crypto;
}, crypto = { getRandomValues: (function(bytes) {
  return random_source().getRandomValues(bytes);
}), subtle: { digest: (function(_, bytes) {
  return sha256(bytes);
}) } };

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

// app_sdk_src/page.py
var IS_BROWSER = !0;

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

// sdk_src/call_rules.py
var MAX_JSON_BYTES = 4096, TRIMMED_TEXT = /^[\s\x00-\x1f\x7f-\x9f]*([^\s\x00-\x1f\x7f-\x9f][^]{0,255}?)?[\s\x00-\x1f\x7f-\x9f]*$/u, FIELDS = { identify: "customer_id! email_sha256 email name phone_sha256 phone", lead: "customer_id email_sha256 email client_timestamp event_id name", event: "customer_id product_id metadata name!", conversion: "customer_id product_id transaction_id revenue! currency!" }, PATTERNS = { name: /^"/, email: /^"/, phone: /^"/, email_sha256: /^"[\da-f]{64}"$/i, currency: /^"[a-z]{3}"$/i, phone_sha256: /^"[\da-f]{64}"$/i, client_timestamp: /^"\d{4}-[01]\d-[0-3]\d/, revenue: /^"?(10{12}|\d{1,12}(\.\d+)?)(e-\d+|"?)$/, metadata: /^\{(?![^]*\n {8})/, id: /^("|-?\d+$)/ };

// app_sdk_src/address.py
var address = { search: "", hash: "", origin: "", pathname: "" };

// sdk_src/checks.py
var OPTION_PATTERNS2 = { consentMode: /^"(not_)?required"$/, cookieDomain: /^"/, apiKey: /^"/, baseUrl: /^"/, id: /^([^"]|"true")/ }, WHOLE_MATCH = 0, FIRST_GROUP = 1, validate = function(py_arguments, fields, patterns, preset) {
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
          var value = value.match(TRIMMED_TEXT)[FIRST_GROUP];
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

// app_sdk_src/opens.py
var ADAPTER_TIMEOUT = 5e3, REPEAT_TIME = 2e3, SCHEME = 1, REST = 2, HOST = 3, latest_address, latest_at = 0, begin_opens = async function() {
  var address2 = null, adapter = options.addresses;
  if (adapter) {
    await attempt("addresses", (function() {
      return adapter.listen(take_address);
    }));
    var address2 = await attempt("addresses", (function() {
      return within(ADAPTER_TIMEOUT, adapter.initial());
    }));
  }
  return await take_address(address2);
}, take_address = async function(address2) {
  var short_url = link_of(address2);
  if (short_url) {
    if (is_repeat(short_url))
      return null;
    recover({});
  }
  var is_first_launch = !local.read(storage_key(LAUNCHED_KEY));
  if (short_url || is_first_launch && !stored_entries().some(is_open)) {
    var call = { kind: OPEN, call_id: new_uuid(), occurred_at: now(), signals: { short_url } };
    return is_first_launch && (call.signals.install_referrer = await read_text("installReferrer"), call.signals.clipboard_text = copied_text(await read_text("clipboard"))), own_opens[call.call_id] = call.occurred_at, await new NativePromise((function(resolve) {
      return submit({ call, resolve });
    }));
  }
}, is_open = function(entry) {
  return entry.call.kind == OPEN;
}, link_of = function(address2) {
  var found = ("" + (address2 || "")).match(/^([a-z][\w+.-]*):\/\/(([^\/?#:@]+)(:\d+)?([\/?#].*)?)$/i);
  return found && (options.domains || []).some((function(domain) {
    return domain.toLowerCase() == found[HOST].toLowerCase();
  })) ? (found[SCHEME].toLowerCase() == "http" ? "http://" : "https://") + found[REST] : null;
}, is_repeat = function(short_url) {
  var is_known = short_url == latest_address && Date.now() - latest_at < REPEAT_TIME;
  return latest_address = short_url, latest_at = Date.now(), is_known;
}, read_text = async function(adapter_name) {
  var read = options[adapter_name];
  return read ? await attempt(adapter_name, (function() {
    return within(ADAPTER_TIMEOUT, read());
  })) : null;
}, copied_text = function(text) {
  return link_of(text) && text.match(/#cl_clipboard=[\w-]{22}\s*$/) ? text : null;
};

// app_sdk_src/start.py
var FORGOTTEN_KEY = "forgotten", HELD_PREFIX = "held_", start, resolve_ready, keep_resolver = function(resolve) {
  resolve_ready = resolve;
}, ready = new Promise(keep_resolver), init = async function(py_arguments) {
  return start ? say("init", null, !0) : start = begin(py_arguments), await start;
}, begin = async function(py_arguments) {
  if (options.onProblem = py_arguments?.onProblem, !await attempt("options", (function() {
    return take_options(py_arguments);
  })))
    return start = null, !1;
  await load(), open_device(), local.read(storage_key(OFFLINE_KEY)) && local.remove(storage_key(PAUSE_KEY));
  for (var entry of stored_entries())
    lease(entry, LEASE_ENDED);
  return has_consent() ? allow_sending(!0) : decision == null ? hold_calls() : forget_person(), resolve_ready(!0), recover(), await begin_opens(), schedule_recovery(), await saved(), !0;
}, take_options = function(py_arguments) {
  var plain = Object.assign({}, py_arguments), adapters = {};
  for (var py_name of ADAPTERS)
    adapters[py_name] = plain[py_name], delete plain[py_name];
  var valid = validate(plain, OPTIONS, OPTION_PATTERNS);
  if (!(adapters.storage?.getItem && adapters.storage.setItem)) {
    var __except0__ = new TypeError("Waylink: storage");
    throw __except0__;
  }
  if (!((adapters.crypto || globalThis.crypto) && (adapters.crypto || globalThis.crypto).getRandomValues)) {
    var __except0__ = new TypeError("Waylink: crypto");
    throw __except0__;
  }
  return Object.assign(options, valid, adapters), !0;
}, grant_consent = function() {
  if (record_decision(!0), device) {
    local.remove(storage_key(FORGOTTEN_KEY)), release_calls();
    var visit = take_unremembered_visit();
    if (visit) {
      var call = new_call(CHECK);
      call.occurred_at = visit.occurred_at, call.signals = { cl_link_id: visit.link_id }, submit({ call });
    }
    allow_sending(!0);
  }
}, deny_consent = function() {
  record_decision(!1), allow_sending(!1), device && forget_person();
}, forget_person = function() {
  if (!local.read(storage_key(FORGOTTEN_KEY))) {
    var opens = stored_entries().filter(is_open), is_launched = local.read(storage_key(LAUNCHED_KEY));
    discard_unsent(), erase_device(device), renew_device(), local.write(storage_key(FORGOTTEN_KEY), "yes"), is_launched && local.write(storage_key(LAUNCHED_KEY), is_launched);
    for (var entry of opens)
      entry.device = device, lease(entry, LEASE_ENDED);
    recover(), say("denyConsent");
  }
}, hold_calls = function() {
  for (var entry of stored_entries())
    is_open(entry) || (unstore(entry), local.write(storage_key(HELD_PREFIX) + entry_key(entry), JSON.stringify(entry)));
}, release_calls = function() {
  for (var key of local.names(storage_key(HELD_PREFIX)))
    local.write(key.slice(storage_key(HELD_PREFIX).length), local.read(key)), local.remove(key);
  recover();
}, reset = function() {
  var check = new_call(CHECK);
  check.signals = {};
  var change_device = function() {
    check.signals = null, session.forget(), renew_device();
  };
  queue_call(check, null, change_device);
}, flush = async function() {
  await start;
  var recovery = recover({});
  return await last_submission, await sending, await recovery, await saved(), stored_entries().length + waiting_entries.length;
}, resume = function() {
  recover({});
};

// app_sdk_src/links.py
var create_link = async function(fields) {
  await ready;
  try {
    var body = Object.assign({}, fields, { install_id: device }), answer = await send(service_url("/serviceCore/app/v1/links"), body);
    if (answer.content.short_url)
      return Object.assign({ status: "accepted" }, answer.content);
    if (is_refusal(answer))
      return say("error", answer.content, !0), { status: "rejected", error: answer.content.error };
    say("refused", answer);
  } catch {
    say("offline", fields);
  }
  return { status: "unavailable" };
};

// app_sdk_src/waylink_app.py
var track = async function(kind, fields, preset) {
  var outcome = await track_call(kind, fields, preset).catch(reject);
  return await saved(), outcome;
}, reject = function(error) {
  var wrong = error.message.replace(/^Waylink: /, ""), field = wrong.split(" ")[0], result = { status: "rejected", error: { errorMessage: wrong + " is wrong or missing", fieldName: field } };
  return say("fields", result, !0), result;
}, identify = function(fields) {
  return track("identify", fields);
}, track_lead = function(fields) {
  return track("lead", fields);
}, track_conversion = function(fields) {
  return track("conversion", fields);
}, track_event = function(event_name, fields) {
  return track("event", fields, { name: event_name });
}, open_address = async function(address2) {
  await ready;
  var outcome = await take_address(address2);
  return await saved(), outcome;
}, Waylink = { init, open: open_address, onOpen: listen, createLink: create_link, identify, trackLead: track_lead, trackConversion: track_conversion, trackEvent: track_event, grantConsent: grant_consent, denyConsent: deny_consent, hasConsent: has_consent, resume, reset, flush };

// app_sdk_src/adapters.py
var memory_storage = function() {
  var texts = {}, get_item = async function(key) {
    return texts[key];
  }, set_item = async function(key, text) {
    texts[key] = text;
  };
  return { getItem: get_item, setItem: set_item };
}, preferences_storage = function(preferences) {
  var get_item = async function(key) {
    var kept = await preferences.get({ key });
    return kept.value;
  };
  return { getItem: get_item, setItem: (function(key, text) {
    return preferences.set({ key, value: text });
  }) };
}, file_storage = function(files, path) {
  var texts = null, read = async function() {
    if (!texts)
      try {
        texts = JSON.parse(await files.readFile(path, "utf8"));
      } catch {
        texts = {};
      }
    return texts;
  }, get_item = async function(key) {
    var kept = await read();
    return kept[key];
  }, set_item = async function(key, text) {
    var kept = await read();
    kept[key] = text, await files.writeFile(path + ".new", JSON.stringify(kept)), await files.rename(path + ".new", path);
  };
  return { getItem: get_item, setItem: set_item };
}, linking_addresses = function(linking) {
  var initial = function() {
    return linking.getInitialURL();
  };
  return { initial, listen: (function(on_address) {
    return linking.addEventListener("url", (function(event) {
      return on_address(event.url);
    }));
  }) };
}, capacitor_addresses = function(app) {
  var initial = async function() {
    var launch = await app.getLaunchUrl();
    return launch?.url;
  };
  return { initial, listen: (function(on_address) {
    return app.addListener("appUrlOpen", (function(event) {
      return on_address(event.url);
    }));
  }) };
}, capacitor_fetch = function(http) {
  var fetch2 = async function(url, request) {
    var asked = { url, method: request.method, headers: request.headers, data: JSON.parse(request.body) }, answer = await http.request(asked), headers = answer.headers || {}, header = function(wanted) {
      var found = Object.keys(headers).find((function(given) {
        return given.toLowerCase() == wanted;
      }));
      return found && headers[found];
    }, read_json2 = async function() {
      return answer.data;
    };
    return { status: answer.status, headers: { get: header }, json: read_json2 };
  };
  return fetch2;
};
export {
  Waylink,
  capacitor_addresses as capacitorAddresses,
  capacitor_fetch as capacitorFetch,
  Waylink as default,
  file_storage as fileStorage,
  linking_addresses as linkingAddresses,
  memory_storage as memoryStorage,
  preferences_storage as preferencesStorage
};
