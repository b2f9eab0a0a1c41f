"""The package in app_sdk_dist/: well-formed and well-typed, also for `require`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from sdk_build.app import DIST
from sdk_build.node import run_node
from sdk_build.npm_archive import archive_name
from tests.sdk.npm_package import run_tool, unpack

CHECKS = Path(__file__).parent / "package_checks"
STRICT = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]
STRICT += ["--skipDefaultLibCheck", "--target", "es2022", "--lib", "es2022,dom"]
MODULES = ["--module", "esnext", "--moduleResolution", "bundler"]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[int]]:
    """The lines that the compiler refuses, by file, in a project that has installed the package."""
    project = tmp_path_factory.mktemp("project")
    unpack(project, DIST / archive_name(DIST), "waylink-app")
    for file in CHECKS.glob("*.ts"):
        shutil.copy(file, project)
    (project / "node.d.ts").write_text(
        "declare module 'node:fs/promises' {\n"
        "  function readFile(path: string, encoding: 'utf8'): Promise<string>;\n"
        "  function writeFile(path: string, data: string): Promise<void>;\n"
        "  function rename(oldPath: string, newPath: string): Promise<void>;\n"
        "}\n"
    )
    with pytest.raises(SystemExit) as said:
        run_tool("tsc", *STRICT, *MODULES, "right_use.ts", "wrong_use.ts", "node.d.ts", cwd=project)
    found = re.findall(
        r"^(\S+)\((\d+),\d+\): error", str(said.value).removeprefix("tsc failed:\n"), re.MULTILINE
    )
    return {name: {int(line) for file, line in found if file == name} for name, _ in found}


def test_right_uses_compile(refused: dict[str, set[int]]) -> None:
    """Every call, option and adapter has its type, also with the platforms' own modules."""
    assert refused.keys() == {"wrong_use.ts"}


def test_wrong_uses_do_not_compile(refused: dict[str, set[int]]) -> None:
    """The compiler refuses each line of wrong_use.ts, and nothing else."""
    lines = (CHECKS / "wrong_use.ts").read_text().splitlines()
    assert refused["wrong_use.ts"] == {n for n, line in enumerate(lines, 1) if line.startswith("Waylink.")}


def test_the_package_is_well_formed(tmp_path: Path) -> None:
    """Package.json, exports, files and types agree, in every way to resolve a package."""
    assert "All good!" in run_tool("publint", "--strict", cwd=DIST)
    said = run_tool("attw", str(DIST / archive_name(DIST)), "--no-color", "--no-emoji", cwd=tmp_path)
    assert "No problems found" in said
    assert all(way in said for way in ("node10", "node16 (from CJS)", "node16 (from ESM)", "bundler"))


@pytest.mark.parametrize("flag", ["--experimental-require-module", "--no-experimental-require-module"])
def test_node_requires_the_client(tmp_path: Path, flag: str) -> None:
    """Node.js that can require ES modules, and Node.js (or Jest) that can't, have the client and adapters."""
    unpack(tmp_path, DIST / archive_name(DIST), "waylink-app")
    code = "const sdk = require('waylink-app'); console.log(typeof sdk.Waylink.init, typeof sdk.fileStorage)"
    assert run_node("node", "--no-warnings", flag, "-e", code, cwd=tmp_path) == "function function\n"
