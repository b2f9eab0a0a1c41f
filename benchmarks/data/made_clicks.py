"""Lines of click logs, as visitors of many kinds leave them, for benchmarks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from backend.domain.clicks.clicks import record_line
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.redirector.click_log.files import create_log

_CLIENTS = (
    '"desktop","Windows","Chrome","browser"',
    '"desktop","Mac OS X","Safari","browser"',
    '"desktop","Linux","Firefox","browser"',
    '"ios","iOS","Mobile Safari","browser"',
    '"android","Android","Chrome Mobile","browser"',
    '"android","Android","Facebook","in_app_browser"',
)
_COUNTRIES = ("US", "DE", "IN", "BR", "FR", "GB", "JP", None)
_REFERRERS = (None, None, None, *(f"site-{number}.example" for number in range(50)))


def made_lines(
    org_id: OrgId, link_ids: Sequence[LinkId], clicks: int, start: datetime, length: timedelta
) -> Iterator[bytes]:
    """So many clicks in the order of their times, of links drawn at random, by half as many visitors."""
    drawn = random.Random(clicks)  # noqa: S311 - no secret is drawn
    visitors = [drawn.randrange(HIGHEST_HASH) for _ in range(max(1, clicks // 2))]
    for number in range(clicks):
        yield record_line(
            org_id,
            drawn.choice(link_ids),
            drawn.choice(_CLIENTS),
            at=start + length * (number / clicks),
            outcome=Outcome.WEB,
            reason=None,
            country=drawn.choice(_COUNTRIES),
            referrer_host=drawn.choice(_REFERRERS),
            visitor=drawn.choice(visitors),
        )


def leave_behind(folder: Path, lines: Iterator[bytes]) -> None:
    """Write the lines to a click log in the folder that no process owns, as one that was killed leaves it."""
    log = create_log(folder)
    log.append([b"".join(lines)])
    log.close()
