"""`make sdk`: builds sdk_dist/ and app_sdk_dist/, and prints the results."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from backend.version import VERSION
from sdk_build.app import DIST as APP_DIST
from sdk_build.app import TYPES, build_app, with_call_types
from sdk_build.build import ROOT, SOURCE, build
from sdk_build.call_rules import call_rules
from sdk_build.compressed import SERVED
from sdk_build.npm_archive import archive_name, packed

INTEGRATIONS = ROOT / "integrations"
_SNIPPET = re.compile(r"(?<=<!-- snippet -->\n)(```html\n)?(.*?)(```\n)?(?=<!-- /snippet -->)", re.DOTALL)
_TAG = re.compile(r"(<!-- integrity -->\n).*?(<!-- /integrity -->)", re.DOTALL)


def write_integrity(readme: Path, integrity: str) -> None:
    """Write the script tag with this build's hash into the package's README."""
    tag = (
        f'```html\n<script src="/waylink.js" integrity="{integrity}" crossorigin="anonymous"></script>\n```\n'
    )
    readme.write_text(_TAG.sub(rf"\g<1>{tag}\g<2>", readme.read_text()))


def write_snippet() -> None:
    """Write the snippet of docs/sdk.md into all that carries it, so that it has one source."""
    found = _SNIPPET.search((ROOT / "docs" / "sdk.md").read_text())
    assert found
    tag = found[2]
    for page in (ROOT / "sdk_dist" / "README.md", INTEGRATIONS / "shopify" / "waylink.liquid"):
        text = _SNIPPET.sub(lambda place: f"{place[1] or ''}{tag}{place[3] or ''}", page.read_text())
        page.write_text(text)
    code = tag.removeprefix("<script>\n").removesuffix("</script>\n")
    (INTEGRATIONS / "wordpress" / "waylink" / "snippet.js").write_text(code)


def write_version(folder: Path) -> None:
    """Write Waylink's version into those files of a folder that name it: what they hold has no other."""
    for name, pattern in (
        ("package.json", r'(?<="version": ")[^"]+'),
        ("README.md", r"(?<=[a-z]-)[\d.]+(?=\.tgz)"),
        ("waylink.php", r"(?<= \* Version: )[\d.]+"),
    ):
        if (folder / name).exists():
            (folder / name).write_text(re.sub(pattern, VERSION, (folder / name).read_text()))


def write_commonjs_types(folder: Path) -> None:
    """Write `index.d.cts`: TypeScript takes the types of a CommonJS module from a file of this name only."""
    (folder / TYPES).with_suffix(".cts").write_text((folder / TYPES).read_text())


def integrity_of(file: Path) -> str:
    """The hash of a file as a script tag's `integrity` has it."""
    return f"sha384-{base64.b64encode(hashlib.sha384(file.read_bytes()).digest()).decode()}"


def pack(folder: Path) -> None:
    """Write the archive of the package in this folder, and print its size."""
    for former in folder.glob("*.tgz"):
        former.unlink()
    archive = folder / archive_name(folder)
    archive.write_bytes(packed(folder))
    print(f"{archive.name}: {archive.stat().st_size} bytes")


def main() -> None:
    """Build, and print the size of each file that pages load, as it is and compressed."""
    destination = ROOT / "sdk_dist"
    (SOURCE / "call_rules.py").write_text(call_rules())
    build(destination)
    write_version(destination)
    write_snippet()
    write_version(INTEGRATIONS / "wordpress" / "waylink")
    write_integrity(destination / "README.md", integrity_of(destination / "waylink.js"))
    for name in SERVED:
        sizes = [(destination / f"{name}{ending}").stat().st_size for ending in ("", ".br", ".gz")]
        print(f"{name}: {sizes[0]} bytes, {sizes[1]} with brotli, {sizes[2]} with gzip")
    write_commonjs_types(destination)
    pack(destination)
    build_app(APP_DIST)
    (APP_DIST / TYPES).write_text(with_call_types((APP_DIST / TYPES).read_text()))
    write_commonjs_types(APP_DIST)
    write_version(APP_DIST)
    pack(APP_DIST)


if __name__ == "__main__":
    main()
