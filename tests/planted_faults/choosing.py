"""Chooses where faults are planted: at random places, spread over the rooms of the house."""

from __future__ import annotations

import ast
import hashlib
import random
import textwrap
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tests.planted_faults.changes import changed
from tests.planted_faults.faults import ROOMS, Fault

_MOST_LINES = 6


def choose(root: Path, count: int, seed: int) -> list[Fault]:
    """About so many faults, at most one in each function, spread over the rooms of the house."""
    chosen: list[Fault] = []
    dice = random.Random(seed)
    rooms = [
        [(path, function) for path in room for function in _functions(path)]
        for name in ROOMS
        for room in _rooms(root / name)
    ]
    weights = [
        len(places) ** 0.5 for places in rooms
    ]  # small rooms get more than their size, large ones less
    for places, weight in zip(rooms, weights, strict=True):
        dice.shuffle(places)
        found = (fault for path, function in places if (fault := _one(root, path, function, dice)))
        chosen.extend(islice(found, round(count * weight / sum(weights))))
    return chosen


def _rooms(folder: Path) -> Iterator[list[Path]]:
    """The folders right below, each with all files in it, and the files of the folder itself."""
    own = sorted(folder.glob("*.py"))
    if own:
        yield own
    for below in sorted(path for path in folder.iterdir() if path.is_dir()):
        if files := sorted(below.rglob("*.py")):
            yield files


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def _one(
    root: Path, path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef, dice: random.Random
) -> Fault | None:
    """One of the changes to the function's statements, whose lines stand once in the file."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    options: list[tuple[str, str]] = []
    for statement in _simple_statements(function):
        assert statement.end_lineno
        last = _last_own_line(statement)
        before = "".join(lines[statement.lineno - 1 : last])
        if last - statement.lineno >= _MOST_LINES or text.count(before) != 1:
            continue
        for other in changed(statement):
            after = _written(other, statement, before)
            if after and after != before:
                options.append((before, after))
    if not options:
        return None
    before, after = dice.choice(options)
    name = path.relative_to(root).as_posix()
    digest = hashlib.sha256(f"{name}{before}{after}".encode()).hexdigest()[:8]
    return Fault(digest, name, before, after)


def _simple_statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.stmt]:
    waiting = list(function.body)
    while waiting:
        statement = waiting.pop(0)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        yield statement
        waiting.extend(child for child in _below(statement) if isinstance(child, ast.stmt))


def _below(statement: ast.stmt) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from child.body
        else:
            yield child


def _last_own_line(statement: ast.stmt) -> int:
    """The last line of the statement's head, or of all of it where it has no body."""
    body = getattr(statement, "body", None)
    assert statement.end_lineno
    return body[0].lineno - 1 if body else statement.end_lineno


def _written(other: ast.stmt, statement: ast.stmt, before: str) -> str | None:
    """The changed statement as lines at its place; of one with a body, its head."""
    indent = " " * statement.col_offset
    if isinstance(other, (ast.Try, ast.Match)) or not before.startswith(indent):
        return None
    if before.startswith(f"{indent}elif"):
        return None
    head = ast.unparse(ast.fix_missing_locations(_without_body(other)))
    return textwrap.indent(head.removesuffix("\n    pass"), indent) + "\n"


def _without_body(statement: ast.stmt) -> ast.stmt:
    """The statement; of one with a body, only its head and a `pass`."""
    if getattr(statement, "body", None):
        statement.body = [ast.Pass()]  # type: ignore[attr-defined]
    if getattr(statement, "orelse", None):
        statement.orelse = []  # type: ignore[attr-defined]
    return statement
