"""What the build of the client for apps gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backend.version import VERSION
from sdk_build.app import (
    DIST,
    INJECTED,
    PLAINER_EXPRESSIONS,
    SCRIPT,
    SCRIPTS,
    SOURCE,
    TYPES,
    build_app,
    plainer,
    with_call_types,
)
from sdk_build.build import ROOT
from sdk_build.build import SOURCE as SHARED
from sdk_build.npm_archive import archive_name, packed
from sdk_build.undeclared_names import BROWSER, ENGINE

# The modules that the browser SDK has, too: queue, retries, identities and checks.
SHARED_MODULES = {"calls", "call_rules", "checks", "clock", "consent", "hashing", "ids", "outbox", "signals"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh build."""
    destination = tmp_path_factory.mktemp("app_sdk")
    build_app(destination)
    return destination


def test_app_sdk_dist_is_what_the_sources_give(built: Path) -> None:
    """The committed files equal a fresh build, byte for byte, and so does the archive (else: `make sdk`)."""
    for name in (*SCRIPTS.values(), "LICENSE"):
        assert (DIST / name).read_bytes() == (built / name).read_bytes(), name
    assert (DIST / archive_name(DIST)).read_bytes() == packed(DIST)


def test_what_apps_share_with_pages_is_the_same_python() -> None:
    """The bundle has the browser SDK's modules by name, and app_sdk_src/ has no other in their places."""
    bundled = set(re.findall(r"^// sdk_src/(\w+)\.py$", (DIST / SCRIPT).read_text(), re.MULTILINE))
    assert bundled == SHARED_MODULES
    assert all((SHARED / f"{name}.py").exists() for name in bundled)
    assert not bundled & {file.stem for file in SOURCE.glob("*.py")}


def test_calls_have_the_same_types_as_on_pages() -> None:
    """The committed types of the fields of calls are the browser SDK's (else: `make sdk`)."""
    types = (DIST / TYPES).read_text()
    assert with_call_types(types) == types
    assert (DIST / TYPES).with_suffix(".cts").read_text() == types
    assert with_call_types(types.replace("transaction_id", "order_id")) == types


def test_nothing_of_browsers_or_the_stock_runtime_is_left() -> None:
    """No name that only browsers have, none of Transcrypt's runtime, nothing React Native can't read."""
    script = (DIST / SCRIPT).read_text()
    names = set(re.findall(r"(?<![\w$.])[A-Za-z_$][\w$]*", re.sub(r'"[^"\n]*"|//.*', "", script)))
    assert not names & (BROWSER - ENGINE)
    assert not [name for name in ("js_", "__class__", "__kwargtrans__", "__in__") if name in script]
    assert plainer(script) == script


def test_what_the_build_replaces_is_in_the_sources() -> None:
    """An expression with a plainer one, and a name that is injected, are where the build looks for them."""
    texts = ((SHARED / f"{name}.py").read_text() for name in SHARED_MODULES)
    sources = "".join(texts).replace("\\\\", "\\")
    assert r"\p{Cc}" in PLAINER_EXPRESSIONS
    assert r"\p{Cc}" in sources
    assert "RegExp('^{" in sources
    assert all(re.search(rf"\b{name}\b", sources) for names in INJECTED.values() for name in names)


def test_the_package_has_waylinks_version() -> None:
    """The client tells it to the service, the package has it, and the docs name the archive with it."""
    assert f'"js/{VERSION}"' in (DIST / SCRIPT).read_text()
    assert archive_name(DIST) == f"waylink-app-{VERSION}.tgz"
    for text in (DIST / "README.md", ROOT / "docs" / "app-protocol.md"):
        assert set(re.findall(r"waylink-app-[\d.]+tgz", text.read_text())) == {archive_name(DIST)}
