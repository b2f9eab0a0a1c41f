"""What lets phones open a domain's links in an app: files on the domain, fetched by Apple and Google."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from backend.concurrency.timed_cache import TimedCache
from backend.domain.apps import Apps
from backend.redirector.answer import Answer, file
from backend.storage.apps import find_apps
from backend.storage.links import list_app_paths, list_browser_paths
from backend.storage.mongo import Database, deadline

APPLE = frozenset({".well-known/apple-app-site-association", "apple-app-site-association"})
ANDROID = ".well-known/assetlinks.json"
_TEN_MINUTES = 600
_READ_SECONDS = 0.8
# Apple takes less than 128 KB; a path of one character takes 12 bytes, so no more than this many fit.
_MOST_BYTES = 127_000
_MOST_PATHS = 11_000
_NO_LINKS = [{"/": f"*.qr.{kind}", "exclude": True} for kind in ("svg", "png")]
Component = dict[str, Any]


class AssociationFiles(TimedCache[tuple[str, str], Answer | None]):
    """The files of domains, each made at most once in `LIFETIME` seconds: anyone may ask for them.

    Phones believe a file for ten minutes, so that a second more changes nothing.
    """

    LIFETIME = 1.0
    CAPACITY = 100  # of 127 KB at most

    def __init__(self, database: Database) -> None:
        super().__init__(lambda key: _association_file(database, *key))
        self._making: dict[tuple[str, str], asyncio.Task[Answer | None]] = {}

    async def get(self, key: tuple[str, str]) -> Answer | None:
        """The file of a domain at one of the paths above; None where the domain has no such app.

        Raises StorageError, within a second where the database does not answer.
        """
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.create_task(super().get(key))
            making.add_done_callback(lambda _: self._making.pop(key))
        return await asyncio.shield(making)


async def _association_file(database: Database, domain: str, path: str) -> Answer | None:
    with deadline(_READ_SECONDS):
        apps = await find_apps(database, domain)
        if path == ANDROID:
            content: object = _asset_links(apps)
        else:
            content = await _app_site_association(database, domain, apps)
    return file(b"application/json", _json(content), _TEN_MINUTES) if content is not None else None


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
