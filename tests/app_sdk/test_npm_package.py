"""The types of the package in app_sdk_dist/."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from sdk_build.app import DIST
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
