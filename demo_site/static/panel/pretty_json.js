// JSON with indentation and colours. Text nodes only, so that the strictest content policy is met.

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g;

/** Nodes that show `value`. */
export function prettyJson(value) {
  const text = JSON.stringify(value, null, 2) ?? "";
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const shown = match[1] ?? match[0];
    nodes.push(text.slice(end, match.index), coloured(shown, classOf(match)));
    end = match.index + shown.length;
  }
  return [...nodes, text.slice(end)];
}

function classOf([, string, colon]) {
  if (!string) return "json-number";
  return colon ? "json-key" : "json-text";
}

function coloured(text, name) {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}
