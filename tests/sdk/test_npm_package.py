"""The package in sdk_dist/: well-formed, well-typed, and harmless on a server."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from sdk_build.build import ROOT
from sdk_build.node import run_node
from tests.sdk.npm_package import CHECKS, install, pack, run_tool

STRICT = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--lib", "es2022"]
RESOLUTIONS = {
    "bundler": ("--module", "esnext", "--moduleResolution", "bundler"),
    "Node.js": ("--module", "nodenext", "--moduleResolution", "nodenext"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has installed the package, with the files of package_checks/."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"type": "module"}')
    install(folder)
    for file in CHECKS.glob("*_*.*ts"):
        shutil.copy(file, folder)
    shutil.copy(CHECKS / "in_node.mjs", folder)
    return folder


def test_publint_finds_nothing() -> None:
    """Package.json, exports and files agree, in every bundler's and runtime's eyes."""
    said = run_tool("publint", "--strict", cwd=ROOT / "sdk_dist")
    assert "All good!" in said


def test_are_the_types_wrong_finds_nothing(tmp_path: Path) -> None:
    """The types match the code in every way to resolve a package.

    The rule left out asks for a second, CommonJS copy: a site with both would run two SDKs on one page.
    """
    options = ("--ignore-rules", "cjs-resolves-to-esm", "--no-color", "--no-emoji")
    said = run_tool("attw", str(pack(tmp_path)), *options, cwd=tmp_path)
    assert "No problems found" in said
    assert all(way in said for way in ("node10", "node16 (from ESM)", "bundler"))


@pytest.mark.parametrize("options", RESOLUTIONS.values(), ids=RESOLUTIONS)
def test_right_uses_compile(project: Path, options: tuple[str, ...]) -> None:
    """Every call and option of the contract has its type."""
    run_tool("tsc", *STRICT, *options, "right_use.ts", cwd=project)


def test_wrong_uses_do_not_compile(project: Path) -> None:
    """The compiler refuses each line of wrong_use.ts."""
    with pytest.raises(SystemExit) as refused:
        run_tool("tsc", *STRICT, *RESOLUTIONS["bundler"], "wrong_use.ts", cwd=project)
    found = {int(line) for line in re.findall(r"wrong_use\.ts\((\d+),\d+\): error", str(refused.value))}
    lines = (CHECKS / "wrong_use.ts").read_text().splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if line.startswith("Waylink.")}


def test_on_a_server_nothing_happens(project: Path) -> None:
    """Imported and called in Node.js: no error, no new global, no timer, and every promise resolves."""
    printed = json.loads(run_node("node", "--unhandled-rejections=strict", "in_node.mjs", cwd=project))
    assert printed["added"] == []
    assert set(printed["results"]) == {None}
    assert "Timeout" not in printed["timers"]


def test_everything_that_is_published_is_named() -> None:
    """The archive has the files that package.json names, and no other."""
    manifest = json.loads((ROOT / "sdk_dist" / "package.json").read_text())
    here = {path.name for path in (ROOT / "sdk_dist").iterdir()}
    assert here == {*manifest["files"], "package.json"}
