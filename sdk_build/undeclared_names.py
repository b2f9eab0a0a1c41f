"""Refuses compiled output that needs Transcrypt's own runtime, which changes the prototypes of the page.

What Transcrypt can't express in plain JavaScript, it compiles to a call of its runtime (`len`, `__in__`,
`__kwargtrans__`, ...). Our runtime has no such functions, so their names are declared neither in the module
nor by the browser. Transcrypt's output is so regular that declarations can be found with regular expressions.
"""

from __future__ import annotations

import re
from pathlib import Path

KEYWORDS = set(
    """
    as async await break case catch class const continue default delete do else export extends false finally
    for from function if import in instanceof let new null of return super switch this throw true try typeof
    undefined var void while yield
    """.split()
)
BROWSER = set(
    """
    AbortSignal Array Date JSON Math Number Object Promise Proxy Reflect RegExp TextEncoder TypeError
    URL URLSearchParams Uint8Array addEventListener arguments clearTimeout console crypto document
    Document fetch history History globalThis location navigator setTimeout top window
    """.split()
)
OUR_RUNTIME = {"dict", "tuple", "__envir__"}
BUILD_CONSTANTS = {"WAYLINK_VERSION"}

_TEXTS = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_NAME = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*")
_DECLARED = re.compile(r"\b(?:var|let|const|function|catch \()\s*([A-Za-z_$][\w$]*)")
_LISTS = re.compile(r"\bfunction\s*[\w$]*\s*\(([^)]*)\)|\bimport\s*\{([^}]*)\}|\bvar\s*\[([^\]]*)\]")


class StockRuntimeNeeded(ValueError):
    """The output uses names that neither it nor a browser declares."""


def refuse_undeclared_names(compiled: Path) -> None:
    """Raise StockRuntimeNeeded if a module in the folder `compiled` uses a name that is not declared."""
    for script in sorted(compiled.glob("*.js")):
        if not script.name.startswith("org.transcrypt"):
            wrong = ", ".join(undeclared_names(script.read_text()))
            if wrong:
                raise StockRuntimeNeeded(f"{script.stem}.py needs Transcrypt's own runtime for: {wrong}")


def undeclared_names(script: str) -> list[str]:
    """The names that a compiled module uses without declaring them."""
    code = _TEXTS.sub(" ", script)
    return sorted(
        set(_NAME.findall(code)) - _declared(code) - KEYWORDS - BROWSER - OUR_RUNTIME - BUILD_CONSTANTS
    )


def _declared(code: str) -> set[str]:
    lists = (" ".join(groups) for groups in _LISTS.findall(code))
    return set(_DECLARED.findall(code)) | {name for name_list in lists for name in _NAME.findall(name_list)}
