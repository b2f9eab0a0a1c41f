/** Where a visitor came from, in a few words; `context` is what Waylink.getAttribution() gave. */
export function creditOf(context) {
  if (!context) return "no link: you came on your own";
  const names = [context.utm_campaign, context.utm_source].filter(Boolean);
  if (context.cl_link_id) return names.length ? `the link of ${names.join(", ")}` : `link ${context.cl_link_id}`;
  return names.join(", ") || "an ad";
}

/** What of the context to show: pairs of label and value. */
export function factsOf(context) {
  return [
    ["Link", context.cl_link_id],
    ["Campaign", context.utm_campaign],
    ["Source", context.utm_source],
    ["Medium", context.utm_medium],
    ["Content", context.utm_content],
    ["Term", context.utm_term],
  ].filter(([, value]) => value);
}
