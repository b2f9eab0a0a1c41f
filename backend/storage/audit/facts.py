"""Notes entries of the audit log in the outbox of the feed, in the transaction of what they are about."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.domain.audit.entries import AuditTarget, audit_fact
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.audit.acting import Acting, acting
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy

_log = logging.getLogger("waylink.audit")


def recorded_fact(
    action: str,
    target: AuditTarget,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    *,
    who: Acting | None = None,
) -> Fact:
    """What `who` did, by default whoever acts at the moment."""
    who = who or acting()
    _log.debug("%s recorded %s", who.route, action, extra={"route": who.route, "action": action})
    return audit_fact(who.actor, action, target, before, after)


async def note_facts(
    database: Database, session: ClientSession, facts: Mapping[OrgId, Sequence[Fact]]
) -> None:
    """Add these facts to the log in the caller's transaction, in their order."""
    await entries.note(database, session, facts, AgesBy.AUDIT)


async def record(
    database: Database,
    org_ids: Iterable[OrgId],
    action: str,
    target: AuditTarget,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record in the log of each of these organizations what is no change of a stored document.

    Such are sign-ins, exports and erasures.
    """
    fact = recorded_fact(action, target, None, after)

    async def work(session: ClientSession) -> None:
        await note_facts(database, session, {org_id: [fact] for org_id in org_ids})

    await in_transaction(database, work)
