/** Where a visitor came from, in a few words; `context` is what Waylink.getAttribution() gave. */
export function creditOf(context) {
  if (!context) return "nobody: you came on your own";
  const { cl_link_id: link, utm_campaign: campaign, utm_source: source } = context;
  return [link && "our link", campaign && `${campaign} campaign`, source].filter(Boolean).join(", ") || "an ad";
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
