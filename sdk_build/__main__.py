"""`make sdk`: builds sdk_dist/ and prints the results."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from pathlib import Path

from sdk_build.build import ROOT, TARGETS, build

_TAG = re.compile(r"(<!-- integrity -->\n).*?(<!-- /integrity -->)", re.DOTALL)


def write_integrity(readme: Path, integrity: str) -> None:
    """Write the script tag with this build's hash into the package's README."""
    tag = (
        f'```html\n<script src="/waylink.js" integrity="{integrity}" crossorigin="anonymous"></script>\n```\n'
    )
    readme.write_text(_TAG.sub(rf"\g<1>{tag}\g<2>", readme.read_text()))


def main() -> None:
    """Build, and print the sizes of each file and the hash for a script tag's `integrity`."""
    destination = ROOT / "sdk_dist"
    build(destination)
    for name in TARGETS:
        content = (destination / name).read_bytes()
        integrity = base64.b64encode(hashlib.sha384(content).digest()).decode()
        zipped = len(gzip.compress(content, 9, mtime=0))
        print(f"{name}: {len(content)} bytes, {zipped} gzipped, sha384-{integrity}")
        if name == "waylink.js":
            write_integrity(destination / "README.md", f"sha384-{integrity}")


if __name__ == "__main__":
    main()
