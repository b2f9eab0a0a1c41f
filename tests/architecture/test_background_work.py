"""Work in the background: whoever adds some says whether it is done for many, of which one may fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "backend"
TASKS = {"BackgroundTask", "LeasedTask", "PeriodicTask"}
# Work that is not done for many items, and why none of them can stop the others.
ALONE = {
    "asking whether MongoDB answers": "it asks for nothing that is stored",
    "following changes of links": "a document that can't be read is left out (storage/links/changes)",
    "keeping MongoDB running": "it is about a process",
    "keeping the file of links": "links that can't be read are not in the cache",
    "looking for news in feeds": "a head that can't be read is left to who reads that feed",
    "proving that changes are seen": "it writes a document of its own",
    "reading keys of {purpose}": "they are the installation's",
    "reading link domains": "a document that can't be read is left out (storage/accounts/domain_settings)",
    "reading settings of click ids": "it reads ids by one query",
    "reading the block list": "it is a file of the operator's",
    "shipping clicks": "records that can't be read are set aside",
    "shipping clicks left behind": "records that can't be read are set aside",
    "storing clicks that the disk did not take": "they are in memory, and have no fault of the stored",
    "storing orphan visits": "they are counts in memory",
    "telling redirects and waiting clicks": "it reads numbers of this process",
}


def _named() -> Iterator[str]:
    """What each task is called: a text, or a member of Work."""
    for path in BACKEND.rglob("*.py"):
        source = path.read_text()
        if any(task in source for task in TASKS):
            for node in ast.walk(ast.parse(source)):
                yield from _names_in(node)


def _names_in(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in TASKS:
            yield _text(first)
        case ast.ClassDef(bases=[ast.Name(id="LeasedTask")]):
            calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
            yield from (_text(call.args[0]) for call in calls if ast.unparse(call.func) == "super().__init__")


def _text(name: ast.expr) -> str:
    match name:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return ast.unparse(name)[2:-1]
    return ast.unparse(name)


def test_work_for_many_is_a_member_of_work() -> None:
    """So a fault of one stops no other (tests/background tries each member), and its failures are seen."""
    others = {name for name in _named() if not name.startswith("Work.") and name != "name"}
    assert others == ALONE.keys()
