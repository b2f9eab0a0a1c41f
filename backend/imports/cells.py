"""Makes the cells of a row in our columns from those in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult, urlsplit

from backend.domain.web.short_urls import link_path
from backend.imports.row import COLUMNS, LeftOut
from backend.imports.template import Template

# A whole short URL in one column, instead of domain and path.
SHORT_URL = "short_url"
# The path's name in templates, and the names that templates may have besides the columns of the file.
_PATH = "path"
IN_TEMPLATES = (*COLUMNS, SHORT_URL, _PATH)
# A path that no link can have. So a short URL without a path is refused, and no path is generated for it.
_NO_PATH = "/"

Defaults = Mapping[str, Template]


def place_of(short_url: str) -> dict[str, str]:
    """Domain and path of a short URL as cells. The URL may lack its scheme, as in files of some services.

    A path with characters that no link can have is taken as it is written, and refused later.
    """
    try:
        parts = _parts(short_url)
    except ValueError:
        return {"domain": short_url, "selected_path": _NO_PATH}
    path = link_path(parts.path.encode()) or parts.path.removeprefix("/")
    return {"domain": parts.netloc, "selected_path": path or _NO_PATH}


def left_out_of(short_url: str) -> tuple[LeftOut, ...]:
    """What of a short URL is left out, since a link is found by domain and path alone."""
    try:
        parts = _parts(short_url)
    except ValueError:
        return ()
    reason = "a link is found with and without it"
    found = {f"?{parts.query}": parts.query, f"#{parts.fragment}": parts.fragment}
    return tuple(LeftOut(SHORT_URL, text, reason) for text, value in found.items() if value)


def _parts(short_url: str) -> SplitResult:
    return urlsplit(short_url if "://" in short_url else f"https://{short_url}")


def parse_defaults(texts: Mapping[str, str], columns: Iterable[str]) -> dict[str, Template]:
    """The templates for columns of ours; they may name `columns` of the file. Raises InvalidTemplate."""
    field_names = {*IN_TEMPLATES, *filter(None, columns)}
    return {name: Template.parse(text, field_names) for name, text in texts.items()}


def completed_cells(
    cells: Mapping[str, str],
    file_cells: Mapping[str, str],
    defaults: Defaults,
    new_domains: Mapping[str, str],
) -> dict[str, str]:
    """The cells with the short URL's domain and path, defaults for missing cells, and the domain's new name.

    `file_cells` are the cells of the row by the file's own names, which templates may name; `new_domains`
    maps old domains to the links' new ones.
    """
    completed = dict(cells)
    if SHORT_URL in completed:
        completed |= place_of(completed.pop(SHORT_URL))
    for name, template in defaults.items():
        if not completed.get(name, "").strip():
            completed.pop(name, None)
            path = completed.get("selected_path", "")
            values = {**file_cells, **cells, **completed, _PATH: "" if path == _NO_PATH else path}
            if text := template.fill(values):
                completed[name] = text
    if completed.get("domain") in new_domains:
        completed["domain"] = new_domains[completed["domain"]]
    return completed
