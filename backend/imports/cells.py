"""The cells of a row in our columns, made from what stands in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from backend.imports.row import COLUMNS
from backend.imports.template import Template

# A whole short URL in one column, instead of domain and path.
SHORT_URL = "short_url"
# What templates may call the path, and what they may name besides the columns of the file.
_PATH = "path"
IN_TEMPLATES = (*COLUMNS, SHORT_URL, _PATH)
# A path that no link can have: so a short URL without a path is refused, and no path is generated.
_NO_PATH = "/"

Defaults = Mapping[str, Template]


def place_of(short_url: str) -> dict[str, str]:
    """Domain and path of a short URL as cells. The URL may lack its scheme, as in files of some services."""
    try:
        parts = urlsplit(short_url if "://" in short_url else f"https://{short_url}")
    except ValueError:
        return {"domain": short_url, "selected_path": _NO_PATH}
    return {"domain": parts.netloc, "selected_path": parts.path.removeprefix("/") or _NO_PATH}


def parse_defaults(texts: Mapping[str, str], columns: Iterable[str]) -> dict[str, Template]:
    """The templates for columns of ours; they may name `columns` of the file. Raises InvalidTemplate."""
    known = {*IN_TEMPLATES, *filter(None, columns)}
    return {name: Template.parse(text, known) for name, text in texts.items()}


def settled(
    cells: Mapping[str, str], theirs: Mapping[str, str], defaults: Defaults, moved: Mapping[str, str]
) -> dict[str, str]:
    """The cells with a short URL taken apart, defaults where a cell is missing, and the domain's new name.

    `theirs` are the cells of the row by the file's own names, which templates may name; `moved` maps domains
    to those that their links are put on.
    """
    done = dict(cells)
    if SHORT_URL in done:
        done |= place_of(done.pop(SHORT_URL))
    for name, template in defaults.items():
        if not done.get(name, "").strip():
            done.pop(name, None)
            path = done.get("selected_path", "")
            values = {**theirs, **cells, **done, _PATH: "" if path == _NO_PATH else path}
            if text := template.fill(values):
                done[name] = text
    if done.get("domain") in moved:
        done["domain"] = moved[done["domain"]]
    return done
