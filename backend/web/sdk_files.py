"""The files of the SDKs that the service hands out: contents, encodings and addresses.

`make sdk` has made them, and compressed them; they are read once for each process.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "sdk_dist"
APP_FOLDER = FOLDER.with_name("app_sdk_dist")
IDENTITY = "identity"  # HTTP's word for: not compressed
# The content codings that files exist in, smallest first, each with the ending of its file.
CODINGS = {"br": ".br", "gzip": ".gz"}
SCRIPT, SENTENCES, SOURCE_MAP = "waylink.js", "waylink.json", "waylink.js.map"
# What a site loads beside the script for one of its options.
PARTS = ("waylink-links.js", "waylink-domains.js", "waylink-privacy.js")
_MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".tgz": "application/gzip",
}


@dataclass(frozen=True, slots=True)
class SdkFile:
    """A file, by content coding: `identity` always, compressed where it is served so."""

    media_type: str
    contents: Mapping[str, bytes]

    def etag(self, coding: str) -> str:
        """The entity tag, without quotes, of the content in this coding: each has its own (RFC 9110, 8.8.3).

        It begins with the SHA-256 of the content as it is, so that `waylink doctor proxy` knows what it
        should get.
        """
        digest = hashlib.sha256(self.contents[IDENTITY]).hexdigest()
        return digest if coding == IDENTITY else f"{digest}-{coding}"


@cache
def sdk_files() -> Mapping[str, SdkFile]:
    """The files by name: the script, its parts and its source map, the sentences, and the npm packages."""
    files = [FOLDER / name for name in (SCRIPT, SENTENCES, SOURCE_MAP, *PARTS)]
    files += [archive for folder in (FOLDER, APP_FOLDER) for archive in folder.glob("waylink-*.tgz")]
    return {file.name: _read(file) for file in files if file.exists()}


@cache
def build() -> str:
    """What names this build in its own address, `/waylink-BUILD.js`: 12 hexadecimal digits.

    They follow from the script and the sentences beside it, so one address never has two contents.
    """
    files = sdk_files()
    contents = (files[name].contents[IDENTITY] for name in (SCRIPT, SENTENCES) if name in files)
    return hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents)).hexdigest()[:12]


@cache
def integrity() -> str:
    """The hash of the script for a script tag's `integrity`."""
    digest = hashlib.sha384(sdk_files()[SCRIPT].contents[IDENTITY]).digest()
    return f"sha384-{base64.b64encode(digest).decode()}"


@cache
def npm_archive() -> str:
    """The file name of the npm package for sites."""
    return next(FOLDER.glob("waylink-*.tgz")).name


@cache
def app_archive() -> str:
    """The file name of the npm package for apps."""
    return next(APP_FOLDER.glob("waylink-*.tgz")).name


def _read(file: Path) -> SdkFile:
    compressed = {coding: file.with_name(file.name + ending) for coding, ending in CODINGS.items()}
    contents = {coding: path.read_bytes() for coding, path in compressed.items() if path.exists()}
    return SdkFile(_MEDIA_TYPES[file.suffix], contents | {IDENTITY: file.read_bytes()})
