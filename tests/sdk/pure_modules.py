"""Loads modules of sdk_src/ under CPython, with stand-ins for what Transcrypt and the browser provide.

The stand-ins are the members of JavaScript's built-ins that the modules use, with JavaScript's results. That
the compiled modules behave the same is shown by the browser tests, which need no stand-in.
"""

from __future__ import annotations

import ast
import json
import re
import types
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from sdk_build.build import SOURCE


class Undefined:
    """A property that an object lacks."""

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Undefined)

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False


class JsText(str):
    """A text with the members that the pure modules use."""

    __slots__ = ()

    @property
    def length(self) -> int:
        """Its number of UTF-16 units; the tests use texts of one unit a character."""
        return len(self)

    def js_split(self, separator: str | Pattern) -> JsList:
        """String.prototype.split, by a text or by an expression."""
        if isinstance(separator, Pattern):
            return JsList(map(JsText, separator.expression.split(self)))
        return JsList(JsText(part) for part in self.split(separator))

    def js_replace(self, pattern: str | Pattern, replacement: str) -> JsText:
        """String.prototype.replace, of a text or of an expression."""
        if isinstance(pattern, Pattern):
            by = (
                replacement if isinstance(replacement, str) else lambda found: replacement(found[0], found[1])
            )
            return JsText(pattern.expression.sub(by, self, pattern.most))
        return JsText(self.replace(pattern, replacement, 1))

    def slice(self, start: int, end: int) -> JsText:
        """String.prototype.slice."""
        return JsText(self[start:end])

    def includes(self, part: str) -> bool:
        """String.prototype.includes."""
        return part in self

    def match(self, pattern: str | Pattern) -> JsList | None:
        """String.prototype.match of one match; [^] is any character."""
        source = pattern.source if isinstance(pattern, Pattern) else pattern
        found = re.search(source.replace("[^]", "(?s:.)").replace("$", r"\Z"), self, re.ASCII)
        return JsList([found[0], *found.groups()]) if found else None

    def trim(self) -> JsText:
        """String.prototype.trim."""
        return JsText(self.strip())

    def toLowerCase(self) -> JsText:  # noqa: N802 - JavaScript's name
        """String.prototype.toLowerCase."""
        return JsText(self.lower())

    def __add__(self, other: str) -> JsText:
        return JsText(str(self) + other)


class JsList(list[Any]):
    """An array with the members that the pure modules use."""

    @property
    def length(self) -> int:
        """Array.prototype.length."""
        return len(self)

    def __getitem__(self, index: Any) -> Any:
        """The element, or undefined past the end."""
        past_the_end = isinstance(index, int) and index >= len(self)
        return Undefined() if past_the_end else super().__getitem__(index)

    def concat(self, *others: Any) -> JsList:
        """Array.prototype.concat: lists are joined, other values appended."""
        return JsList(
            [
                *self,
                *(element for other in others for element in (other if isinstance(other, list) else [other])),
            ]
        )

    def map(self, change: Any) -> JsList:
        """Array.prototype.map, with the place of each value."""
        return JsList(change(value, place) for place, value in enumerate(self))

    def forEach(self, run: Any) -> None:  # noqa: N802 - JavaScript's name
        """Array.prototype.forEach."""
        for value in self:
            run(value)

    def push(self, value: object) -> None:
        """Array.prototype.push."""
        self.append(value)

    def shift(self) -> None:
        """Array.prototype.shift."""
        del self[0]

    def unshift(self, value: object) -> None:
        """Array.prototype.unshift."""
        self.insert(0, value)

    def splice(self, start: int, count: int | None = None) -> JsList:
        """Array.prototype.splice without insertions."""
        end = len(self) if count is None else start + count
        removed = JsList(self[start:end])
        del self[start:end]
        return removed

    def slice(self, start: int, end: int | None = None) -> JsList:
        """Array.prototype.slice."""
        return JsList(self[start:end])

    def join(self, separator: str) -> JsText:
        """Array.prototype.join."""
        return JsText(separator.join(self))


class JsObject(dict[str, Any]):
    """An object: its properties are attributes and items, and one that it lacks is undefined."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __missing__(self, name: str) -> Undefined:
        return Undefined()


class Pattern:
    """RegExp; the digits and spaces of JavaScript's classes are those of ASCII."""

    def __init__(self, source: str, flags: str = "") -> None:
        assert flags in {"", "g"}
        self.source = source
        self.expression = re.compile(source.replace("[^]", "(?s:.)"), re.ASCII)
        self.most = 0 if flags else 1  # replacements; 0 is all of them

    def test(self, text: str | None) -> bool:
        """RegExp.prototype.test, which takes no text for the word `undefined`."""
        return self.expression.search("undefined" if text is None else text) is not None


class URLSearchParams:
    """URLSearchParams, as far as its parameters."""

    def __init__(self, search: str) -> None:
        self.pairs = parse_qsl(search.removeprefix("?"), keep_blank_values=True)

    def __iter__(self) -> Iterator[JsList]:
        """Each parameter with its value."""
        return iter([JsList(map(JsText, pair)) for pair in self.pairs])


def js_type(value: object) -> str:
    """`typeof`."""
    names = {str: "string", JsText: "string", bool: "boolean", int: "number", float: "number"}
    return "undefined" if isinstance(value, Undefined) else names.get(type(value), "object")


BUILT_INS: dict[str, Any] = {
    "__pragma__": lambda *_: None,
    "__new__": lambda made: made,
    "JsList": JsList,
    "JsObject": JsObject,
    "JsText": JsText,
    "JSON": types.SimpleNamespace(
        stringify=lambda value: JsText(json.dumps(value, separators=(",", ":"), ensure_ascii=False)),
        parse=json.loads,
    ),
    "RegExp": Pattern,
    "URLSearchParams": URLSearchParams,
    "typeof": js_type,
}


class _Literals(ast.NodeTransformer):
    """A list literal becomes an array, an object literal an object, and a text one with its members."""

    def visit_List(self, node: ast.List) -> ast.AST:
        """A list literal."""
        return _called("JsList", self.generic_visit(node))

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """An object literal."""
        return _called("JsObject", self.generic_visit(node))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A text."""
        return _called("JsText", node) if isinstance(node.value, str) else node


def _called(name: str, argument: ast.AST) -> ast.AST:
    assert isinstance(argument, ast.expr)
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [argument], []), argument)


def load(name: str, **names: object) -> types.SimpleNamespace:
    """The names of one module; `names` are what a test provides for it."""
    scope = BUILT_INS | names
    exec(_compiled(name), scope)
    return types.SimpleNamespace(**scope)


@cache
def _compiled(name: str) -> types.CodeType:
    """One module: property tests load theirs anew for each example."""
    tree = ast.parse((SOURCE / f"{name}.py").read_text(), f"{name}.py")
    tree.body = [statement for statement in tree.body if not isinstance(statement, ast.ImportFrom)]
    return compile(ast.fix_missing_locations(_Literals().visit(tree)), f"{name}.py", "exec")


def js(value: Any) -> Any:
    """A value of Python's as a page would give it."""
    if isinstance(value, dict):
        return JsObject({name: js(member) for name, member in value.items()})
    if isinstance(value, list):
        return JsList(js(element) for element in value)
    return JsText(value) if isinstance(value, str) else value
