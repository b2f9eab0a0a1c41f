"""Packs the npm package as `npm pack` does, but so that the same files always give the same bytes."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from deflate import gzip_compress

# The date of every file in every package that npm packs: 26 October 1985, 08:15 UTC.
_NPMS_DATE = 499162500


def archive_name(folder: Path) -> str:
    """The archive's name: `waylink-1.2.3.tgz`, with the version of the package in this folder."""
    manifest = json.loads((folder / "package.json").read_text())
    return f"{manifest['name']}-{manifest['version']}.tgz"


def packed(folder: Path) -> bytes:
    """The archive of the package in this folder: package.json and the files that it names."""
    manifest = json.loads((folder / "package.json").read_text())
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in ("package.json", *manifest["files"]):
            content = (folder / name).read_bytes()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mtime = len(content), _NPMS_DATE
            tar.addfile(entry, io.BytesIO(content))
    return bytes(gzip_compress(archive.getvalue(), 12))
