"""Makes the cells of a row in our columns from those in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from backend.imports.row import COLUMNS
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
    """Domain and path of a short URL as cells. The URL may lack its scheme, as in files of some services."""
    try:
        parts = urlsplit(short_url if "://" in short_url else f"https://{short_url}")
    except ValueError:
        return {"domain": short_url, "selected_path": _NO_PATH}
    return {"domain": parts.netloc, "selected_path": parts.path.removeprefix("/") or _NO_PATH}


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
