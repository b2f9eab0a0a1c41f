// Minifies a bundled script with terser, and gives its variables the names that compress best.
// node minify.js SETTINGS, where SETTINGS is JSON: input, output, terser (its options), map_url (or none), tries_names.
//
// Terser's first names are the letters that are frequent in the script. Which of them Brotli likes is chance: one letter less,
// and all names after it move on. So each letter is left out once, and the smallest result is taken. The same input always
// gives the same output.
const { compress } = require('brotli-wasm');
const { readFileSync, writeFileSync } = require('fs');
const { minify } = require('terser');

const { input, output, terser, map_url, tries_names } = JSON.parse(process.argv[2]);
const { compress: shorter, ...others } = terser;

const compressed_size = (code) => compress(Buffer.from(code), { quality: 11 }).length;

async function main() {
  const code = readFileSync(input, 'utf8');
  const content = readFileSync(`${input}.map`, 'utf8');
  const unnamed = await minify(code, { ...others, compress: shorter, mangle: false, sourceMap: { content } });
  const named = (letter, sourceMap) =>
    minify(unnamed.code, { ...others, compress: false, mangle: { reserved: [letter] }, sourceMap });
  let best = '';
  if (tries_names) {
    const sizes = {};
    for (const letter of ['', ...'abcdefghijklmnopqrstuvwxyz']) {
      sizes[letter] = compressed_size((await named(letter)).code);
    }
    best = Object.keys(sizes).reduce((one, other) => (sizes[other] < sizes[one] ? other : one));
  }
  const result = await named(best, { content: unnamed.map, url: map_url });
  writeFileSync(output, result.code);
  writeFileSync(`${output}.map`, result.map);
}

main();
