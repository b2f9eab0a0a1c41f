"""Which way imports point (ARCHITECTURE.md, "Which way imports point")."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import pairwise, permutations, product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = ROOT / "backend"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text().partition("## Which way imports point")[2]
DRIVERS = {"motor", "pymongo", "bson", "gridfs"}
# As `ruff format` writes it, also in a text that is code. To parse whole files takes ten times as long.
IMPORT = re.compile(r"^[ \t]*((?:from [\w.]+ )?import (?:\([^)]*\)|[^\n(]+))$", re.MULTILINE)
# What each room may import of ours besides itself: a folder's subject, or a file that stands alone.
MAY_IMPORT: dict[str, set[str]] = {
    # what the terms mean, and tools that know none of them
    "domain": set(),
    "concurrency": set(),
    "system": set(),
    "version": set(),
    "settings": {"domain", "system"},
    "environment": {"domain", "settings", "system"},
    "web_client": {"concurrency", "domain", "version"},
    "visitor_pages": {"concurrency", "domain"},
    "identity_providers": {"domain", "version", "web_client"},
    # what is kept, and what the interfaces work with
    "storage": {"concurrency", "domain", "settings", "system", "version"},
    "rate_limits": {"concurrency", "domain", "settings", "storage", "system"},
    "web": {"concurrency", "domain", "rate_limits", "settings", "storage", "system", "web_client"},
    # pieces that interfaces and the command line use
    "json_api": {"concurrency", "domain", "rate_limits", "storage", "web"},
    "archives": {"domain", "storage", "system"},
    "imports": {"domain", "storage", "system"},
    "alert_watch": {"domain", "storage", "system"},
    "destination_watch": {"concurrency", "domain", "storage", "system", "web_client"},
    "webhooks": {"concurrency", "domain", "storage", "system", "web_client"},
    "follow": {"concurrency", "domain", "storage", "system"},
    "mail": {"domain", "settings", "storage", "system"},
    "doctor": {
        "concurrency", "domain", "environment", "mail", "settings", "storage", "system", "web", "web_client",
    },
    # interfaces, which never import each other
    "rest_api": {"doctor", "domain", "json_api", "mail", "storage", "web", "web_client", "webhooks"},
    "sdk_api": {"concurrency", "domain", "json_api", "settings", "storage", "web"},
    "app_api": {"concurrency", "domain", "json_api", "storage", "web"},
    "scim_api": {"domain", "json_api", "storage", "system", "web"},
    "redirector": {"concurrency", "domain", "storage", "system", "visitor_pages", "web"},
    "dashboard": {
        "concurrency", "doctor", "domain", "identity_providers", "imports", "mail", "rate_limits", "storage",
        "visitor_pages", "web", "web_client", "webhooks",
    },
    "operations": {"concurrency", "domain", "storage", "web"},
    # what puts them together, and runs them
    "app": {
        "alert_watch", "app_api", "archives", "concurrency", "dashboard", "destination_watch", "environment",
        "json_api", "mail", "operations", "redirector", "rest_api", "scim_api", "sdk_api", "settings",
        "storage", "system", "web", "webhooks",
    },
    "serving": {"app", "concurrency", "domain", "operations", "settings", "system"},
    "cli": {
        "archives", "destination_watch", "doctor", "domain", "environment", "follow", "imports", "mail",
        "rate_limits", "serving", "settings", "storage", "system", "version", "web", "web_client", "webhooks",
    },
}  # fmt: skip
# What is beside the backend, and what of it each may import. Tests may import everything.
BESIDE: dict[str, set[str]] = {
    "app_sdk_src": set(),
    "benchmarks": {
        "app", "concurrency", "dashboard", "domain", "rate_limits", "redirector", "settings", "storage",
        "system",
    },
    "demo_site": {"app", "domain", "environment", "serving", "settings", "storage", "system"},
    "deploy": set(),
    "proxy_example": set(),
    "sdk_build": {"domain", "version"},
    "sdk_src": set(),
    "webhook_receiver": set(),
}  # fmt: skip


@cache
def imported_modules(file: Path) -> list[str]:
    """Every module that a file imports, at its head or inside a function."""
    found: list[str] = []
    for node in ast.parse("\n".join(IMPORT.findall(file.read_text()))).body:
        if isinstance(node, ast.Import):
            found += (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += (f"{node.module}.{name.name}" for name in node.names)
    return found


def room_of(module: str) -> str:
    """`storage` of `backend.storage.links.links`."""
    return module.split(".")[1]


def files(room: str) -> list[Path]:
    """The source files of a room: of its folder, or the file itself."""
    return sorted((BACKEND / room).rglob("*.py")) or [BACKEND / f"{room}.py"]


def files_beside(package: str) -> list[Path]:
    """The source files of a package beside the backend, without what npm has put there."""
    return [file for file in sorted((ROOT / package).rglob("*.py")) if "node_modules" not in file.parts]


def imported_rooms(sources: list[Path]) -> dict[str, str]:
    """The rooms that these files import, each with a file that does."""
    return {
        room_of(module): f"{file.relative_to(ROOT)} imports {module}"
        for file in sources
        for module in imported_modules(file)
        if module.startswith("backend.")
    }


def imports_of(packages: set[str], sources: list[Path]) -> dict[Path, str]:
    """Those of the files that import one of these installed packages, each with a sentence that says so."""
    return {
        file.relative_to(ROOT): f"{file.relative_to(ROOT)} imports {module}"
        for file in sources
        for module in imported_modules(file)
        if module.split(".")[0] in packages
    }


def drawn_interfaces() -> list[str]:
    """The rooms that ARCHITECTURE.md calls the interfaces."""
    said = re.search(r"The interfaces \((.*?)\) never import each other", ARCHITECTURE, re.DOTALL)
    assert said
    return re.findall(r"`(\w+)`", said[1])


def drawn_arrows() -> set[tuple[str, str]]:
    """The arrows of ARCHITECTURE.md, from room to room."""
    lines = re.findall(r"^ {4}(.* -> .*)$", ARCHITECTURE.partition("\n## ")[0], re.MULTILINE)
    named = {"interfaces": drawn_interfaces()}
    arrows: set[tuple[str, str]] = set()
    for line in lines:
        places = [re.findall(r"\w+", place) for place in line.split("->")]
        rooms = [[room for name in place for room in named.get(name, [name])] for place in places]
        arrows |= {arrow for left, right in pairwise(rooms) for arrow in product(left, right)}
    return arrows


@cache
def drawn_packages() -> dict[str, list[set[str]]]:
    """The packages of the rooms that have some, from those above to those below, as ARCHITECTURE.md has them.

    Some stand on one level. A file may be a package of its own; a room's name stands for all its other files.
    """
    lines = re.findall(r"^ {4}(\w+): +(.*)$", ARCHITECTURE.partition("\n## ")[0], re.MULTILINE)
    return {room: [set(re.findall(r"\w+", level)) for level in levels.split(">")] for room, levels in lines}


def package_of(room: str, place: tuple[str, ...]) -> str:
    """The package of a room that a module is in, by its place in the room: `links` of `links`, `tags`."""
    is_package = (BACKEND / room / place[0]).is_dir() or place[0] in set().union(*drawn_packages()[room])
    return place[0] if is_package else room


def imports_inside(room: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The imports of a room's modules by each other, but for those of its own `__init__`."""
    for file in files(room):
        place = file.relative_to(BACKEND / room).with_suffix("").parts
        for module in imported_modules(file):
            first, *imported = module.removeprefix("backend.").split(".")
            if module.startswith("backend.") and first == room and imported and place != ("__init__",):
                yield place, tuple(imported)


def folder_of(room: str, place: tuple[str, ...]) -> Path:
    """The folder that a module, or a name in one, is in; of a loose file its package."""
    path = BACKEND.joinpath(room, *place)
    while not path.is_dir():
        path = path.parent
    return path if path != BACKEND / room else path / package_of(room, place)


def folders_of_code(folder: Path) -> set[str]:
    """The folders in this one that have modules, at whatever depth."""
    return {path.relative_to(folder).parts[0] for path in folder.glob("*/**/*.py")}


def test_every_room_is_here() -> None:
    """A new or renamed room does not slip out of these tests."""
    rooms = {path.stem for path in BACKEND.iterdir() if path.suffix == ".py"} | folders_of_code(BACKEND)
    assert rooms - {"__init__"} == set(MAY_IMPORT)


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_rooms_import_only_what_lies_below(room: str) -> None:
    """domain imports nothing of ours, storage only domain, settings and tools that know no collection, the
    interfaces never each other; and what a room may import is what it does import."""
    found = {other: where for other, where in imported_rooms(files(room)).items() if other != room}
    assert [found[other] for other in found.keys() - MAY_IMPORT[room]] == []
    assert MAY_IMPORT[room] - found.keys() == set()


def test_imports_of_rooms_run_in_no_circle() -> None:
    """The rooms can be put in an order in which each imports only those before it."""
    TopologicalSorter(MAY_IMPORT).prepare()


def test_every_package_is_drawn() -> None:
    """A new or renamed package of a room does not slip out of these tests."""
    for room in MAY_IMPORT:
        folders = folders_of_code(BACKEND / room)
        own = {path.stem for path in (BACKEND / room).glob("*.py")} | {room}
        drawn = [name for level in drawn_packages().get(room, []) for name in level]
        assert len(drawn) == len(set(drawn)), room
        assert folders <= set(drawn) <= folders | own, room


@pytest.mark.parametrize("room", sorted(drawn_packages()))
def test_packages_import_only_those_below(room: str) -> None:
    """A package of a room imports only packages that ARCHITECTURE.md draws below it."""
    levels = {package: number for number, level in enumerate(drawn_packages()[room]) for package in level}
    found = {
        (package_of(room, place), package_of(room, imported)) for place, imported in imports_inside(room)
    }
    assert found, room
    assert [
        (one, other) for one, other in sorted(found) if one != other and levels[one] >= levels[other]
    ] == []


@pytest.mark.parametrize("room", sorted(drawn_packages()))
def test_imports_of_folders_run_in_no_circle(room: str) -> None:
    """Nor do folders inside packages import each other in a circle."""
    folders: dict[Path, set[Path]] = {}
    for place, imported in imports_inside(room):
        one, other = folder_of(room, place), folder_of(room, imported)
        if one != other:
            folders.setdefault(one, set()).add(other)
    TopologicalSorter(folders).prepare()


def test_only_storage_imports_the_driver() -> None:
    """The MongoDB driver can be replaced in one folder."""
    found = imports_of(DRIVERS, sorted(BACKEND.rglob("*.py")))
    assert [where for file, where in found.items() if file.parts[:2] != ("backend", "storage")] == []


@pytest.mark.parametrize(
    ("package", "importing"),
    [
        (
            "psycopg",
            [f"backend/follow/postgres/{name}.py" for name in ("erasure", "tables", "target")],
        ),
        ("hypercorn", ["backend/serving/hypercorn_server.py"]),
        ("motor", [f"backend/storage/driver/{name}.py" for name in ("connection", "lanes", "mongo")]),
        ("h11", ["backend/serving/hypercorn_server.py", "backend/serving/request_framing.py"]),
    ],
)
def test_few_files_know_a_package(package: str, importing: list[str]) -> None:
    """Another release of Hypercorn, or another server, concerns one file; its reader of requests two. Only
    `storage/driver` names Motor. Nothing needs PostgreSQL's driver, which is an extra, but the files that
    write into it."""
    assert [str(file) for file in imports_of({package}, sorted(BACKEND.rglob("*.py")))] == importing


def test_the_drawing_is_true() -> None:
    """Each arrow of ARCHITECTURE.md is an import that there is, and those it calls interfaces keep apart."""
    arrows = drawn_arrows()
    assert ("cli", "serving") in arrows
    assert [(left, right) for left, right in sorted(arrows) if right not in MAY_IMPORT[left]] == []
    apart = permutations(drawn_interfaces(), 2)
    assert [(left, right) for left, right in apart if right in MAY_IMPORT[left]] == []


def test_everything_beside_the_backend_is_here() -> None:
    """A new or renamed package of the repository does not slip out of these tests."""
    packages = {path.name for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert packages - {"backend", "tests"} == set(BESIDE)


@pytest.mark.parametrize("package", sorted(BESIDE))
def test_what_is_beside_imports_little_of_the_backend(package: str) -> None:
    """What stands alone (proxies, what sites load) imports nothing of it; and what a package may import is
    what it does import."""
    found = imported_rooms(files_beside(package))
    assert [found[room] for room in sorted(found.keys() - BESIDE[package])] == []
    assert BESIDE[package] - found.keys() == set()


def test_the_backend_imports_nothing_beside_it() -> None:
    """The service runs without its demo, its benchmarks and its tests."""
    found = imports_of({*BESIDE, "tests"}, sorted(BACKEND.rglob("*.py")))
    assert list(found.values()) == []


def test_domain_does_no_io() -> None:
    """The rules need nothing installed but what others keep: how browsers read addresses (`can_ada`), tables
    of host names' characters (`idna`), of currencies (`iso4217`), of time zones (`zoneinfo`) and of countries
    (a file of `tzdata`); and none of the standard library's ways of I/O."""
    allowed = {
        "can_ada", "idna", "iso4217", "zoneinfo",
        "__future__", "abc", "base64", "bisect", "collections", "contextlib", "dataclasses", "datetime",
        "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "html",
        "importlib", "ipaddress", "itertools", "json", "math", "operator", "re", "statistics", "string",
        "types", "typing", "unicodedata", "urllib", "uuid", "xml", "zlib",
    }  # fmt: skip
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files("domain")
        for module in imported_modules(file)
        if module.split(".")[0] not in allowed | {"backend"}
    ]
    assert wrong == []
