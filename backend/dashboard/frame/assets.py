"""/assets/: the dashboard's stylesheets and scripts. Each address contains a hash of the content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, public

FOLDER = Path(__file__).parents[1] / "static"
_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# The content at an address never changes, so browsers need not ask again.
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the dashboard, and its address."""

    address: str
    media_type: str
    content: bytes


@dashboard.get("/assets/<digest>/<name>")
@public
async def asset(digest: str, name: str) -> Response:
    """The file, if `digest` matches its content; else 404."""
    requested = assets().get(name)
    if requested is None or requested.address != f"/assets/{digest}/{name}":
        abort(404)
    headers = {"Cache-Control": _FOR_EVER}
    return Response(requested.content, content_type=f"{requested.media_type}; charset=utf-8", headers=headers)


def asset_address(name: str) -> str:
    """The address of a file in the folder `static`."""
    return assets()[name].address


@cache
def assets() -> dict[str, Asset]:
    """All files in the folder `static`, by name."""
    return {file.name: _read(file) for file in FOLDER.iterdir() if file.suffix in _MEDIA_TYPES}


def _read(file: Path) -> Asset:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    return Asset(f"/assets/{digest}/{file.name}", _MEDIA_TYPES[file.suffix], content)
