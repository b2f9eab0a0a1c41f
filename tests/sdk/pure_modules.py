"""Loads modules of sdk_src/ under CPython, with stand-ins for what Transcrypt provides."""

from __future__ import annotations

import types
from typing import Any

from sdk_build.build import SOURCE


class JsText(str):
    """A text with the JavaScript members that the pure modules use."""

    __slots__ = ()

    def js_split(self, separator: str) -> JsList:
        """String.prototype.split."""
        return JsList(self.split(separator))


class JsList(list[Any]):
    """A list with the JavaScript members that the pure modules use."""

    @property
    def length(self) -> int:
        """Array.prototype.length."""
        return len(self)

    def shift(self) -> None:
        """Array.prototype.shift."""
        del self[0]

    def unshift(self, value: object) -> None:
        """Array.prototype.unshift."""
        self.insert(0, value)

    def join(self, separator: str) -> str:
        """Array.prototype.join."""
        return separator.join(self)


def load(name: str, **names: object) -> types.SimpleNamespace:
    """The names of one module; `names` are what the browser would provide."""
    # A list literal is a JavaScript array there, and has its members.
    code = (SOURCE / f"{name}.py").read_text().replace("found = ['']", "found = JsList([''])")
    scope: dict[str, Any] = {"__pragma__": lambda *_: None, "JsList": JsList}
    exec(compile(code, f"{name}.py", "exec"), scope)
    scope |= names
    return types.SimpleNamespace(**scope)
