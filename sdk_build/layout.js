// The order of the script's functions and variables, and the letters of its names: they change nothing but the size.
//
// Brotli and gzip find what is alike more cheaply where it is near, so order and letters are worth some 60 bytes.
// `find_layout.js` has found those in layout.json by trying; here they are applied to a script.
const { parse } = require('acorn');
const { minify } = require('terser');

const DIGITS = [...'0123456789'];

// A bundled script as a tree whose declarations can be put in another order.
function parsed(code) {
  const tree = parse(code, { ecmaVersion: 2022, locations: true, sourceFile: '0' });
  const body = tree.body[0].expression.callee.body.body;
  const variables = body.find((statement) => statement.type === 'VariableDeclaration');
  const others = body.filter((statement) => statement.type !== 'VariableDeclaration');
  if (body[0] !== variables || others.some((statement) => statement.type === 'FunctionDeclaration')) {
    throw new Error('the script does not begin with all its variables');
  }
  variables.declarations = body.filter((each) => each === variables || each.declarations).flatMap((each) => each.declarations);
  return { tree, variables, declared: inspected(variables.declarations), body, others };
}

// What each declaration needs before it: a function nothing, anything else all that it may use, by way of functions too.
function inspected(declarations) {
  const byName = new Map(declarations.map((node) => [node.id.name, { name: node.id.name, node }]));
  for (const each of byName.values()) {
    each.uses = [...namesIn(each.node.init)].filter((name) => byName.has(name));
    each.isFunction = /Function/.test(each.node.init?.type);
  }
  const needs = (each, found = new Set()) => {
    for (const name of each.uses) {
      if (!found.has(name)) needs(byName.get(name), found.add(name));
    }
    return found;
  };
  for (const each of byName.values()) {
    each.needs = each.isFunction ? [] : [...needs(each)].filter((name) => name !== each.name);
  }
  return byName;
}

function namesIn(node, found = new Set()) {
  if (node?.type === 'Identifier') found.add(node.name);
  for (const child of Object.values(node ?? {})) {
    if (child && typeof child === 'object') namesIn(child, found);
  }
  return found;
}

// The names of all declarations in the order that is wanted, as far as each can be where it is wanted. Names that `wanted` lacks
// follow the one before them.
function ordered(declared, wanted) {
  const places = new Map(wanted.map((name, place) => [name, place]));
  let last = -1;
  const placed = [...declared.keys()].map((name) => [(last = places.get(name) ?? last), name]);
  const order = new Set();
  const put = (name) => {
    if (order.has(name)) return;
    declared.get(name).needs.forEach(put);
    order.add(name);
  };
  placed.sort(([one], [other]) => one - other).forEach(([, name]) => put(name));
  return [...order];
}

// The name of this index, of these letters: as terser counts, whose own letters are those that are frequent in the script.
function nameOf(index, letters) {
  const first = [...letters];
  let name = first[index % first.length];
  for (let rest = Math.floor(index / first.length); rest > 0; rest = Math.floor((rest - 1) / 64)) {
    name += [...first, ...DIGITS][(rest - 1) % 64];
  }
  return name;
}

// The script in this layout, minified: terser's result.
function laidOut(script, layout, settings) {
  const { tree, variables, declared, body, others } = script;
  variables.declarations = ordered(declared, layout.order).map((name) => declared.get(name).node);
  body.splice(0, body.length, variables, ...others);
  return minify(tree, {
    ...settings,
    parse: { spidermonkey: true },
    compress: false,
    mangle: { nth_identifier: { get: (index) => nameOf(index, layout.letters) } },
  });
}

module.exports = { laidOut, ordered, parsed };
