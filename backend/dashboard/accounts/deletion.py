"""/settings/deletion: the deletion of the organization, a day after an owner has asked for it twice.

An owner opens it to leave with everything, and any owner to take that back in time.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from typing import Any

from quart import Response

from backend.dashboard.accounts.users.own_code import code_problem
from backend.dashboard.accounts.users.own_password import password_problem
from backend.dashboard.accounts.users.reader import mail_language
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, session, user
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.accounts.deletion import AnnouncedDeletion, DeletionAnnounced
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import Role
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import MOST_DAYS, QueryPeriod
from backend.domain.analytics.query import Query
from backend.domain.archives.archive import ArchiveState
from backend.mail.organization_mails import deletion_mail
from backend.storage.accounts.announced_deletions import (
    NotAnnounced,
    announce_deletion,
    take_back_deletion,
)
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.users.users import list_users
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.archives.archives import list_archives
from backend.storage.driver.mongo import StorageError
from backend.storage.links.links import count_links
from backend.storage.mail.mails import queue_mail
from backend.web.current import resources

# So long after the sign-in whoever has no password here, or came through the provider, is trusted to be who
# signed in. A provider must not be a way to try passwords and codes of accounts.
_FRESH = timedelta(minutes=10)
_SIGN_IN_AGAIN = "You have no password here: sign out and in again, and send this within ten minutes after"


@dashboard.get("/settings/deletion")
@needs(Permission.ORGANIZATION_WRITE)
async def settings_deletion() -> Response:
    """What would be gone, and the form that asks for it; or when it will be gone, and how to keep it."""
    return await _page({})


@dashboard.post("/settings/deletion")
@needs(Permission.ORGANIZATION_WRITE)
async def settings_deletion_ask() -> Response:
    """Announce the deletion, for whoever typed the organization's name, and the password or a code."""
    if problems := await _problems():
        return await _page(problems)
    database, now = resources().database, resources().clock()
    with suppress(DeletionAnnounced):  # by another owner, or by a second click
        await _mail(await announce_deletion(database, org_id(), user().email, now))
    return redirect_with_notice("settings_deletion", "deletion-announced")


@dashboard.post("/settings/deletion/take-back")
@needs(Permission.ORGANIZATION_WRITE)
async def settings_deletion_take_back() -> Response:
    """Keep the organization."""
    try:
        deletion = await take_back_deletion(resources().database, org_id())
    except NotAnnounced:
        return redirect_with_notice("settings_deletion", "deletion-not-announced")
    await _mail(deletion, taken_back_by=user().email)
    return redirect_with_notice("settings_deletion", "deletion-taken-back")


async def _problems() -> dict[str, str]:
    """What is wrong with the form, by field. Tries of a password or code count only with the right name."""
    organization = await get_organization(resources().database, org_id())
    if field("typed_name") != organization.name:
        return {"typed_name": "is not the name of this organization"}
    if user().second_factor:
        problem = await code_problem(form().get("code", ""))
        return {"code": problem} if problem else {}
    if user().password_hash:
        problem = await password_problem(form().get("password", ""))
        return {"password": problem} if problem else {}
    return {} if resources().clock() - session().created_at < _FRESH else {"sign_in": _SIGN_IN_AGAIN}


async def _mail(deletion: AnnouncedDeletion, *, taken_back_by: str | None = None) -> None:
    """Tell all owners, if mails are sent."""
    database, settings = resources().database, resources().settings
    if not settings.sends_mail:
        return
    organization, language = await get_organization(database, org_id()), mail_language()
    for member in await list_users(database, org_id()):
        if member.role_in(org_id()) is Role.OWNER:
            mail = deletion_mail(
                settings.base_url, organization, deletion, language, member.email, taken_back_by=taken_back_by
            )
            await queue_mail(database, mail, resources().clock())


async def _page(problems: dict[str, str]) -> Response:
    database, now = resources().database, resources().clock()
    archives = await list_archives(database, org_id(), now)
    return await page(
        "accounts/deletion.html",
        422 if problems else 200,
        later=_clicks,
        problems=problems,
        typed_name=field("typed_name"),
        links=await count_links(database, org_id()),
        members=await list_users(database, org_id()),
        domains=await list_domains(database, org_id()),
        newest=next((archive for archive in archives if archive.state is ArchiveState.READY), None),
        sends_mail=resources().settings.sends_mail,
    )


async def _clicks() -> dict[str, Any]:
    """How many clicks the organization has; None where the figures can't be read now."""
    end = datetime.combine(resources().clock().date() + timedelta(days=1), time(), UTC)
    period = QueryPeriod(end - timedelta(days=MOST_DAYS), end, UTC)
    try:
        answer = await resources().analytics.ask(org_id(), AskQuery(Query(period=period), is_whole=True))
    except StorageError:
        return {"clicks": None}
    return {"clicks": answer.totals.values[Measure.CLICKS]}
