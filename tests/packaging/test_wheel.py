"""The package that `pip install waylink` installs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from backend.web.sdk_files import app_archive, npm_archive
from tests.processes.demo_process import demo_process
from tests.processes.service_process import own_database

ROOT = Path(__file__).parents[2]
SOURCES = ("backend", "demo_site", "sdk_dist", "app_sdk_dist", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel installs, far from the checkout."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    made = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=made)
        else:
            shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The demo imports few of the modules, and compiles those.
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--target", str(target)]
    subprocess.run([*pip, *options, str(source)], check=True, capture_output=True, timeout=120)
    return target


def test_everything_is_in_the_wheel(
    installed: Path, mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Away from the checkout the service and the demo have their pages, styles, scripts and the SDK."""
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.chdir(tmp_path)
    where = [sys.executable, "-c", "import backend; print(backend.__file__)"]
    assert subprocess.run(where, check=True, capture_output=True, text=True).stdout.startswith(str(installed))
    command = [sys.executable, "-m", "demo_site"]
    with (
        own_database(mongodb_uri) as variables,
        demo_process(tmp_path / "data", command=command, **variables) as demo,
    ):
        api = demo.value("REST API").removesuffix("/serviceCore/pa/v1")
        shop = demo.value("Demo shop")
        for address in (
            f"{api}/waylink.js",
            f"{api}/waylink.js.map",
            f"{api}/waylink.json",
            f"{api}/{npm_archive()}",
            f"{api}/{app_archive()}",
            f"{demo.value('REST API')}/docs",
            f"{api}/sign-in",
            f"{shop}/",
            f"{shop}/static/shop.css",
            f"{shop}/static/shop/home.js",
        ):
            answer = httpx.get(address)
            assert (answer.status_code, bool(answer.content)) == (200, True), address
        packed = httpx.get(f"{api}/waylink.js", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["Content-Encoding"] == "gzip"
        error_page = httpx.get(f"{api}/gone", headers={"Host": "go.demo.localhost"})
        assert "<main" in error_page.text
