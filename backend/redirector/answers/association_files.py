"""Association files: Apple and Google fetch them from a domain, so that phones open its links in an app."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from backend.concurrency.side_thread import beside_the_loop
from backend.concurrency.timed_cache import TimedCache
from backend.domain.accounts.apps import Apps
from backend.redirector.answers.answer import Answer, file
from backend.storage.accounts.apps import find_apps
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.links.links import list_app_paths, list_browser_paths

APPLE = frozenset({".well-known/apple-app-site-association", "apple-app-site-association"})
ANDROID = ".well-known/assetlinks.json"
_TEN_MINUTES = 600
_READ_SECONDS = 0.8
# Apple takes less than 128 KB; a path of one character takes 12 bytes, so no more than this many fit.
_MOST_FILE_BYTES = 127_000
_MOST_PATHS = 11_000
_NO_LINKS = [{"/": f"*.qr.{kind}", "exclude": True} for kind in ("svg", "png")]
Component = dict[str, Any]
FileKey = tuple[str, str]  # a domain, and one of the paths above


class AssociationFiles(TimedCache[FileKey, Answer | None]):
    """Creates the files of each domain at most once in `LIFETIME` seconds, since anyone may request them.

    Phones cache a file for ten minutes, so one second more makes no difference. `get` returns None for a
    domain that has no app for this kind of file. It raises StorageError, within seconds if the database does
    not answer.
    """

    LIFETIME = 1.0
    CAPACITY = 100  # of 127 KB at most

    def __init__(self, database: Database) -> None:
        super().__init__(lambda key: _association_file(database, *key))


async def _association_file(database: Database, domain: str, path: str) -> Answer | None:
    with deadline(_READ_SECONDS):
        apps = await find_apps(database, domain)
    if path == ANDROID:
        content = _asset_links(apps)
    else:
        content = await _app_site_association(database, domain, apps)
    return file(b"application/json", content, _TEN_MINUTES, tagged=True) if content else None


async def _app_site_association(database: Database, domain: str, apps: Apps) -> bytes | None:
    """Apple's file, with the paths that open in the app; None if the domain has no iOS app.

    Links that are disabled or open in the browser are never among them (decisions).
    """
    if apps.ios is None:
        return None
    app_id = apps.ios.app_id
    with deadline(_READ_SECONDS):
        in_browser = await list_browser_paths(database, domain, _MOST_PATHS)
    content = await beside_the_loop(lambda: _site_association(app_id, all_but(in_browser)))
    if len(content) < _MOST_FILE_BYTES:
        return content
    with deadline(_READ_SECONDS):
        in_app = await list_app_paths(database, domain, _MOST_PATHS)
    return await beside_the_loop(lambda: _site_association(app_id, _first_that_fit(only(in_app))))


def _site_association(app_id: str, components: Sequence[Component]) -> bytes:
    return _json({"applinks": {"details": [{"appIDs": [app_id], "components": components}]}})


def all_but(paths: Iterable[str]) -> list[Component]:
    """Components for every path except these and QR codes. Apple uses the first component that matches."""
    return [*({"/": f"/{path}", "exclude": True} for path in paths), *_NO_LINKS, {"/": "*"}]


def only(paths: Iterable[str]) -> list[Component]:
    """Components for these paths only."""
    return [{"/": f"/{path}"} for path in paths]


def _first_that_fit(components: Sequence[Component]) -> list[Component]:
    """As many components as fit into Apple's size limit, from the start.

    Links that are left out open the browser, which sends visitors on to the App Store.
    """
    ends = accumulate(len(_json(component)) + 1 for component in components)
    return [component for component, end in zip(components, ends, strict=True) if end < _MOST_FILE_BYTES]


def _asset_links(apps: Apps) -> bytes | None:
    if apps.android is None:
        return None
    target = {
        "namespace": "android_app",
        "package_name": apps.android.package,
        "sha256_cert_fingerprints": list(apps.android.fingerprints),
    }
    return _json([{"relation": ["delegate_permission/common.handle_all_urls"], "target": target}])


def _json(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
