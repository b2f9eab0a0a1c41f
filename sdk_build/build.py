"""Builds sdk_dist/ from sdk_src/, step by step."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.version import VERSION
from sdk_build.compressed import compress_served_files
from sdk_build.node import install_packages, run_node
from sdk_build.undeclared_names import refuse_undeclared_names

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "sdk_src"
LAYOUT = Path(__file__).parent / "layout.json"  # of waylink.js: see layout.js
TARGETS = {"waylink.js": ("script_tag", "iife"), "waylink.mjs": ("waylink", "esm")}
COMMONJS = "waylink.cjs"
# What a site loads beside the script for an option of `init`, with the module that does it. For script tags
# it is `waylink-links.js`, in the npm package `waylink/links`.
PARTS = {"links": "outbound_links", "domains": "other_domains", "privacy": "privacy_control"}
SENTENCES = "waylink.json"  # what `debug` says, by code; lies beside the script
WAYLINK_VERSION = f'"{VERSION}"'  # as a text of JavaScript
# Our own names that can be shortened: no browser API, request or stored value uses any of them.
PRIVATE_NAMES = """
change_device forget is_busy names outcome read remove resolve write
""".split()
ESBUILD = [
    "--bundle",
    "--target=es2020",
    "--charset=utf8",
    "--log-level=warning",
    f"--define:WAYLINK_VERSION={WAYLINK_VERSION}",
]
MINIFIED = [
    "--minify-syntax",
    "--minify-whitespace",
    "--sourcemap",
    "--legal-comments=none",
    f"--mangle-props=^({'|'.join(PRIVATE_NAMES)})$",
    "--mangle-quoted",
]
READABLE = ["--minify-syntax"]
_COMPRESS = {
    "passes": 6,
    "inline": 3,
    "lhs_constants": False,  # comparisons stay as they are written
    "unsafe": True,
    "unsafe_arrows": True,
    "unsafe_methods": True,
    "sequences": False,
}
TERSER = {"ecma": 2020, "compress": _COMPRESS}
# Most functions of the script tag's file run on a first visit. With this comment, Chromium compiles all of
# them in another thread, instead of each in the page's main thread when it is first called.
_COMPILED_AT_ONCE = {"preamble": "//# allFunctionsCalledOnLoad"}
FORMS: dict[str, dict[str, Any]] = {"esm": {"module": True}, "iife": {"format": _COMPILED_AT_ONCE}}
# Expressions that have a shorter one of the same value on every page.
SHORTER_EXPRESSIONS = {"address.protocol == 'https:'": "address.href [4] == 's'"}
_REGEXP = re.compile(r"RegExp \('((?:\\.|[^'\\])*)'(?:, '(\w+)')?\)")
_CAUSE = re.compile(r"__except0__\.__cause__ = null;")
# Variables only: constants, which have capitals, keep their null, and terser puts it where they are used.
_UNSET = re.compile(r"^(export var [a-z]\w*) = null;$", re.MULTILINE)
_IF_THERE = re.compile(r"(?<![\w.])([\w.]+(?: \[\w+\])?) && \1 ?(?=([.(\[]))")
_TYPE_OF_DOCUMENT = re.compile(r"typeof \(document\)")
# The line that esbuild writes above one of our modules.
MODULE_NAME = re.compile(r"^// (?!entry\b)(\w+)\.js$", re.MULTILINE)
_TIMESTAMP = re.compile(r"\A// Transcrypt'ed from Python, [^\n]*\n")


def build(destination: Path) -> None:
    """Write the built files to `destination`. The same sources always give the same bytes."""
    install_packages()
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # The first imports the module `waylink`.
        compiled = compile_module("script_tag", Path(folder), also=("parts", *PARTS.values()))
        refuse_undeclared_names(compiled)
        for file_name, (module, form) in TARGETS.items():
            scripts = shortened(compiled, form)
            bundle(scripts / f"{module}.js", destination / file_name, form)
            for part, part_module in PARTS.items():
                name = file_name.replace("waylink", f"waylink-{part}")
                bundle(scripts / f"{part_module}.js", destination / name, form)
                if form == "iife":
                    (destination / f"{name}.map").unlink()  # nobody serves it
        scripts = shortened(compiled, "cjs")
        bundle_for_require(scripts / "waylink.js", destination / COMMONJS)
        for part, part_module in PARTS.items():
            bundle_for_require(scripts / f"{part_module}.js", destination / f"waylink-{part}.cjs")
    sentences = json.loads((SOURCE / SENTENCES).read_text())
    (destination / SENTENCES).write_text(json.dumps(sentences, separators=(",", ":")))
    shutil.copyfile(ROOT / "LICENSE", destination / "LICENSE")
    compress_served_files(destination)


def compile_module(
    module: str, folder: Path, *, also: Sequence[str] = (), in_place: Path | None = None
) -> Path:
    """Compile a main module and all that it imports to JavaScript with source maps. Returns their folder.

    The modules `also` are compiled beside it. Those in the folder `in_place` take the places of ours.
    """
    sources = folder / "sdk_src"
    ignored = shutil.ignore_patterns("__target__", "__pycache__")
    for source in (SOURCE, in_place):
        if source:
            shutil.copytree(source, sources, ignore=ignored, dirs_exist_ok=True)
    options = ["-n", "-m", "-p", ".none", "-e", "6"]
    for name in (module, *also):
        afresh = ["-b"] if name == module else []  # without what an earlier run has left
        command = [sys.executable, "-m", "transcrypt", *afresh, *options, f"{name}.py"]
        done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
        if done.returncode or "Error" in done.stdout:
            raise SystemExit(f"Transcrypt could not compile {name}.py:\n{done.stdout}{done.stderr}")
    compiled = sources / "__target__"
    for script in compiled.glob("*.js"):
        _make_reproducible(script)
    return compiled


def _make_reproducible(script: Path) -> None:
    """Empty the line with the time of compilation. Line numbers stay the same for the source map."""
    script.write_text(_TIMESTAMP.sub("\n", script.read_text()))


def shortened(compiled: Path, form: str) -> Path:
    """A copy of the folder of compiled modules, each of them shortened for this form."""
    scripts = shutil.copytree(compiled, compiled.with_name(form))
    for script in scripts.glob("*.js"):
        shorten(script, form)
    return scripts


def shorten(script: Path, form: str) -> None:
    """Replace code that Transcrypt needs for Python by shorter JavaScript. Line numbers stay the same."""
    text = _CAUSE.sub("", _REGEXP.sub(_literal, script.read_text()))
    text = _UNSET.sub(r"\1;", text)  # undefined, which no code of ours tells from None
    for expression, shorter in SHORTER_EXPRESSIONS.items():
        text = text.replace(expression, shorter)
    text = _IF_THERE.sub(lambda match: match[1] + ("?" if match[2] == "." else "?."), text)
    if form == "iife":
        text = _TYPE_OF_DOCUMENT.sub("'object'", text)  # what a script tag loads runs in a browser
    script.write_text(text)


def _literal(call: re.Match[str]) -> str:
    """A regular expression as a literal, which is shorter than the call that Python has to write."""
    pattern = call[1].replace("\\\\", "\\").replace("/", "\\/")
    return f"/{pattern}/{call[2] or ''}"


def bundle(entry: Path, output: Path, form: str) -> None:
    """Bundle and minify `entry` with all its imports. `form` is `iife` or `esm` (an ES module)."""
    bundled = entry.with_name("bundled.js")
    run_esbuild(entry, bundled, form, MINIFIED)
    # The script tag's file is served with a `SourceMap` header, not with a comment that every visitor loads.
    url = f"{output.name}.map" if form == "esm" else None
    settings = {
        "input": str(bundled),
        "output": str(output),
        "terser": TERSER | FORMS[form],
        "map_url": url,
        "layout": str(LAYOUT) if form == "iife" and output.name in TARGETS else None,
    }
    run_node("node", "minify.js", json.dumps(settings))
    _name_sources_relatively(output.with_name(f"{output.name}.map"))


def bundle_for_require(entry: Path, output: Path) -> None:
    """Bundle `entry` into a CommonJS module. It stays readable, since no page loads it as it is."""
    run_esbuild(entry, output, "cjs", READABLE)
    output.write_text(MODULE_NAME.sub(r"// sdk_src/\1.py", output.read_text()))


def run_esbuild(entry: Path, output: Path, form: str, options: Sequence[str]) -> None:
    """Put a module and all that it imports into one file. It exports `Waylink`, also as the default."""
    start = entry.with_name("entry.js")
    write_entry = _write_part_entry if entry.stem in PARTS.values() else _write_entry
    external = write_entry(start, entry.name, form)
    chosen = [*ESBUILD, *options, *external, f"--format={form}", f"--outfile={output.absolute()}"]
    run_node("esbuild", start.name, *chosen, cwd=entry.parent)


def _write_entry(start: Path, name: str, form: str) -> list[str]:
    what = "import" if form == "iife" else "export {Waylink, Waylink as default} from"
    start.write_text(f"{what} './{name}';\n")
    return []


def _write_part_entry(start: Path, name: str, form: str) -> list[str]:
    """A part installs itself: on the page's `Waylink`, or on that of the module beside it, which stays there.

    Returns the option that tells esbuild so.
    """
    install = f"import {{ install }} from './{name}';\n"
    if form == "iife":
        start.write_text(f"{install}import {{ install_on_page as on }} from './parts.js';\non(install);\n")
        return []
    beside = f"./waylink.{'mjs' if form == 'esm' else 'cjs'}"
    start.write_text(f"{install}import {{ Waylink }} from '{beside}';\ninstall(Waylink);\n")
    return [f"--external:{beside}"]


def _name_sources_relatively(source_map: Path) -> None:
    """In the source map, name the Python files by their paths in this project.

    Otherwise these would be paths in the temporary folder.
    """
    content = json.loads(source_map.read_text())
    content["sources"] = [f"../sdk_src/{Path(name).name}" for name in content["sources"]]
    source_map.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False))
