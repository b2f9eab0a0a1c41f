"""What lets phones open a domain's links in an app: files on the domain, fetched by Apple and Google."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from backend.domain.apps import Apps
from backend.redirector.answer import Answer, file, plain
from backend.storage.apps import find_apps
from backend.storage.links import list_app_paths, list_browser_paths
from backend.storage.mongo import Database

APPLE = frozenset({".well-known/apple-app-site-association", "apple-app-site-association"})
ANDROID = ".well-known/assetlinks.json"
_TEN_MINUTES = 600
# Apple takes less than 128 KB; a path of one character takes 12 bytes, so no more than this many fit.
_MOST_BYTES = 127_000
_MOST_PATHS = 11_000
_NO_LINKS = [{"/": f"*.qr.{kind}", "exclude": True} for kind in ("svg", "png")]
Component = dict[str, Any]


async def association_file(database: Database, domain: str, path: str) -> Answer:
    """The file at one of the paths above; 404 where the domain has no such app."""
    apps = await find_apps(database, domain)
    content = _asset_links(apps) if path == ANDROID else await _app_site_association(database, domain, apps)
    if content is None:
        return plain(404, "No app is set for this domain.\n")
    return file(b"application/json", _json(content), _TEN_MINUTES)


async def _app_site_association(database: Database, domain: str, apps: Apps) -> dict[str, Any] | None:
    """The paths that open in the app; "open in browser" and disabled links never do (decisions)."""
    if apps.ios is None:
        return None
    components = all_but(await list_browser_paths(database, domain, _MOST_PATHS))
    if not _fit(components):
        components = _first_that_fit(only(await list_app_paths(database, domain, _MOST_PATHS)))
    return {"applinks": {"details": [{"appIDs": [apps.ios.app_id], "components": components}]}}


def all_but(paths: Iterable[str]) -> list[Component]:
    """Every path but these and QR codes; the first component that matches decides."""
    return [*({"/": f"/{path}", "exclude": True} for path in paths), *_NO_LINKS, {"/": "*"}]


def only(paths: Iterable[str]) -> list[Component]:
    """These paths, and no others."""
    return [{"/": f"/{path}"} for path in paths]


def _fit(components: Sequence[Component]) -> bool:
    return len(_json(components)) < _MOST_BYTES


def _first_that_fit(components: Sequence[Component]) -> list[Component]:
    """As many as Apple takes. Links that are left out open the browser, and the App Store from there."""
    ends = accumulate(len(_json(each)) + 1 for each in components)
    return [each for each, end in zip(components, ends, strict=True) if end < _MOST_BYTES]


def _asset_links(apps: Apps) -> list[dict[str, Any]] | None:
    if apps.android is None:
        return None
    target = {
        "namespace": "android_app",
        "package_name": apps.android.package,
        "sha256_cert_fingerprints": list(apps.android.fingerprints),
    }
    return [{"relation": ["delegate_permission/common.handle_all_urls"], "target": target}]


def _json(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
