"""The npm package in sites built with Vite and with esbuild, loaded in the browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from sdk_build.node import install_packages, run_node
from tests.browser.recording_server import SDK, RecordingServer
from tests.browser.visitor import Visitor
from tests.sdk.npm_package import CHECKS, install, run_tool


def build_with_vite(site: Path) -> Path:
    """What `vite build` makes of the site."""
    run_tool("vite", "build", "--logLevel", "error", cwd=site)
    return site / "dist"


def build_with_esbuild(site: Path) -> Path:
    """The site with its script bundled by esbuild."""
    install_packages()
    built = site / "built"
    options = (
        "--bundle",
        "--minify",
        "--format=esm",
        f"--outfile={built / 'main.js'}",
        "--log-level=warning",
    )
    run_node("esbuild", "main.js", *options, cwd=site)
    shutil.copy(site / "index.html", built)
    return built


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The sources of a small site that has installed the package."""
    folder = tmp_path / "site"
    shutil.copytree(CHECKS / "consumer", folder)
    install(folder)
    return folder


@pytest.mark.parametrize("build", [build_with_vite, build_with_esbuild])
def test_a_bundled_site_uses_the_package(
    page: Page, server: RecordingServer, site: Path, build: Callable[[Path], Path]
) -> None:
    """The check and the conversion arrive, and a click that an imported part tells; the default export is the
    named one, and what another file of the site requires is it, too; no global is added."""
    server.folder = build(site)
    page.goto(server.url("/index.html"))
    server.wait_for(3)
    page.wait_for_function("document.title === 'same object: true'")
    assert server.kinds == ["attribution", "conversion", "event"]
    assert not page.evaluate("'Waylink' in window")


def test_the_commonjs_module_works_in_a_page(visitor: Visitor) -> None:
    """In every engine: what Jest and old bundlers take starts, and sends to the name that a proxy has for the
    script."""
    visitor.open("/?utm_source=mail")
    code = json.dumps((SDK / "waylink.cjs").read_text())
    source = visitor.js(f"""(async (module) => {{
      new Function('module', {code})(module);
      await module.exports.default.init({{apiKey: 'k', baseUrl: '/a/hello.js'}});
      return module.exports.Waylink.getAttribution().utm_source;
    }})({{exports: {{}}}})""")
    assert (visitor.sent, source) == (["attribution"], "mail")
    assert visitor.server.requests[0]["path"] == "/a/hello"
