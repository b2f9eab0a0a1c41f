"""Checks the keys and allowed origins of each organization."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime, timedelta

from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.storage.accounts.api_keys import list_api_keys
from backend.storage.accounts.origin_refusals import OriginRefusal, list_origin_refusals
from backend.storage.accounts.origins import list_origins
from backend.storage.driver.mongo import Database

_findings = Findings(Area.KEYS)
# A key that was not used for so long is probably no longer needed.
_UNUSED_AFTER = timedelta(days=90)
_RECENT = timedelta(days=1)
_MOST_NAMED_ORIGINS = 3


async def examine_keys(
    database: Database, organization: Organization, now: datetime
) -> AsyncIterator[Finding]:
    """Findings on an organization's keys and allowed origins."""
    keys = await list_api_keys(database, organization.id)
    origins = await list_origins(database, organization.id)
    active = [key for key in keys if key.revoked_at is None]
    subject = f"{organization.name} ({organization.id})"
    for finding in _examine_rest(subject, active):
        yield finding
    for finding in _examine_web(subject, active, origins):
        yield finding
    for key in active:
        if _is_forgotten(key, now):
            yield _about_forgotten(subject, key)
    if len(active) < len(keys):
        yield _findings.info(subject, f"{len(keys) - len(active)} of its {len(keys)} keys are revoked.")
    for finding in _examine_origins(subject, await list_origin_refusals(database, organization.id), now):
        yield finding


def _examine_rest(subject: str, active: Sequence[ApiKey]) -> Iterator[Finding]:
    count = sum(key.kind is KeyKind.REST for key in active)
    if count:
        yield _findings.ok(subject, f"REST keys in force: {count}.")
    else:
        yield _findings.warning(
            subject,
            "No REST key is in force: servers can't make links or read analytics.",
            "waylink key create --kind rest --org ID",
        )


def _examine_web(subject: str, active: Sequence[ApiKey], origins: Sequence[str]) -> Iterator[Finding]:
    has_key = any(key.kind is KeyKind.WEB for key in active)
    if has_key and not origins:
        yield _findings.error(
            subject,
            "It has a key for browsers and no allowed origin: every browser is refused.",
            "waylink origin add https://YOUR-SITE --org ID",
        )
    if origins and not has_key:
        yield _findings.warning(
            subject,
            "It has allowed origins and no key for browsers in force.",
            "waylink key create --org ID --kind web",
        )


def _is_forgotten(key: ApiKey, now: datetime) -> bool:
    return now - (key.last_used_at or key.created_at) > _UNUSED_AFTER


def _about_forgotten(subject: str, key: ApiKey) -> Finding:
    used = f"last used on {key.last_used_at:%Y-%m-%d}" if key.last_used_at else "never seen in use"
    return _findings.warning(
        subject,
        f"The key {key.hint}, created on {key.created_at:%Y-%m-%d}, was {used}.",
        f"If nobody needs it: waylink key revoke {key.id}",
    )


def _examine_origins(subject: str, refusals: Sequence[OriginRefusal], now: datetime) -> Iterator[Finding]:
    origins = sorted({refusal.origin or "(none)" for refusal in refusals if now - refusal.at < _RECENT})
    if origins:
        others = " and others" if len(origins) > _MOST_NAMED_ORIGINS else ""
        named = ", ".join(origins[:_MOST_NAMED_ORIGINS]) + others
        yield _findings.warning(
            subject,
            f"Browsers on these origins were refused within a day: {named}.",
            "If they are yours, allow them: waylink origin add ORIGIN --org ID",
        )
