"""Finds the link that somebody may have meant by a path that no link has."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.domains.orphans import Orphan
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database
from backend.storage.links.links import NAME

# All links of a domain are compared if it has at most so many; else those whose path begins alike.
MOST_COMPARED = 10_000
_MOST_ALIKE = 1_000
_BEGINNING = 2  # characters
_SHORTEST_BEGINNING = 4  # characters of a path that may be the beginning of a cut one
_MOST_BEGUN = 100  # paths that begin with a cut one
_AT_THE_END = re.compile(r"[^A-Za-z0-9]+$")
_LIVE = {"is_enabled": True, "hold": None}


async def with_nearest(
    database: Database, org_id: OrgId, domain: str, orphans: Sequence[Orphan], short_urls: ShortUrlForm
) -> list[tuple[Orphan, str | None]]:
    """Each of these orphans of the domain with the short URL of the link that is most like it, if one is."""
    nearest = await find_nearest(database, org_id, domain, [orphan.path for orphan in orphans])
    return [
        (orphan, short_urls.write(domain, nearest[orphan.path]) if orphan.path in nearest else None)
        for orphan in orphans
    ]


async def find_nearest(
    database: Database, org_id: OrgId, domain: str, paths: Sequence[str]
) -> dict[str, str]:
    """For each of these paths the path of the enabled link on the domain that is most like it, if one is."""
    every = await _paths(database, org_id, domain, {}, MOST_COMPARED + 1)
    if len(every) <= MOST_COMPARED:
        candidates = await LONG_WORK.run(org_id, partial(Candidates.of, every))
        return _found({path: await _nearest(org_id, path, candidates) for path in paths})
    found: dict[str, str | None] = {}
    for path in paths:
        beginning = {"path": {"$regex": f"^{re.escape(path[:_BEGINNING])}"}}
        alike = await _paths(database, org_id, domain, beginning, _MOST_ALIKE)
        found[path] = await _nearest(org_id, path, Candidates.of(alike))
    return _found(found)


async def _paths(
    database: Database, org_id: OrgId, domain: str, beginning: Mapping[str, object], most: int
) -> list[str]:
    query = {"domain": domain, "org_id": org_id, **_LIVE, **beginning}
    cursor = database[NAME].find(query, {"path": 1, "_id": 0}).limit(most)
    return [document["path"] for document in await cursor.to_list(most)]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Paths of links in lower case, sorted, and as they are."""

    lowered: list[str]
    paths: list[str]

    @classmethod
    def of(cls, paths: Iterable[str]) -> Candidates:
        """The candidates of these paths."""
        pairs = sorted((path.lower(), path) for path in paths)
        return cls([lowered for lowered, _ in pairs], [path for _, path in pairs])

    def beginning(self, text: str) -> list[str]:
        """Some paths that begin with this text in lower case."""
        first = bisect_left(self.lowered, text)
        several = range(first, min(first + _MOST_BEGUN, len(self.paths)))
        return [self.paths[place] for place in several if self.lowered[place].startswith(text)]

    def above(self, text: str) -> list[str]:
        """The paths that this text in lower case lies below."""
        parts = text.split("/")
        starts = ("/".join(parts[:number]) for number in range(1, len(parts)))
        places = ((start, bisect_left(self.lowered, start)) for start in starts)
        return [
            self.paths[place]
            for start, place in places
            if place < len(self.paths) and self.lowered[place] == start
        ]


async def _nearest(org_id: OrgId, path: str, candidates: Candidates) -> str | None:
    return await LONG_WORK.run(org_id, partial(nearest_path, path, candidates))


def _found(nearest: Mapping[str, str | None]) -> dict[str, str]:
    return {path: found for path, found in nearest.items() if found}


def nearest_path(path: str, candidates: Candidates) -> str | None:
    """The candidate that is most like the path; None if none is like it.

    Case, and characters such as a full stop at the end, do not count. Else a candidate has to begin with the
    path, or the path has to lie below one, or a fourth of the characters at most may differ.
    """
    # Its import takes a tenth of a second, and few questions need it.
    from rapidfuzz.distance import OSA  # noqa: PLC0415
    from rapidfuzz.process import extractOne  # noqa: PLC0415

    asked = _AT_THE_END.sub("", path).lower()
    if not asked:
        return None
    most = max(1, len(asked) // 4)
    if match := extractOne(asked, candidates.lowered, scorer=OSA.distance, score_cutoff=most):
        return candidates.paths[match[2]]
    begun = candidates.beginning(asked) if len(asked) >= _SHORTEST_BEGINNING else []
    begun += candidates.above(asked)
    return min(begun, key=lambda choice: (abs(len(choice) - len(asked)), choice), default=None)
