"""Compresses the files that the service serves: `waylink.js.br` and `waylink.js.gz` beside `waylink.js`.

sdk_dist/ must be the same on every machine. Other encoders (Google's brotli, Zopfli, Node.js's own) take
logarithms from the machine's library, or code for its processor, and may come to other bytes. So Brotli's
encoder runs as WebAssembly, whose numbers are the same everywhere, and gzip's is libdeflate, which counts in
integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deflate import gzip_compress

from sdk_build.node import run_node

# The files that a page or its developer tools load.
SERVED = (
    "waylink.js",
    "waylink.js.map",
    "waylink.json",
    "waylink-links.js",
    "waylink-domains.js",
    "waylink-privacy.js",
)
_BEST_COMPRESSION = 12
_BROTLI = """
const { compress } = require('brotli-wasm');
const { readFileSync, writeFileSync } = require('fs');
for (const file of process.argv.slice(1)) {
  writeFileSync(file + '.br', compress(readFileSync(file), { quality: 11 }));
}
"""


def compress_served_files(folder: Path) -> None:
    """Write the compressed forms of the served files in this folder beside them."""
    compress([folder / name for name in SERVED])


def compress(files: Sequence[Path]) -> None:
    """Write `FILE.br` and `FILE.gz` beside each file."""
    run_node("node", "-e", _BROTLI, *(str(file.absolute()) for file in files))
    for file in files:
        file.with_name(f"{file.name}.gz").write_bytes(gzip_compress(file.read_bytes(), _BEST_COMPRESSION))
