// Minifies a bundled script with terser.
// node minify.js SETTINGS, where SETTINGS is JSON: input, output, terser (its options), map_url (or none), layout (a file, or none).
//
// The same input always gives the same output.
const { readFileSync, writeFileSync } = require('fs');
const { minify } = require('terser');
const { laidOut, parsed } = require('./layout.js');

const { input, output, terser, map_url, layout } = JSON.parse(process.argv[2]);
const { compress: shorter, ...others } = terser;

async function main() {
  const code = readFileSync(input, 'utf8');
  const content = readFileSync(`${input}.map`, 'utf8');
  const unnamed = await minify(code, { ...others, compress: shorter, mangle: false, sourceMap: { content } });
  const settings = { ...others, sourceMap: { content: unnamed.map, url: map_url } };
  const result = layout
    ? await laidOut(parsed(unnamed.code), JSON.parse(readFileSync(layout, 'utf8')), settings)
    : await minify(unnamed.code, { ...settings, compress: false });
  writeFileSync(output, result.code);
  writeFileSync(`${output}.map`, result.map);
}

main();
