"""Finds the link that somebody may have meant by a path that no link has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links.links import NAME

# All links of a domain are compared if it has at most so many; else those whose path begins alike.
MOST_COMPARED = 20_000
_MOST_ALIKE = 1_000
_BEGINNING = 2  # characters
_SHORTEST_BEGINNING = 4  # characters of a path that may be the beginning of a cut one
_AT_THE_END = re.compile(r"[^A-Za-z0-9]+$")
_LIVE = {"is_enabled": True, "hold": None}


async def find_nearest(
    database: Database, org_id: OrgId, domain: str, paths: Sequence[str]
) -> dict[str, str]:
    """For each of these paths the path of the enabled link on the domain that is most like it, if one is."""
    every = await _paths(database, org_id, domain, {}, MOST_COMPARED + 1)
    if len(every) <= MOST_COMPARED:
        return await beside_the_loop(partial(_nearest_of_each, paths, every))
    found: dict[str, str] = {}
    for path in paths:
        beginning = {"path": {"$regex": f"^{re.escape(path[:_BEGINNING])}"}}
        alike = await _paths(database, org_id, domain, beginning, _MOST_ALIKE)
        found |= await beside_the_loop(partial(_nearest_of_each, [path], alike))
    return found


async def _paths(
    database: Database, org_id: OrgId, domain: str, beginning: Mapping[str, object], most: int
) -> list[str]:
    query = {"domain": domain, "org_id": org_id, **_LIVE, **beginning}
    cursor = database[NAME].find(query, {"path": 1, "_id": 0}).limit(most)
    return [document["path"] for document in await cursor.to_list(most)]


def _nearest_of_each(paths: Sequence[str], choices: Sequence[str]) -> dict[str, str]:
    lowered = [choice.lower() for choice in choices]
    return {path: nearest for path in paths if (nearest := nearest_path(path, choices, lowered))}


def nearest_path(path: str, choices: Sequence[str], lowered: Sequence[str]) -> str | None:
    """The choice that is most like the path; None if none is like it. `lowered` are they in lower case.

    Case, and characters such as a full stop at the end, do not count. Else one choice has to begin with the
    path, or the path with one, or a fourth of the characters at most may differ.
    """
    # Its import takes a tenth of a second, and few questions need it.
    from rapidfuzz.distance import OSA  # noqa: PLC0415
    from rapidfuzz.process import extractOne  # noqa: PLC0415

    asked = _AT_THE_END.sub("", path).lower()
    if not asked:
        return None
    if match := extractOne(asked, lowered, scorer=OSA.distance, score_cutoff=max(1, len(asked) // 4)):
        return choices[match[2]]
    begun = [
        choice
        for choice, low in zip(choices, lowered, strict=True)
        if (len(asked) >= _SHORTEST_BEGINNING and low.startswith(asked)) or asked.startswith(f"{low}/")
    ]
    return min(begun, key=lambda choice: (abs(len(choice) - len(asked)), choice), default=None)
