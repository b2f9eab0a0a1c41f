"""The kinds of background work that are done for many items, of which one may fail."""

from __future__ import annotations

from enum import StrEnum


class Work(StrEnum):
    """What is done for each item, in the words of logs, metrics and `waylink doctor`."""

    ALERTS = "looking for alerts"
    ARCHIVES = "making archives"
    BLOCKS = "merging small blocks of clicks"
    COLUMNS = "keeping the columns of analytics true"
    DELETIONS = "deleting organizations"
    DESTINATIONS = "looking at destinations"
    ERASURES = "erasing persons"
    EXPIRED_DAYS = "adding up days whose single clicks have expired"
    FEED = "giving events their places in the feed"
    FEED_AGING = "deleting what has expired in feeds"
    FIGURES_BY_MAIL = "making mails with figures"
    LATE_COUNTS = "deleting what was counted late for purged links"
    LEDGER = "signing days of the ledger"
    MAILS = "sending mails"
    WEBHOOKS = "delivering webhooks"
