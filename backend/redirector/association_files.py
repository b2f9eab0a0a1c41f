"""What lets phones open a domain's links in an app: files on the domain, fetched by Apple and Google."""

from __future__ import annotations

import json
from typing import Any

from backend.domain.apps import Apps
from backend.redirector.answer import Answer, file, plain
from backend.storage.apps import find_apps
from backend.storage.links import list_app_paths
from backend.storage.mongo import Database

APPLE = frozenset({".well-known/apple-app-site-association", "apple-app-site-association"})
ANDROID = ".well-known/assetlinks.json"
_TEN_MINUTES = 600
# Apple reads 128 KB at most; a path takes up to 512 bytes and its punctuation.
_MOST_PATHS = 1000


async def association_file(database: Database, domain: str, path: str) -> Answer:
    """The file at one of the paths above; 404 where the domain has no such app."""
    apps = await find_apps(database, domain)
    content = _asset_links(apps) if path == ANDROID else await _app_site_association(database, domain, apps)
    if content is None:
        return plain(404, "No app is set for this domain.\n")
    return file(b"application/json", json.dumps(content).encode(), _TEN_MINUTES)


async def _app_site_association(database: Database, domain: str, apps: Apps) -> dict[str, Any] | None:
    """The paths of links that open in the app; "open in browser" and disabled links are left out."""
    if apps.ios is None:
        return None
    paths = await list_app_paths(database, domain, _MOST_PATHS)
    details = {"appIDs": [apps.ios.app_id], "components": [{"/": f"/{path}"} for path in paths]}
    return {"applinks": {"details": [details]}}


def _asset_links(apps: Apps) -> list[dict[str, Any]] | None:
    if apps.android is None:
        return None
    target = {
        "namespace": "android_app",
        "package_name": apps.android.package,
        "sha256_cert_fingerprints": list(apps.android.fingerprints),
    }
    return [{"relation": ["delegate_permission/common.handle_all_urls"], "target": target}]
