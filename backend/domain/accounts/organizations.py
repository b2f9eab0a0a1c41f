"""Organizations. They own links, keys, domains and web origins."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.fields.rules import Text
from backend.domain.ids import OrgId

NAME_RULE = Text(200, shown=True)
# For how many days single clicks are kept, unless the organization says otherwise.
CLICK_DAYS = 400
# For how many days entries of the audit log are kept, unless the organization says otherwise; and the fewest:
# whoever has come in must not empty the log behind them.
AUDIT_DAYS = 400
FEWEST_AUDIT_DAYS = 90
# Rolling windows of 30 days are exact to the second: until then, single clicks are there.
FEWEST_CLICK_DAYS = 32
# The longest time for which anything is kept: longer than records exist, and still in the range of dates.
MOST_DAYS = 36_500


def parse_days(text: str, fewest: int = 1) -> int:
    """A number of days for which something is kept. Raises ValueError unless `fewest` to MOST_DAYS."""
    if not (text.isascii() and text.isdecimal() and len(text) < 9 and fewest <= int(text) <= MOST_DAYS):
        raise ValueError(text)
    return int(text)


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization. A subscription (until `subscription_until`) pays for install analytics.

    `retention_days` is how many days data about its visitors is kept; None means without limit; `click_days`
    says the same of single clicks, whose counts stay. With `device_cookie`, the service renews the SDK's
    cookie in its answers; `cookie_domain` is the domain that the organization's sites pass to `init`, if they
    do. With `erases_on_withdrawal`, a browser may have the service erase what it has of its device when the
    visitor withdraws consent. With `click_ids`, redirects append the id of their click. `destination_rules`
    says where its links may lead. `event_properties` are the properties of events that questions may name.
    With `requires_second_factor`, its dashboard opens only for users who have one; with
    `requires_single_sign_on`, only for those who came through its identity provider. Entries of
    its audit log are kept for `audit_days`.
    """

    id: OrgId
    name: str
    created_at: datetime
    subscription_until: datetime | None = None
    retention_days: int | None = None
    device_cookie: bool = False
    cookie_domain: str | None = None
    click_days: int | None = CLICK_DAYS
    erases_on_withdrawal: bool = False
    click_ids: bool = True
    destination_rules: DestinationRules = field(default_factory=DestinationRules)
    event_properties: tuple[str, ...] = ()
    requires_second_factor: bool = False
    requires_single_sign_on: bool = False
    audit_days: int | None = AUDIT_DAYS

    def has_subscription(self, now: datetime) -> bool:
        """Whether the organization has a paid subscription at `now`."""
        return self.subscription_until is not None and now < self.subscription_until


@dataclass(frozen=True, slots=True)
class EntryRules:
    """What an organization requires of whoever enters its dashboard."""

    second_factor: bool = False
    single_sign_on: bool = False
