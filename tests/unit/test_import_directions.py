"""Which way imports point (ARCHITECTURE.md, "Which way imports point")."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = ROOT / "backend"
DRIVERS = {"motor", "pymongo", "bson", "gridfs"}
# What each room may import of ours besides itself: a folder's subject, or a file that stands alone.
MAY_IMPORT: dict[str, set[str]] = {
    # what the terms mean, and tools that know none of them
    "domain": set(),
    "concurrency": set(),
    "settings": {"domain", "setting_values"},
    "setting_values": set(),
    "block_list": {"concurrency", "domain"},
    "web_client": {"domain", "version"},
    "proxies": {"concurrency", "domain"},
    "qr_image": {"concurrency"},
    "sdk_files": set(),
    "file_answer": set(),
    "interpreter": set(),
    "passwords": {"domain"},
    "api_host": {"concurrency", "domain"},
    "clock": set(),
    "version": set(),
    # what is kept, and what every request handler works with
    "storage": {"clock", "concurrency", "domain", "settings"},
    "rate_limits": {"clock", "domain", "settings", "storage"},
    "current": {
        "block_list", "clock", "domain", "proxies", "rate_limits", "settings", "storage", "web_client",
    },
    # pieces that interfaces and the command line use
    "json_api": {"concurrency", "current", "domain", "rate_limits", "storage"},
    "archives": {"domain", "storage"},
    "imports": {"domain", "passwords", "storage"},
    "destination_watch": {"clock", "concurrency", "domain", "storage", "web_client"},
    "doctor": {"api_host", "domain", "settings", "storage"},
    # interfaces, which never import each other
    "rest_api": {
        "concurrency", "current", "domain", "file_answer", "json_api", "passwords", "storage", "web_client",
    },
    "sdk_api": {"concurrency", "current", "domain", "json_api", "sdk_files", "settings", "storage"},
    "app_api": {"current", "domain", "json_api", "storage"},
    "redirector": {
        "clock", "concurrency", "current", "domain", "passwords", "proxies", "qr_image", "storage",
    },
    "dashboard": {
        "concurrency", "current", "doctor", "domain", "file_answer", "passwords", "qr_image", "rate_limits",
        "sdk_files", "storage", "web_client",
    },
    "operations": {"concurrency", "current", "domain", "storage"},
    # what puts them together, and runs them
    "app": {
        "api_host", "app_api", "block_list", "clock", "current", "dashboard", "destination_watch",
        "interpreter", "json_api", "operations", "proxies", "rate_limits", "redirector", "rest_api",
        "sdk_api", "settings", "storage", "web_client",
    },
    "serving": {"app", "domain", "interpreter", "json_api", "operations", "settings"},
    "cli": {
        "api_host", "archives", "block_list", "clock", "destination_watch", "doctor", "domain", "imports",
        "passwords", "rate_limits", "serving", "settings", "storage", "version", "web_client",
    },
}  # fmt: skip


@cache
def imported_modules(file: Path) -> list[str]:
    """Every module that a file imports, at its head or inside a function."""
    found: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += (f"{node.module}.{name.name}" for name in node.names)
    return found


def room_of(module: str) -> str:
    """`storage` of `backend.storage.links`."""
    return module.split(".")[1]


def files(room: str) -> list[Path]:
    """The source files of a room: of its folder, or the file itself."""
    return sorted((BACKEND / room).rglob("*.py")) or [BACKEND / f"{room}.py"]


def imported_rooms(room: str) -> dict[str, str]:
    """The other rooms of ours that a room imports, each with a file that does."""
    return {
        room_of(module): f"{file.relative_to(ROOT)} imports {module}"
        for file in files(room)
        for module in imported_modules(file)
        if module.startswith("backend.") and room_of(module) != room
    }


def test_every_room_is_here() -> None:
    """A new or renamed room does not slip out of these tests."""
    rooms = {
        path.stem for path in BACKEND.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - {"__init__"} == set(MAY_IMPORT)


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_rooms_import_only_what_lies_below(room: str) -> None:
    """domain imports nothing of ours, storage only domain, the interfaces never each other; and what a room
    may import is what it does import."""
    found = imported_rooms(room)
    assert [found[other] for other in found.keys() - MAY_IMPORT[room]] == []
    assert MAY_IMPORT[room] - found.keys() == set()


def test_imports_of_rooms_run_in_no_circle() -> None:
    """The rooms can be put in an order in which each imports only those before it."""
    TopologicalSorter(MAY_IMPORT).prepare()


def test_only_storage_imports_the_driver() -> None:
    """The MongoDB driver can be replaced in one folder."""
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in sorted(BACKEND.rglob("*.py"))
        if "storage" not in file.relative_to(BACKEND).parts
        for module in imported_modules(file)
        if module.split(".")[0] in DRIVERS
    ]
    assert wrong == []


def test_domain_does_no_io() -> None:
    """The rules need nothing installed but tables that others keep, of host names' characters (`idna`), of
    currencies (`iso4217`), of time zones (`zoneinfo`) and of countries (a file of `tzdata`); and none of the
    standard library's ways of I/O."""
    allowed = {
        "idna", "iso4217", "zoneinfo",
        "__future__", "abc", "base64", "bisect", "collections", "dataclasses", "datetime", "decimal",
        "enum", "functools", "hashlib", "heapq", "hmac", "html", "importlib", "ipaddress", "itertools",
        "json", "math", "operator", "re", "string", "types", "typing", "unicodedata", "urllib", "uuid",
        "zlib",
    }  # fmt: skip
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files("domain")
        for module in imported_modules(file)
        if module.split(".")[0] not in allowed | {"backend"}
    ]
    assert wrong == []
