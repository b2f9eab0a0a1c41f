"""Spikes and drops in clicks by the hour, against a model that follows the document word by word."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median

import pytest

from backend.domain.alerts.hourly import HOUR, HourlyCounts, drop_at, episodes, spike_at

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
WEEK = timedelta(weeks=1)
SPIKE = partial(spike_at, factor=3, least=30)
DROP = partial(drop_at, least=20)


def counted(
    counts: list[int], known_since: datetime = START, *, is_last_partial: bool = False
) -> HourlyCounts:
    """These counts from START on."""
    return HourlyCounts(START, counts, known_since, is_last_partial)


def rhythm(weeks: int, night: int = 2, day: int = 40, weekend: int = 10) -> list[int]:
    """The clicks of whole weeks: few at night, many by day, and less at weekends."""

    def clicks(hour: int) -> int:
        if hour % 24 < 7:
            return night
        return weekend if hour // 24 % 7 > 4 else day

    return [clicks(hour) for hour in range(weeks * 168)]


def noisy(counts: list[int], seed: int) -> list[int]:
    """The counts as they would come by chance, with more scatter than chance alone has."""
    chance = random.Random(seed)
    return [_poisson(chance, chance.gammavariate(8, count / 8)) if count else 0 for count in counts]


def _poisson(chance: random.Random, average: float) -> int:
    limit, product, drawn = math.exp(-average), chance.random(), 0
    while product > limit:
        drawn, product = drawn + 1, product * chance.random()
    return drawn


def naive_spike(clicks: Mapping[datetime, int], at: datetime, known: datetime) -> bool:
    """The document's words about a spike, hour by hour."""
    most = []
    for week in (1, 2, 3, 4):
        hours = [at - week * WEEK + beside for beside in (-HOUR, timedelta(), HOUR)]
        if all(hour >= known and hour in clicks for hour in hours):
            most.append(max(clicks[hour] for hour in hours))
    if not most:
        return False
    usual = median(most)
    deviation = 1.4826 * median([abs(of_week - usual) for of_week in most])
    return (
        clicks[at] >= 30
        and clicks[at] >= 3 * usual
        and clicks[at] >= usual + 4 * max(deviation, math.sqrt(usual))
    )


def naive_drop(clicks: Mapping[datetime, int], at: datetime, known: datetime) -> bool:
    """The document's words about a drop, hour by hour."""
    weeks = [week for week in (1, 2, 3, 4) if at - week * WEEK >= known and at - week * WEEK in clicks]
    if len(weeks) < 2:
        return False
    for length in range(1, 169):
        before = []
        for week in weeks:
            hours = [at - week * WEEK - back * HOUR for back in range(length)]
            if any(hour < known or hour not in clicks for hour in hours):
                return False
            before.append(sum(clicks[hour] for hour in hours))
        if min(before) >= 20:
            return 50 * sum(clicks[at - back * HOUR] for back in range(length)) <= min(before)
    return False


@pytest.mark.parametrize("seed", range(12))
def test_the_document_says_the_same(seed: int) -> None:
    """Any history is judged as by the document: of any size, with gaps, bursts, and any beginning."""
    chance = random.Random(seed)
    counts = noisy(rhythm(chance.choice([2, 3, 5]), chance.choice([0, 1]), chance.choice([1, 5, 60])), seed)
    for _ in range(5):
        begin, length = chance.randrange(len(counts)), chance.choice([1, 4, 30])
        factor = chance.choice([0, 0, 5, 12])
        counts[begin : begin + length] = [factor * count for count in counts[begin : begin + length]]
    known = START + chance.choice([0, 1, 200]) * HOUR
    hourly, clicks = counted(counts, known), {START + n * HOUR: count for n, count in enumerate(counts)}
    for at in range(len(counts) - 200, len(counts)):
        moment = START + at * HOUR
        assert bool(SPIKE(hourly, at)) == naive_spike(clicks, moment, known), at
        assert bool(DROP(hourly, at)) == naive_drop(clicks, moment, known), at


@pytest.mark.parametrize(("night", "day", "weekend"), [(0, 1, 0), (2, 12, 4), (5, 60, 20), (300, 900, 400)])
def test_no_alert_of_weeks_as_usual(night: int, day: int, weekend: int) -> None:
    """Neither chance nor the rhythm of day and week is an alert, with few clicks and with many."""
    for seed in range(6):
        hourly = counted(noisy(rhythm(6, night, day, weekend), seed))
        assert episodes(hourly, SPIKE, 168, judges_partial=True) == []
        assert episodes(hourly, DROP, 168, judges_partial=False) == []


def test_a_spike_is_told_once_while_it_lasts() -> None:
    """It begins with its first hour, survives a lull of two hours, and is over behind its last one."""
    counts = rhythm(6)
    monday = 5 * 168 + 10
    for hour in (0, 1, 4):
        counts[monday + hour] = 400
    (episode,) = episodes(counted(counts), SPIKE, 168, judges_partial=True)
    assert episode.first.at == START + monday * HOUR
    assert (episode.first.clicks, episode.first.usual) == (400, 40)
    assert episode.end == START + (monday + 5) * HOUR
    (going_on,) = episodes(counted(counts[: monday + 6]), SPIKE, 168, judges_partial=True)
    assert (going_on.first, going_on.end) == (episode.first, None)


def test_the_mailing_of_each_week_is_no_spike() -> None:
    """What comes at the same hour in half of the weeks before is the rhythm of the week."""
    counts = rhythm(6)
    for week in (2, 4, 5):
        counts[week * 168 + 34] = 300
    assert episodes(counted(counts), SPIKE, 168, judges_partial=True) == []
    counts[2 * 168 + 34] = 40
    assert len(episodes(counted(counts), SPIKE, 168, judges_partial=True)) == 1


def test_an_hour_that_is_not_over() -> None:
    """It is a spike as soon as it has enough clicks, and never a drop, nor an hour of quiet."""
    counts = [*rhythm(5), *rhythm(1)[:10]]
    assert episodes(counted([*counts, 400], is_last_partial=True), SPIKE, 48, judges_partial=True)
    assert not episodes(counted([*counts, 0], is_last_partial=True), DROP, 48, judges_partial=False)
    assert episodes(counted([*counts, 0]), DROP, 48, judges_partial=False)


def test_few_clicks_get_more_time() -> None:
    """A link of one click an hour is silent for as long as each week before needed for twenty clicks."""
    counts = [1] * (5 * 168) + [0] * 30
    (episode,) = episodes(counted(counts), DROP, 168, judges_partial=False)
    assert episode.first.at == START + (5 * 168 + 19) * HOUR
    assert (episode.first.clicks, episode.first.hours, episode.first.usual) == (0, 20, 20)
    assert episode.end is None
    back = [*counts, *[1] * 3]
    (episode,) = episodes(counted(back), DROP, 168, judges_partial=False)
    assert episode.end == START + len(counts) * HOUR


def test_many_clicks_drop_to_next_to_nothing() -> None:
    """One click in fifty still is nothing: bots and caches go on where people do not."""
    usual = [500] * (5 * 168)
    assert episodes(counted([*usual, 10]), DROP, 24, judges_partial=False)
    assert not episodes(counted([*usual, 11]), DROP, 24, judges_partial=False)


def test_what_is_new_has_no_usual_clicks() -> None:
    """A launch is no spike in its first week, and its fading no drop in the second."""
    launch = [0] * 300 + [500] * 6 + [20] * 12 + [0] * 400
    known = START + 299 * HOUR
    assert episodes(counted(launch, known), SPIKE, 400, judges_partial=True) == []
    assert episodes(counted([*launch, *[0] * 30], known), DROP, 400, judges_partial=False) == []
