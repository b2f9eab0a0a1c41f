"""Association files: Apple and Google fetch them from a domain, so that phones open its links in an app."""

from __future__ import annotations

import json
from typing import Any

from backend.concurrency.side_threads import SHORT_WORK
from backend.concurrency.timed_cache import TimedCache
from backend.domain.taps.apple_file import apple_file_content
from backend.domain.taps.google_file import google_file_content
from backend.domain.taps.path_rules import PathRules
from backend.domain.web.client import Platform
from backend.redirector.answers.answer import Answer, file
from backend.storage.accounts.apps import find_apps
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.links.path_rules import find_path_rules

APPLE = frozenset({".well-known/apple-app-site-association", "apple-app-site-association"})
ANDROID = ".well-known/assetlinks.json"
_TEN_MINUTES = 600
_READ_SECONDS = 0.8
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
    """The file, with the rules for the paths that open in the app; None if the domain has no such app.

    Links that are disabled or open in the browser never open the app (decisions).
    """
    with deadline(_READ_SECONDS):
        apps = await find_apps(database, domain)
    content: Any
    if path == ANDROID and apps.android:
        content = google_file_content(apps.android, await _rules(database, domain, Platform.ANDROID))
    elif path in APPLE and apps.ios:
        content = apple_file_content(apps.ios, await _rules(database, domain, Platform.IOS))
    else:
        return None
    body = await SHORT_WORK.run(domain, lambda: json.dumps(content, separators=(",", ":")).encode())
    return file(b"application/json", body, _TEN_MINUTES, tagged=True)


async def _rules(database: Database, domain: str, platform: Platform) -> PathRules:
    with deadline(2 * _READ_SECONDS):  # of two reads
        return await find_path_rules(database, domain, platform)
