"""Which links of a domain open its app on a system of phones, for the domain's association files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from backend.concurrency.side_threads import SHORT_WORK
from backend.domain.links.links import Behavior
from backend.domain.taps.path_rules import (
    MOST_BYTES,
    MOST_PATHS,
    NEARLY_FULL,
    Listing,
    PathRules,
    all_but,
    only,
)
from backend.domain.web.client import Platform
from backend.storage.driver.mongo import Database, Document
from backend.storage.links.links import HELD, NAME, NEWEST_FIRST, STAYS_IN_BROWSER

_PATH = {"path": 1, "forwards_path": 1}
_BEGINNINGS_AT_ONCE = 200
_BEHAVIORS = {Platform.IOS: "ios_behavior", Platform.ANDROID: "android_behavior"}


async def find_path_rules(database: Database, domain: str, platform: Platform) -> PathRules:
    """The rules of the domain's association file for this system."""
    in_browser = await _list_browser_paths(database, domain, platform)
    fitting = await SHORT_WORK.run(domain, lambda: all_but(in_browser))
    if fitting:
        most = await _with_exceptions(database, domain, fitting, _opening(domain, platform))
        if await SHORT_WORK.run(domain, lambda: most.size) < MOST_BYTES:
            return most
    in_app = await _list_app_paths(database, domain, platform)
    rules = await SHORT_WORK.run(domain, lambda: only(in_app))
    in_browser_only = {"domain": domain, "$nor": [_opening(domain, platform)]}
    whole = await _with_exceptions(database, domain, rules, in_browser_only)
    if await SHORT_WORK.run(domain, lambda: whole.size) < MOST_BYTES:
        return whole
    plain = tuple(path for path in rules.paths if not path.endswith("/*"))
    return PathRules(Listing.SOME_APP_LINKS, plain)  # rather too few open the app than a locked one


async def _with_exceptions(
    database: Database, domain: str, rules: PathRules, opposite: Document
) -> PathRules:
    """The rules with the links below their forwarding ones for which the opposite holds."""
    found: dict[str, None] = {}
    beginnings = rules.forwarding
    for at in range(0, len(beginnings), _BEGINNINGS_AT_ONCE):
        some = beginnings[at : at + _BEGINNINGS_AT_ONCE]
        below = [{"path": {"$gt": beginning, "$lt": f"{beginning}\uffff"}} for beginning in some]
        cursor = database[NAME].find({"$and": [opposite, {"domain": domain, "$or": below}]}, _PATH)
        documents = await cursor.limit(MOST_PATHS).to_list(MOST_PATHS)
        found |= {path: None for document in documents for path in _patterns(document)}
    return replace(rules, exceptions=tuple(found))


@dataclass(frozen=True, slots=True)
class FileFill:
    """How full a domain's association file is.

    `share` is the part of the size that phones take which the rules need. `left_out` is the number of links
    that should open the app and are not in the file.
    """

    listing: Listing
    share: float
    named: int
    left_out: int = 0

    @property
    def is_nearly_full(self) -> bool:
        """Whether people are told that the file fills up."""
        return self.share >= NEARLY_FULL


async def find_file_fill(database: Database, domain: str, platform: Platform) -> FileFill:
    """How full the domain's association file for this system is."""
    rules = await find_path_rules(database, domain, platform)
    share = await SHORT_WORK.run(domain, lambda: rules.size) / MOST_BYTES
    named = sum(not path.endswith("/*") for path in rules.paths)
    if rules.listing is not Listing.SOME_APP_LINKS:
        return FileFill(rules.listing, share, named)
    in_all = int(await database[NAME].count_documents(_opening(domain, platform)))
    return FileFill(rules.listing, share, named, max(0, in_all - named))


async def opens_any_app(database: Database, domain: str, platform: Platform) -> bool:
    """Whether the domain has a link that is to open the app."""
    return await database[NAME].find_one(_opening(domain, platform), {"_id": 1}) is not None


async def _list_app_paths(database: Database, domain: str, platform: Platform) -> list[str]:
    """Paths of a domain's enabled links that open in the app, newest first, as many as may fit."""
    opening = _opening(domain, platform)
    cursor = database[NAME].find(opening, _PATH).sort(NEWEST_FIRST).limit(MOST_PATHS)
    return [path for document in await cursor.to_list(MOST_PATHS) for path in _patterns(document)]


async def _list_browser_paths(database: Database, domain: str, platform: Platform) -> list[str]:
    """Paths of a domain's links that must not open in the app, as many as may fit.

    These are links that open in the browser, disabled ones, those that the operator holds, and those whose
    limits need the service.
    """
    behavior = _BEHAVIORS[platform]
    in_browser = {"domain": domain, behavior: Behavior.BROWSER.value}
    disabled = {"domain": domain, behavior: Behavior.APP.value, "is_enabled": False}
    stopped = {"$or": [in_browser, disabled, {"domain": domain} | HELD]}
    queries = [stopped, *({"domain": domain, **limit} for limit in STAYS_IN_BROWSER)]
    paths: dict[str, None] = {}
    for query in queries:
        cursor = database[NAME].find(query, _PATH).limit(MOST_PATHS)
        documents = await cursor.to_list(MOST_PATHS)
        paths |= {path: None for document in documents for path in _patterns(document)}
    return [*paths][:MOST_PATHS]


def _patterns(document: Document) -> Iterator[str]:
    """The patterns for the paths of a link: its own, and those below it if the link passes them on."""
    yield document["path"]
    if document.get("forwards_path"):
        yield f"{document['path']}/*"


def _opening(domain: str, platform: Platform) -> Document:
    app_links = {
        "domain": domain,
        "is_enabled": True,
        _BEHAVIORS[platform]: Behavior.APP.value,
        "hold": None,
    }
    return app_links | {"$nor": [*STAYS_IN_BROWSER]}
