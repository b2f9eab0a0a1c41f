"""What is asked of facts: a query, of its period or of the one that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from backend.domain.analytics.period import QUARTER_SECONDS, Spans
from backend.domain.analytics.query import LINK_FIELDS, TIMES, Field, Filter, Query
from backend.storage.analytics.conditions.tags import TagChoice

QUARTER_MS = QUARTER_SECONDS * 1000
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What is counted by `group_by` in the spans.

    `labels` are those of all parts of the time, in the order of texts. Only clicks of blocks up to
    `last_block` are seen, None for all. Single clicks have expired up to the day `summed_until`, counted from
    1970; None if none have. `sold` is the table with the sales of these spans.
    """

    query: Query
    spans: Spans
    group_by: tuple[Field, ...]
    labels: Sequence[str]
    tags: TagChoice | None = None
    last_block: int | None = None
    summed_until: int | None = None
    sold: str = "sold"

    @property
    def in_all(self) -> Asked:
        """The same without groups, as totals are."""
        return replace(self, group_by=())

    @property
    def start(self) -> int:
        """The first millisecond."""
        return self.spans.first * QUARTER_MS

    @property
    def end(self) -> int:
        """The millisecond behind the last one."""
        return self.spans.end * QUARTER_MS

    @property
    def has_time(self) -> bool:
        """Whether rows are by a part of the time."""
        return not TIMES.isdisjoint(self.group_by)

    @property
    def link_groups(self) -> list[Field]:
        """What rows are by of links."""
        return [each for each in self.group_by if each in LINK_FIELDS]

    @property
    def link_filters(self) -> Mapping[Field, Filter]:
        """The filters of what links are, but for that of tags."""
        filters = self.query.filters.items()
        return {name: each for name, each in filters if name in LINK_FIELDS and name is not Field.TAG}

    @property
    def filters_links(self) -> bool:
        """Whether only some links count, so that what no link led to does not, either."""
        return not LINK_FIELDS.isdisjoint(self.query.filters)

    @property
    def columns(self) -> list[str]:
        """The names of the columns of what rows are by, in the order of `group_by`."""
        return [f"g{number}" for number in range(len(self.group_by))]


def grouped_by(columns: int) -> str:
    """What groups by the first columns: also by constants, which GROUP BY ALL leaves out."""
    return f"GROUP BY {', '.join(str(each + 1) for each in range(columns))}" if columns else ""
