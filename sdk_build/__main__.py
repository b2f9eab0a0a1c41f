"""`make sdk`: build sdk_dist/, and say what came out."""

from __future__ import annotations

import base64
import gzip
import hashlib

from sdk_build.build import ROOT, TARGETS, build


def main() -> None:
    """Build, and print each file's sizes and the hash for a script tag's `integrity`."""
    destination = ROOT / "sdk_dist"
    build(destination)
    for name in TARGETS:
        content = (destination / name).read_bytes()
        integrity = base64.b64encode(hashlib.sha384(content).digest()).decode()
        zipped = len(gzip.compress(content, 9, mtime=0))
        print(f"{name}: {len(content)} bytes, {zipped} gzipped, sha384-{integrity}")


if __name__ == "__main__":
    main()
