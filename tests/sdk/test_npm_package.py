"""The package in sdk_dist/: well-formed, well-typed, and harmless on a server."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from sdk_build.build import ROOT
from sdk_build.node import run_node
from tests.processes.service_process import ServiceProcess
from tests.sdk.npm_package import ARCHIVE, CHECKS, contents, install, pack, run_tool, unpack

# Everything is checked but TypeScript's own types, which takes as long again.
STRICT = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]
STRICT += ["--target", "es2022", "--skipDefaultLibCheck"]
BUNDLER = ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom"]
NODE = ["--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022"]
# Ways to compile in which a CommonJS file can only require a CommonJS module, or knows nothing of `exports`.
COMMONJS = {
    "node16": ["--module", "node16", "--moduleResolution", "node16"],
    "commonjs": ["--module", "commonjs", "--moduleResolution", "node10"],
}
RIGHT = ("right_use.ts", "right_use.cts", "tag_use.ts")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has installed the package, with the files of package_checks/."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"type": "module"}')
    unpack(folder)
    for file in CHECKS.glob("*_*.*s"):
        shutil.copy(file, folder)
    return folder


def test_publint_finds_nothing() -> None:
    """Package.json, exports and files agree, in every bundler's and runtime's eyes."""
    said = run_tool("publint", "--strict", cwd=ROOT / "sdk_dist")
    assert "All good!" in said


def test_are_the_types_wrong_finds_nothing(tmp_path: Path) -> None:
    """The types match the code in every way to resolve a package. (`waylink/global` has types alone.)"""
    options = ("--exclude-entrypoints", "global", "--no-color", "--no-emoji")
    said = run_tool("attw", str(ARCHIVE), *options, cwd=tmp_path)
    assert "No problems found" in said
    assert all(way in said for way in ("node10", "node16 (from CJS)", "node16 (from ESM)", "bundler"))


@pytest.fixture(scope="module")
def refused_in_node(project: Path) -> list[str]:
    """What the compiler says of all uses in Node.js: one run, since each takes as long as all."""
    uses = (*RIGHT, "wrong_use.ts")
    with pytest.raises(SystemExit) as refused:
        run_tool("tsc", *STRICT, *NODE, *uses, cwd=project)
    # Indented lines go on with what the one before them says.
    return re.findall(r"^\S.*", str(refused.value).removeprefix("tsc failed:\n"), re.MULTILINE)


def test_right_uses_compile(project: Path) -> None:
    """Every call and option of the contract has its type, with the browser's own types beside it, also for a
    script that imports nothing."""
    run_tool("tsc", *STRICT, *BUNDLER, "right_use.ts", "tag_use.ts", cwd=project)


@pytest.mark.parametrize("way", COMMONJS)
def test_right_uses_compile_to_commonjs(project: Path, way: str) -> None:
    """What TypeScript compiles to `require` finds the types of a CommonJS module, and those of the global."""
    run_tool("tsc", *STRICT, *COMMONJS[way], "--lib", "es2022", "right_use.cts", "tag_use.ts", cwd=project)


@pytest.mark.parametrize("use", RIGHT)
def test_right_uses_compile_in_node(refused_in_node: list[str], use: str) -> None:
    """So it has without them, and TypeScript lets a CommonJS file require the package, as Node.js does."""
    assert [said for said in refused_in_node if use in said] == []


def test_wrong_uses_do_not_compile(refused_in_node: list[str]) -> None:
    """The compiler refuses each line of wrong_use.ts, and nothing else."""
    found = [re.match(r"wrong_use\.ts\((\d+),\d+\): error", said) for said in refused_in_node]
    lines = (CHECKS / "wrong_use.ts").read_text().splitlines()
    expected = {number for number, line in enumerate(lines, 1) if line.startswith("Waylink.")}
    assert {match and int(match[1]) for match in found} == expected


def test_on_a_server_nothing_happens(project: Path) -> None:
    """Imported and called in Node.js: no error, no new global, no timer, and every promise resolves."""
    printed = json.loads(run_node("node", "--unhandled-rejections=strict", "in_node.mjs", cwd=project))
    assert printed["added"] == []
    assert set(printed["results"]) == {None, 0}  # the 0 says that nothing waits
    assert "Timeout" not in printed["timers"]


def test_commonjs_gets_the_same_sdk(project: Path) -> None:
    """`require` in Node.js gives the very objects that `import` gives: no second SDK, and nothing happens."""
    printed = json.loads(run_node("node", "--unhandled-rejections=strict", "in_node.cjs", cwd=project))
    assert printed == {"one": True, "lead": None, "attribution": None}


def test_a_node_that_requires_no_modules_gets_commonjs(project: Path) -> None:
    """Node.js before 20.19, and Jest, take the CommonJS module: its calls do what the other's do."""
    flags = ("--no-experimental-require-module", "--unhandled-rejections=strict")
    printed = json.loads(run_node("node", *flags, "in_node.cjs", cwd=project))
    assert printed == {"one": False, "lead": None, "attribution": None}


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
