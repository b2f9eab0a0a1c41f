"""Alert rules: what an organization wants to be told of, of which links, and how."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from backend.domain.fields.time_zones import zone_or_utc
from backend.domain.ids import AlertRuleId, LinkId, OrgId, TagId
from backend.domain.mail.language import Language
from backend.domain.web.base64url import base64url

# Of an organization. Two that are made at the same moment may exceed it.
MOST_RULES = 50
# The beginning of the keys of mails that tell of alerts. The id of a rule follows.
ALERT_KEY = "alert/"


class AlertKind(StrEnum):
    """What is told of."""

    SPIKE = "spike"
    DROP = "drop"
    BROKEN_DESTINATION = "broken_destination"
    LINK_EXPIRY = "link_expiry"
    LIMITS = "limits"
    REFUSED_SITES = "refused_sites"
    REJECTED_CALLS = "rejected_calls"


# What belongs to no link, so that only an organization as a whole can be told of it.
OF_ORGANIZATION = frozenset({AlertKind.REFUSED_SITES, AlertKind.REJECTED_CALLS})
# What is found in clicks by the hour.
BY_HOUR = frozenset({AlertKind.SPIKE, AlertKind.DROP})
# Of which the end is told too: somebody waits for it. The others end by the calendar, or by who mends them.
TELLS_END = frozenset({*BY_HOUR, AlertKind.BROKEN_DESTINATION})


@dataclass(frozen=True, slots=True)
class AlertRule:
    """What an organization wants to be told of.

    It is about the link, or about the links that have the tag, or about the whole organization where it names
    neither. `thresholds` has a value for each threshold of the kind (thresholds.py). With `webhooks`, an
    alert is an event of the feed. `mail_to` are addresses of the organization's people, who are written to in
    this language and time zone. `secret` makes the addresses by which they unsubscribe.
    """

    id: AlertRuleId
    org_id: OrgId
    name: str
    kind: AlertKind
    thresholds: Mapping[str, int]
    created_at: datetime
    secret: str = field(repr=False)
    link_id: LinkId | None = None
    tag_id: TagId | None = None
    webhooks: bool = False
    mail_to: tuple[str, ...] = ()
    language: Language = Language.EN
    timezone: str = "UTC"
    is_enabled: bool = True

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of its mails; UTC where this host does not know it."""
        return zone_or_utc(self.timezone)

    def unsubscribe_token(self, address: str) -> str:
        """What only mails of this rule to this address have."""
        digest = hmac.digest(self.secret.encode(), address.encode(), "sha256")
        return base64url(digest)

    def covers(self, link_id: LinkId, tag_ids: Collection[TagId]) -> bool:
        """Whether it is about a link with this id and these tags."""
        if self.link_id:
            return link_id == self.link_id
        return self.tag_id is None or self.tag_id in tag_ids
