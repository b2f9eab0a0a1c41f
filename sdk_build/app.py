"""Builds app_sdk_dist/ from app_sdk_src/ and sdk_src/: what apps share with pages is the same Python.

A module of app_sdk_src/ takes the place of the browser SDK's of the same name.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from sdk_build.build import MODULE_NAME, ROOT, WAYLINK_VERSION, compile_module, shorten
from sdk_build.build import SOURCE as SHARED
from sdk_build.node import install_packages, run_node
from sdk_build.undeclared_names import ENGINE, refuse_undeclared_names

SOURCE = ROOT / "app_sdk_src"
DIST = ROOT / "app_sdk_dist"
MODULE = "waylink_app"
SCRIPT = "index.js"
SCRIPTS = {"esm": SCRIPT, "cjs": "index.cjs"}  # the ES module, and the CommonJS module
TYPES = "index.d.ts"
# Modules whose names stand in the place of those of a browser that the shared modules use.
INJECTED = {"injected": ("crypto", "AbortSignal"), "requests": ("fetch",)}
# What React Native's engine does not read, or not in every version, and the same in words that it reads.
PLAINER_EXPRESSIONS = {r"\p{Cc}": r"\x00-\x1f\x7f-\x9f", "/^{": r"/^\{"}
_ENTRY = f"""
export {{ Waylink, Waylink as default }} from './{MODULE}.js';
export {{
  memory_storage as memoryStorage,
  preferences_storage as preferencesStorage,
  file_storage as fileStorage,
  linking_addresses as linkingAddresses,
  capacitor_addresses as capacitorAddresses,
  capacitor_fetch as capacitorFetch,
}} from './adapters.js';
"""
# Of the fields of calls, from the first interface to the last.
_CALL_TYPES = re.compile(
    r"^export interface Identity \{.*^export interface EventFields \{.*?^\}$", re.DOTALL | re.MULTILINE
)
_BANNER = "// waylink-app: compiled from Python; its sources are app_sdk_src/ and sdk_src/ of Waylink."


def build_app(destination: Path) -> None:
    """Write the built files to `destination`. The same sources always give the same bytes."""
    install_packages()
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        compiled = compile_module(MODULE, Path(folder), also=("adapters", "injected"), in_place=SOURCE)
        refuse_undeclared_names(compiled, ENGINE)
        for script in compiled.glob("*.js"):
            shorten(script, "esm")
            script.write_text(plainer(script.read_text()))
        for form, name in SCRIPTS.items():
            bundle_app(compiled, destination / name, form)
    shutil.copyfile(ROOT / "LICENSE", destination / "LICENSE")


def with_call_types(types: str) -> str:
    """The client's types, with those of the browser SDK for the fields of calls, which are the same."""
    shared = _CALL_TYPES.search((ROOT / "sdk_dist" / TYPES).read_text())
    assert shared
    return _CALL_TYPES.sub(lambda _: shared[0].replace("in the browser", "on the device"), types)


def plainer(script: str) -> str:
    """The script in words that every engine of apps reads."""
    for expression, plain in PLAINER_EXPRESSIONS.items():
        script = script.replace(expression, plain)
    return script


def bundle_app(compiled: Path, output: Path, form: str) -> None:
    """Bundle the compiled modules into one that can be read: an app's own build makes it small.

    `form` is `esm` (an ES module) or `cjs` (a CommonJS module).
    """
    (compiled / "entry.js").write_text(_ENTRY)
    run_node(
        "esbuild",
        "entry.js",
        "--bundle",
        "--minify-syntax",
        f"--format={form}",
        "--target=es2020",
        "--charset=utf8",
        "--log-level=warning",
        f"--banner:js={_BANNER}",
        f"--define:WAYLINK_VERSION={WAYLINK_VERSION}",
        *(f"--inject:./{name}.js" for name in INJECTED),
        "--outfile=bundled.js",
        cwd=compiled,
    )
    output.write_text(MODULE_NAME.sub(_python_name, (compiled / "bundled.js").read_text()))


def _python_name(heading: re.Match[str]) -> str:
    """The line that esbuild writes above a module, with the Python file that it was."""
    folder = SOURCE if (SOURCE / f"{heading[1]}.py").exists() else SHARED
    return f"// {folder.name}/{heading[1]}.py"
