"""The package in sdk_dist/: well-formed, well-typed, and harmless on a server."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from sdk_build.build import ROOT
from sdk_build.node import run_node
from tests.sdk.npm_package import ARCHIVE, CHECKS, contents, install, pack, run_tool
from tests.service_process import ServiceProcess

# Everything is checked but TypeScript's own types, which takes as long again.
STRICT = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]
STRICT += ["--target", "es2022", "--skipDefaultLibCheck"]
RESOLUTIONS = {
    "bundler": ("--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom"),
    "Node.js": ("--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has installed the package, with the files of package_checks/."""
    folder = tmp_path_factory.mktemp("project")
    install(folder)
    for file in CHECKS.glob("*_*.*s"):
        shutil.copy(file, folder)
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
    said = run_tool("attw", str(ARCHIVE), *options, cwd=tmp_path)
    assert "No problems found" in said
    assert all(way in said for way in ("node10", "node16 (from ESM)", "bundler"))


@pytest.mark.parametrize("options", RESOLUTIONS.values(), ids=RESOLUTIONS)
def test_right_uses_compile(project: Path, options: tuple[str, ...]) -> None:
    """Every call and option of the contract has its type; with and without the browser's own types."""
    run_tool("tsc", *STRICT, *options, "right_use.ts", cwd=project)


def test_a_right_use_from_commonjs_compiles(project: Path) -> None:
    """TypeScript lets a CommonJS file require the package, as Node.js does."""
    run_tool("tsc", *STRICT, *RESOLUTIONS["Node.js"], "right_use.cts", cwd=project)


def test_wrong_uses_do_not_compile(project: Path) -> None:
    """The compiler refuses each line of wrong_use.ts."""
    with pytest.raises(SystemExit) as refused:
        run_tool("tsc", *STRICT, *RESOLUTIONS["Node.js"], "wrong_use.ts", cwd=project)
    found = {int(line) for line in re.findall(r"wrong_use\.ts\((\d+),\d+\): error", str(refused.value))}
    lines = (CHECKS / "wrong_use.ts").read_text().splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if line.startswith("Waylink.")}


def test_on_a_server_nothing_happens(project: Path) -> None:
    """Imported and called in Node.js: no error, no new global, no timer, and every promise resolves."""
    printed = json.loads(run_node("node", "--unhandled-rejections=strict", "in_node.mjs", cwd=project))
    assert printed["added"] == []
    assert set(printed["results"]) == {None}
    assert "Timeout" not in printed["timers"]


def test_commonjs_gets_the_same_sdk(project: Path) -> None:
    """`require` in Node.js gives the very objects that `import` gives: no second SDK, and nothing happens."""
    printed = json.loads(run_node("node", "--unhandled-rejections=strict", "in_node.cjs", cwd=project))
    assert printed == {"one": True, "lead": None, "attribution": None}


def test_the_service_hands_the_package_out(running: ServiceProcess, tmp_path: Path) -> None:
    """`npm install` takes the package from a running service's address, and it is the whole package."""
    install(tmp_path, f"{running.base_url}/{ARCHIVE.name}")
    installed = tmp_path / "node_modules" / "waylink"
    for name, content in contents(ARCHIVE).items():
        assert (installed / name.removeprefix("package/")).read_bytes() == content


def test_npm_would_pack_the_same_files(tmp_path: Path) -> None:
    """Our archive has the files that `npm pack` puts into its own, with the same content."""
    ours = contents(ARCHIVE)
    assert ours == contents(pack(tmp_path))
    assert {"package/LICENSE", "package/README.md", "package/index.d.ts"} <= set(ours)


def test_the_license_is_the_projects() -> None:
    """The package carries the license's text, not only its name."""
    assert (ROOT / "sdk_dist" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
