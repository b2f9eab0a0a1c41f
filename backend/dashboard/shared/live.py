"""What the page of a report of Live shows: counts of the last minutes, and the lines of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from backend.dashboard.analytics.figures import amount, meanings_of
from backend.domain.analytics.rows import Cell
from backend.domain.reports.live import LIVE_MINUTES, MOST_LIVE_ROWS, LiveAnswer, LiveCounts, LiveFigure

_MINUTE = timedelta(minutes=1)
LIVE_WORDS = f"The last {LIVE_MINUTES} minutes"
# Of which link a click is, or who gets the credit for a sale.
_NO_LINK = {LiveFigure.CLICKS: "A deleted link"}
_UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class LiveCard:
    """A number with the bars of its minutes: each a height in percent of the largest."""

    name: str
    total: str
    amounts: Sequence[str]
    heights: Sequence[float]


@dataclass(frozen=True, slots=True)
class LiveTable:
    """What was counted most, such as the links with most clicks."""

    name: str
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ShownLive:
    """The parts of the page. `minutes` are the rows of a table, the newest first, below `headings`."""

    cards: Sequence[LiveCard]
    tables: Sequence[LiveTable]
    headings: Sequence[str]
    minutes: Sequence[tuple[str, Sequence[int]]]
    notes: Sequence[str]
    words: Sequence[tuple[str, str]]


def shown_live(answer: LiveAnswer, zone: tzinfo) -> ShownLive:
    """What a page shows of the answer, by the clock of the zone."""
    counts = answer.counts
    return ShownLive(
        [_card(count) for count in counts],
        [table for count in counts if count.total for table in _tables(count)],
        [count.figure.measure.label for count in counts],
        [
            (f"{at.astimezone(zone):%H:%M}", [count.minutes[number] for count in counts])
            for number, at in reversed([*enumerate(_minutes(answer))])
        ],
        [_cut(count) for count in counts if count.is_cut],
        meanings_of([count.figure.measure for count in counts]),
    )


def lines_of_live(answer: LiveAnswer) -> list[list[Cell]]:
    """A line for each minute, the oldest first, in UTC."""
    heads: list[Cell] = ["minute", *(count.figure.value for count in answer.counts)]
    lines: list[list[Cell]] = [
        [at.isoformat(timespec="minutes"), *(str(count.minutes[number]) for count in answer.counts)]
        for number, at in enumerate(_minutes(answer))
    ]
    return [heads, *lines]


def _minutes(answer: LiveAnswer) -> list[datetime]:
    return [answer.since + number * _MINUTE for number in range(LIVE_MINUTES)]


def _card(counts: LiveCounts) -> LiveCard:
    most = max(counts.minutes)
    amounts = [f"{amount(sum_)} {currency}" for currency, sum_ in sorted(counts.revenue.items())]
    heights = [round(100 * count / most, 1) if most else 0.0 for count in counts.minutes]
    name = counts.figure.measure.label
    return LiveCard(name, f"{counts.total:,}{'+' * counts.is_cut}", amounts, heights)


def _tables(counts: LiveCounts) -> list[LiveTable]:
    name = counts.figure.measure.label
    no_link = _NO_LINK.get(counts.figure, "Without a link")
    return [
        LiveTable(f"{name} by link", [(link or no_link, f"{count:,}") for link, count in counts.links]),
        LiveTable(
            f"{name} by country", [(country or _UNKNOWN, f"{count:,}") for country, count in counts.countries]
        ),
    ]


def _cut(counts: LiveCounts) -> str:
    name = counts.figure.measure.label
    return f"{name}: there were more than {MOST_LIVE_ROWS:,}, of which the newest are counted here."
