// One call of a batch, and its result, in a line that people can read.

const SHORT = 8;

/** The main fields of a call, by its kind. */
export function fieldsOf(call) {
  return (WORDS[call.kind] ?? (() => []))(call).filter(Boolean).join(" · ");
}

/** The attribution in a call's result, in words; "" for calls that have none. */
export function answerOf(result) {
  if (!result || !("attribution" in result)) return "";
  const attribution = result.attribution;
  if (!attribution) return "organic";
  return [attribution.cl_link_id && `link ${shortened(attribution.cl_link_id)}`, attribution.utm_campaign, attribution.utm_source].filter(Boolean).join(", ") || "ad";
}

/** The start of an id that is too long to read. */
export function shortened(id) {
  return id.length > SHORT + 4 ? `${id.slice(0, SHORT)}…` : id;
}

const WORDS = {
  attribution: (call) => {
    const signals = Object.entries(call.signals ?? {});
    return signals.length ? signals.map(([name, value]) => `${name} ${shortened(String(value))}`) : ["new device, no signal"];
  },
  identify: (call) => [call.customer_id, call.email_sha256 && "e-mail as SHA-256"],
  lead: (call) => [call.event_id, call.customer_id, call.email_sha256 && "e-mail as SHA-256"],
  conversion: (call) => [`${call.revenue} ${call.currency}`, call.transaction_id, call.product_id, call.customer_id],
  event: (call) => [call.name, call.product_id, call.customer_id],
};
