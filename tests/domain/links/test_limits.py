"""Limits of links: when they lead where."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome, decide, fallback_url, possible_targets
from backend.domain.links.limits import LIMIT_FIELDS, LIMIT_TIMES, NO_LIMITS, LinkLimits
from backend.domain.links.links import Behavior, Link, LinkState
from backend.domain.links.password_passes import PASS_DURATION, is_pass, make_pass
from backend.domain.web.client import Client, ClientKind, Platform

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, LinkState.ENABLED),
        ({"starts_at": NOW}, LinkState.ENABLED),
        ({"starts_at": NOW + SECOND}, LinkState.NOT_STARTED),
        ({"expires_at": NOW + SECOND}, LinkState.ENABLED),
        ({"expires_at": NOW}, LinkState.EXPIRED),
        ({"starts_at": NOW - SECOND, "expires_at": NOW + SECOND}, LinkState.ENABLED),
        ({"expired_url": "https://shop.example/"}, LinkState.ENABLED),
        ({"max_clicks": 1}, LinkState.ENABLED),
        ({"max_clicks": 1, "is_used_up": True, "starts_at": NOW + SECOND}, LinkState.EXPIRED),
    ],
)
def test_the_state_at_a_time(fields: dict[str, Any], state: LinkState) -> None:
    """A link leads somewhere from its start on and before its end; archived and disabled ones stay that."""
    link = Link(
        LinkId("1"), OrgId("1"), "go.example", "a", "https://shop.example", "A", NOW, NOW,
        limits=LinkLimits(**fields),
    )  # fmt: skip
    assert link.state_at(NOW) is state
    off = Link(
        LinkId("1"), OrgId("1"), "go.example", "a", "https://shop.example", "A", NOW, NOW,
        is_enabled=False, limits=LinkLimits(**fields),
    )  # fmt: skip
    assert off.state_at(NOW) is LinkState.DISABLED


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("2026-03-01T12:00:00Z", NOW),
        ("2026-03-01T13:00:00.9+01:00", NOW),
        ("2026-03-01T12:00:00", None),
        ("2026-03-01", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        ("", None),
        (1772366400, None),
    ],
)
def test_times_have_a_zone(text: object, parsed: datetime | None) -> None:
    """A time without a zone could mean any of a day's hours, so it is refused, and so is what is no time."""
    rule = LIMIT_FIELDS["starts_at"]
    if parsed:
        assert rule.parse("starts_at", text) == parsed
    else:
        with pytest.raises(InvalidField):
            rule.parse("starts_at", text)


def test_a_link_does_not_end_before_it_starts() -> None:
    """Limits that no visitor could meet are refused, also where only one of them is changed."""
    limits = NO_LIMITS.changed({"starts_at": NOW})
    for end in (NOW, NOW - SECOND):
        with pytest.raises(InvalidField, match="expires_at must be after starts_at"):
            limits.changed({"expires_at": end})
    assert limits.changed({"expires_at": NOW + SECOND, "utm_source": "x"}).expires_at == NOW + SECOND


@pytest.mark.parametrize("year", [1, 1969, 9999])
def test_a_limit_s_time_can_be_told_everywhere(year: int) -> None:
    """In some time zone, times of the first and the last year that computers know have no date."""
    for name in LIMIT_TIMES:
        with pytest.raises(InvalidField, match=f"{name} must be in the years from 1970 to 9998"):
            NO_LIMITS.changed({name: NOW.replace(year=year)})
    assert NO_LIMITS.changed({"expires_at": NOW.replace(year=9998)})


@pytest.mark.parametrize(("taken", "is_used_up"), [(0, False), (4, False), (5, True), (6, True)])
def test_a_limit_of_clicks_is_used_up(taken: int, is_used_up: bool) -> None:
    """A link is used up once as many clicks were taken as it has; without such a limit it never is."""
    for before in (True, False):
        assert LinkLimits(max_clicks=5, is_used_up=before).with_taken(taken).is_used_up is is_used_up
    assert NO_LIMITS.with_taken(taken) is NO_LIMITS
    assert LinkLimits(max_clicks=5, is_used_up=True).changed({"max_clicks": None}) is NO_LIMITS


def test_a_link_with_so_many_clicks_stays_in_the_browser() -> None:
    """Phones go to the destination where the system would open the app without asking the service."""
    app = AndroidApp("com.shop.app", (":".join(["AB"] * 32),))
    apps = Apps(IosApp("A1B2C3D4E5", "com.shop.app", "123456"), app)
    fallbacks = {"ios_fallback_url": "https://shop.example/ios"}
    for limits, outcome in ((NO_LIMITS, Outcome.INTENT), (LinkLimits(max_clicks=5), Outcome.WEB)):
        link = Link(
            LinkId("1"), OrgId("1"), "go.example", "a", "https://shop.example", "A", NOW, NOW,
            ios_behavior=Behavior.APP, android_behavior=Behavior.APP, fallbacks=fallbacks, limits=limits,
        )  # fmt: skip
        phone = Client(ClientKind.BROWSER, Platform.ANDROID, follows_intents=True)
        assert decide(link, phone, apps) is outcome
        iphone = Client(ClientKind.BROWSER, Platform.IOS)
        assert bool(fallback_url(link, iphone)) is (limits is NO_LIMITS)
        assert set(possible_targets(link, Platform.IOS, True)) >= {"ios_fallback_url"}


def test_a_pass_is_for_one_link_and_password_and_time() -> None:
    """Who gave a link's password is let through for some hours; nobody is with the pass of another link or of
    another password, later, or with anything else."""
    link_id = LinkId("1")
    link_pass = make_pass(link_id, "hash", NOW)
    until = NOW + PASS_DURATION
    assert is_pass(link_pass, link_id, "hash", until - SECOND)
    later = link_pass.replace(str(int(until.timestamp())), str(int(until.timestamp()) + 1))
    assert not any(
        (
            is_pass(link_pass, link_id, "hash", until),
            is_pass(link_pass, LinkId("2"), "hash", NOW),
            is_pass(link_pass, link_id, "another", NOW),
            is_pass(later, link_id, "hash", NOW),
            *(is_pass(text, link_id, "hash", NOW) for text in ("", ".", "1.2", "ü.é", f"{link_pass}0")),
        )
    )


def test_cleared_limits_cost_nothing() -> None:
    """A link whose last limit is taken away is one without limits again."""
    limits = NO_LIMITS.changed({"starts_at": NOW, "expired_url": "https://shop.example/"})
    assert limits is not NO_LIMITS
    assert limits.changed({"starts_at": None, "expired_url": None}) is NO_LIMITS
