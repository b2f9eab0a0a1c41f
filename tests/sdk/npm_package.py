"""The npm package as a registry would hand it out, for tests that use it as a consumer."""

from __future__ import annotations

import tarfile
from pathlib import Path

from sdk_build.build import ROOT
from sdk_build.node import install_packages, run_node

CHECKS = Path(__file__).parent / "package_checks"


def pack(folder: Path) -> Path:
    """The archive that `npm publish` would upload, written into `folder`."""
    run_node("npm", "pack", "--silent", "--pack-destination", str(folder), cwd=ROOT / "sdk_dist")
    (archive,) = folder.glob("waylink-*.tgz")
    return archive


def install(folder: Path) -> None:
    """Install the packed package in a project's folder, as `npm install waylink` does."""
    modules = folder / "node_modules"
    modules.mkdir()
    with tarfile.open(pack(modules)) as archive:
        archive.extractall(modules, filter="data")
    (modules / "package").rename(modules / "waylink")


def run_tool(command: str, *arguments: str, cwd: Path) -> str:
    """Run one of the tools that package_checks/ locks; its output, or SystemExit with what it said."""
    install_packages(CHECKS)
    return run_node(command, *arguments, cwd=cwd, packages=CHECKS)
