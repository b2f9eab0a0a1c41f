// Finds a smaller layout of the script by trying (simulated annealing), and writes it to layout.json.
// node find_layout.js INPUT SETTINGS SECONDS [SEED], where INPUT is the bundled script and SETTINGS are terser's, as JSON.
const { readFileSync, writeFileSync } = require('fs');
const { join } = require('path');
const { minify } = require('terser');
const { brotliCompressSync, constants, gzipSync } = require('zlib');
const { laidOut, ordered, parsed } = require('./layout.js');

const LAYOUT = join(__dirname, 'layout.json');
const [input, terser, seconds, seed] = process.argv.slice(2);
const { compress: shorter, ...others } = JSON.parse(terser);
// A page may receive so much of it. Our own gzip is better than that of Node.js, by so much.
const MOST = { brotli: 4600, gzip: 5000 };
const BETTER_GZIP = 69;
const WARMEST = 1; // bytes that a try may be worse at the beginning

let state = Number(seed) || 1;
const random = (most) => {
  state = (state * 1103515245 + 12345) % 2 ** 31;
  return Math.floor((state / 2 ** 31) * most);
};

function cost(code) {
  const brotli = brotliCompressSync(code, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: code.length } }).length - MOST.brotli;
  const gzip = gzipSync(code, { level: 9 }).length - BETTER_GZIP - MOST.gzip;
  return { brotli, gzip, total: Math.max(brotli, gzip) + 0.2 * Math.min(brotli, gzip) };
}

function changed({ order, letters }) {
  if (random(4)) {
    const next = [...order];
    const moved = next.splice(random(next.length), random(3) ? 1 : 1 + random(5));
    next.splice(random(next.length + 1), 0, ...moved);
    return { order: next, letters };
  }
  const next = [...letters];
  const [one, other] = [random(random(2) ? 24 : next.length), random(next.length)];
  [next[one], next[other]] = [next[other], next[one]];
  return { order, letters: next.join('') };
}

async function main() {
  const unnamed = await minify(readFileSync(input, 'utf8'), { ...others, compress: shorter, mangle: false });
  const script = parsed(unnamed.code);
  const known = JSON.parse(readFileSync(LAYOUT, 'utf8'));
  const sized = async (layout) => ({ layout, ...cost((await laidOut(script, layout, others)).code) });
  let current = await sized({ order: ordered(script.declared, known.order), letters: known.letters });
  let best = current;
  let tries = 0;
  const begin = Date.now();
  console.log(`at first: ${JSON.stringify({ ...best, layout: undefined })}`);
  for (let passed = 0; passed < 1; passed = (Date.now() - begin) / 1000 / seconds, tries += 1) {
    const next = await sized(changed(current.layout));
    const worse = next.total - current.total;
    if (worse <= 0 || random(1e6) / 1e6 < Math.exp(-worse / (WARMEST * (1 - passed) + 0.01))) current = next;
    if (current.total < best.total) {
      best = current;
      writeFileSync(LAYOUT, `${JSON.stringify(best.layout, null, 1)}\n`);
    }
  }
  console.log(`after ${tries} tries: ${JSON.stringify({ ...best, layout: undefined })}`);
}

main();
