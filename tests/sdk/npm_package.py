"""The npm package as sites get it, for tests that use it as a consumer."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from sdk_build.build import ROOT
from sdk_build.node import install_packages, run_node
from sdk_build.npm_archive import archive_name

CHECKS = Path(__file__).parent / "package_checks"
ARCHIVE = ROOT / "sdk_dist" / archive_name(ROOT / "sdk_dist")


def pack(folder: Path) -> Path:
    """The archive that `npm publish` would upload, written into `folder`."""
    run_node("npm", "pack", "--silent", "--pack-destination", str(folder), cwd=ROOT / "sdk_dist")
    (archive,) = folder.glob("waylink-*.tgz")
    return archive


def contents(archive: Path) -> dict[str, bytes]:
    """The files in an archive, by name."""
    with tarfile.open(archive) as tar:
        return {member.name: file.read() for member in tar if (file := tar.extractfile(member))}


def unpack(folder: Path, archive: Path = ARCHIVE, name: str = "waylink") -> None:
    """Put the package where `npm install` puts it, which takes half a second more."""
    for path, content in contents(archive).items():
        file = folder / "node_modules" / name / path.removeprefix("package/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def install(folder: Path, package: str = str(ARCHIVE)) -> None:
    """Install the package in a project's folder as docs/sdk.md says. `package` is its archive or address."""
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text(json.dumps({"type": "module"}))
    run_node("npm", "install", "--silent", "--no-audit", "--no-fund", package, cwd=folder)


def run_tool(command: str, *arguments: str, cwd: Path) -> str:
    """Run one of the tools that package_checks/ locks; its output, or SystemExit with what it said."""
    install_packages(CHECKS)
    return run_node(command, *arguments, cwd=cwd, packages=CHECKS)
