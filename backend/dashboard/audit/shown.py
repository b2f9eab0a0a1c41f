"""Entries of the audit log as the page shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from quart import url_for

from backend.dashboard.analytics.time_zone import time_in_words
from backend.dashboard.frame.blueprint import may_open
from backend.dashboard.frame.labels import LABELS
from backend.domain.accounts.actors import Actor, ActorKind
from backend.domain.all_resources import RESOURCES
from backend.domain.audit.entries import AuditEntry, AuditTarget
from backend.domain.resources.resource import Verb

ACTORS = {
    ActorKind.PERSON: "Person",
    ActorKind.KEY: "Key",
    ActorKind.COMMAND_LINE: "Command line",
    ActorKind.SERVICE: "The service itself",
}
# What is changed, in the order of the filter.
KINDS = {
    "link": "Link",
    "tag": "Tag",
    "utm_template": "UTM template",
    "qr_logo": "Logo of QR codes",
    "domain": "Domain",
    "domain_claim": "Claim of a domain",
    "app": "Apps of a domain",
    "origin": "Allowed origin",
    "key": "Key",
    "webhook": "Webhook",
    "member": "Member",
    "invitation": "Invitation",
    "session": "Sign-in",
    "password_reset": "Link for a new password",
    "organization": "Organization",
    "organization_deletion": "Deletion of the organization",
    "single_sign_on": "Single sign-on",
    "provisioned_person": "Person of the identity provider",
    "provisioned_group": "Group of the identity provider",
    "archive": "Archive",
    "customer": "Customer's data",
    "report": "Report",
    "report_recipient": "Reader of a report",
    "alert_rule": "Alert rule",
    **{resource.audit_kind: resource.rest.thing for resource in RESOURCES},
    "cost": "Cost",
}
# The page of each kind of target: its endpoint, and the name of the id in its address.
_PAGES: Mapping[str, tuple[str, str | None]] = {
    "link": ("links_one", "link_id"),
    "tag": ("tags", None),
    "utm_template": ("templates", None),
    "domain": ("domains_look", "domain"),
    "app": ("apps", None),
    "origin": ("origins", None),
    "key": ("keys", None),
    "webhook": ("webhooks_one", "webhook_id"),
    "member": ("members", None),
    "invitation": ("members", None),
    "organization": ("settings", None),
    "single_sign_on": ("single_sign_on", None),
    "archive": ("archives", None),
    "report": ("reports_one", "report_id"),
    "report_recipient": ("mails_one", "recipient_id"),
    "alert_rule": ("alerts_rule", "rule_id"),
    **{resource.audit_kind: (resource.pages[Verb.LIST], None) for resource in RESOURCES},
    "funnel": ("funnels_one", "funnel_id"),
    "cost": ("costs", None),
}
_GONE = ("deleted", "removed", "purged", "ended", "refused")


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A field that changed, with its values in words; None where there was, or is, none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry: when, who, what they did to what, and what changed.

    `page` is the address of the target's page, "" if there is none. `actor_key` and `target_id` are what the
    page can be filtered by.
    """

    id: str
    when: str
    at: str
    actor: Actor
    actor_kind: str
    actor_key: str
    action: str
    target: AuditTarget
    page: str
    differences: tuple[ChangedField, ...]


def shown(entry: AuditEntry, zone: tzinfo) -> ShownEntry:
    """The entry, with its time in this zone."""
    kind, _, verb = entry.action.partition(".")
    return ShownEntry(
        entry.id,
        time_in_words(entry.at, zone),
        entry.at.isoformat(),
        entry.actor,
        ACTORS[entry.actor.kind],
        entry.actor.id or entry.actor.kind.value,
        f"{KINDS.get(kind, kind)} {verb.replace('_', ' ')}",
        entry.target,
        "" if verb in _GONE else _page_of(entry.target),
        _differences(entry, zone),
    )


def _page_of(target: AuditTarget) -> str:
    endpoint, name = _PAGES.get(target.kind, ("", None))
    if not endpoint or not may_open(endpoint):
        return ""
    values: dict[str, Any] = {name: target.id} if name else {}
    return url_for(f"dashboard.{endpoint}", **values)


def _differences(entry: AuditEntry, zone: tzinfo) -> tuple[ChangedField, ...]:
    before, after = entry.before or {}, entry.after or {}
    return tuple(
        ChangedField(
            LABELS.get(name, name.replace("_", " ").replace(".", ": ").capitalize()),
            _words(before.get(name), zone),
            _words(after.get(name), zone),
        )
        for name in {**before, **after}
    )


def _words(value: Any, zone: tzinfo) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return time_in_words(value, zone)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)
