"""Which way imports point (ARCHITECTURE.md, "Which way imports point")."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = ROOT / "backend"
DRIVERS = {"motor", "pymongo", "bson", "gridfs"}
SIBLINGS = {"rest_api", "sdk_api", "app_api"}
WHAT_ALL_USE = {"domain", "storage", "settings", "current"}
# What a room may import of ours; a room not named here is wiring and may import all of them.
MAY_IMPORT = {
    "domain": {"domain"},
    "storage": {"domain", "storage", "settings"},
    "json_api": {"json_api"} | WHAT_ALL_USE,
    **{room: {room, "json_api"} | WHAT_ALL_USE for room in SIBLINGS},
    "redirector": {"redirector", "json_api", "proxies", "qr_image"} | WHAT_ALL_USE,
    "dashboard": {"dashboard", "doctor", "passwords", "qr_image"} | WHAT_ALL_USE,
}


def imported_modules(file: Path) -> Iterator[str]:
    """Every module that a file imports, at its head or inside a function."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def room_of(module: str) -> str:
    """`storage` of `backend.storage.links`."""
    return module.split(".")[1]


def files(room: str) -> list[Path]:
    """The source files of a room."""
    return sorted((BACKEND / room).rglob("*.py"))


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_rooms_import_only_what_lies_below(room: str) -> None:
    """domain imports nothing of ours but itself, storage only domain, the APIs, the redirector and the
    dashboard never each other."""
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files(room)
        for module in imported_modules(file)
        if module.startswith("backend.") and room_of(module) not in MAY_IMPORT[room]
    ]
    assert wrong == []


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


def test_domain_imports_the_standard_library_only() -> None:
    """The rules need nothing installed, and none of the standard library's ways to do I/O."""
    allowed = {
        "__future__", "base64", "collections", "dataclasses", "datetime", "decimal", "enum", "functools",
        "hashlib", "hmac", "html", "ipaddress", "itertools", "json", "math", "re", "string", "types",
        "typing", "unicodedata", "urllib", "uuid",
    }  # fmt: skip
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files("domain")
        for module in imported_modules(file)
        if module.split(".")[0] not in allowed | {"backend"}
    ]
    assert wrong == []


def test_the_rooms_exist() -> None:
    """A room that is renamed does not slip out of these tests."""
    assert all(files(room) for room in MAY_IMPORT if room in {"domain", "storage"})
