"""Refuses compiled output that needs Transcrypt's own runtime, which changes the prototypes of the page.

What Transcrypt can't express in plain JavaScript, it compiles to a call of its runtime (`len`, `__in__`,
`__kwargtrans__`, ...). Our runtime has no such functions, so their names are declared neither in the module
nor by the browser. Transcrypt's output is so regular that declarations can be found with regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

KEYWORDS = set(
    """
    as async await break case catch class const continue default delete do else export extends false finally
    for from function if import in instanceof let new null of return super switch this throw true try typeof
    undefined var void while yield
    """.split()
)
# What engines have outside of browsers, too, and what the build puts into the place of browsers' names.
ENGINE = set(
    """
    AbortSignal Array Date JSON Math Number Object Promise RegExp TextEncoder TypeError URL URLSearchParams
    Uint8Array arguments clearTimeout console crypto fetch globalThis location setTimeout
    """.split()
)
BROWSER = ENGINE | set(
    """
    Document History Proxy Reflect StorageEvent addEventListener dispatchEvent document history navigator
    parseInt performance top window
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


def refuse_undeclared_names(compiled: Path, provided: Set[str] = BROWSER) -> None:
    """Raise StockRuntimeNeeded if a module in the folder `compiled` uses a name that is not declared.

    `provided` are the names that it finds where it runs.
    """
    for script in sorted(compiled.glob("*.js")):
        if not script.name.startswith("org.transcrypt"):
            wrong = ", ".join(undeclared_names(script.read_text(), provided))
            if wrong:
                raise StockRuntimeNeeded(f"{script.stem}.py needs Transcrypt's own runtime for: {wrong}")


def undeclared_names(script: str, provided: Set[str] = BROWSER) -> list[str]:
    """The names that a compiled module uses without declaring them, but for those that are provided."""
    code = _TEXTS.sub(" ", script)
    return sorted(
        set(_NAME.findall(code)) - _declared(code) - KEYWORDS - provided - OUR_RUNTIME - BUILD_CONSTANTS
    )


def _declared(code: str) -> set[str]:
    lists = (" ".join(groups) for groups in _LISTS.findall(code))
    return set(_DECLARED.findall(code)) | {name for name_list in lists for name in _NAME.findall(name_list)}
