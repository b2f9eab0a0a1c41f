"""Single clicks as a Parquet file, out of their columns."""

# ruff: noqa: S608 - names of columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from backend.domain.clicks.rows import COLUMNS, Selection, milliseconds_from
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.analytics.files import FileAnswer, FileQuestion
from backend.storage.analytics.parquet import write_parquet
from backend.storage.analytics.question import Facts

# The expression of each column of the file, in the order of `COLUMNS`.
_EXPRESSIONS = (
    'make_timestamptz("at" * 1000)',
    "link_id",
    "short_url",
    "reason IS NULL",
    "reason",
    "outcome",
    "platform",
    "system",
    "browser",
    "kind",
    "country",
    "referrer",
    "variant",
)
_COLUMNS = ", ".join(
    f"{expression} AS {name}" for expression, name in zip(_EXPRESSIONS, COLUMNS, strict=True)
)
# `beginnings` are those of short URLs, by domain. Requests that are added up have no kind of client.
_ROWS = f"""
    SELECT {_COLUMNS} FROM clicks JOIN (
        SELECT link, id AS link_id,
            ($beginnings::VARCHAR[])[list_position($domains::VARCHAR[], domain)] || path AS short_url
        FROM (SELECT * REPLACE (if(is_kept, domain, NULL) AS domain) FROM links)
        WHERE $link IS NULL OR id = $link
    ) USING (link)
    WHERE "at" >= $start AND "at" < $end AND kind IS NOT NULL
    ORDER BY "at", clicks.rowid
"""


@dataclass(frozen=True, slots=True)
class ClicksFile(FileQuestion):
    """The selected clicks as a Parquet file, sorted by time: columns as of `click_rows`, with types."""

    selection: Selection
    url_form: ShortUrlForm

    def write(self, facts: Facts, folder: Path) -> Generator[int, None, FileAnswer]:
        """Make the file, in one step."""
        yield 0
        rows = facts.connection.execute("SELECT DISTINCT domain FROM links WHERE is_kept").fetchall()
        domains = [domain for (domain,) in rows]
        values = {
            "start": milliseconds_from(self.selection.start),
            "end": milliseconds_from(self.selection.end),
            "link": self.selection.link_id,
            "domains": domains,
            "beginnings": [self.url_form.write(domain, "") for domain in domains],
        }
        path = folder / "clicks.parquet"
        return FileAnswer(str(path), write_parquet(facts.connection, _ROWS, values, path))
