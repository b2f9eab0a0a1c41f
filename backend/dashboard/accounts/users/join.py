"""/join: where somebody accepts an invitation, with a new account or with the one that they have."""

from __future__ import annotations

from urllib.parse import urlencode

from quart import Response, redirect, url_for

from backend.concurrency.turns import TooManyWait
from backend.dashboard.accounts.users.hashing import new_password_hash
from backend.dashboard.accounts.users.sign_in import open_session
from backend.dashboard.frame.blueprint import came_by_provider, dashboard, is_signed_in, public, session, user
from backend.dashboard.frame.form import form
from backend.dashboard.frame.page import plain_page
from backend.domain.accounts.invitations import INVITATION_PATH, MemberInvitation
from backend.domain.accounts.roles import ROLE_MEANINGS
from backend.domain.accounts.sessions import SignInWay
from backend.domain.accounts.single_sign_on.provider import sign_in_path
from backend.domain.accounts.users import WeakPassword
from backend.storage.accounts.organizations import find_organizations
from backend.storage.accounts.single_sign_on.settings import find_provider
from backend.storage.accounts.users.invitations import accept_as, accept_as_new_user, find_invitation
from backend.storage.accounts.users.sessions import set_session_organization
from backend.storage.accounts.users.users import EmailTaken, find_user_by_email
from backend.web.current import resources

_PATH = f"{INVITATION_PATH}/<token>"
_GONE = 410


@dashboard.get(_PATH)
@public
async def join_page(token: str) -> Response:
    """What the invitation is to, and how to accept it. Looking at it does not use it up."""
    invitation = await find_invitation(resources().database, token, resources().clock())
    return await _shown(token, invitation) if invitation else await _gone()


@dashboard.post(_PATH)
@public
async def join(token: str) -> Response:
    """Accept the invitation: as the user who is signed in, or as a new one with the password of the form."""
    database, now = resources().database, resources().clock()
    invitation = await find_invitation(database, token, now)
    if invitation is None:
        return await _gone()
    if is_signed_in():
        return await _join_as_user(token, invitation)
    return await _join_as_new_user(token, invitation)


async def _join_as_user(token: str, invitation: MemberInvitation) -> Response:
    database = resources().database
    if not _may_accept(invitation):
        return await _shown(token, invitation)
    if await accept_as(database, token, user(), resources().clock()) is None:
        return await _gone()
    await set_session_organization(database, session().token_hash, invitation.org_id)
    return redirect(url_for("dashboard.home"), 303)  # type: ignore[return-value]


async def _join_as_new_user(token: str, invitation: MemberInvitation) -> Response:
    database, now = resources().database, resources().clock()
    try:
        password_hash = await new_password_hash(form().get("password", ""))
        made = await accept_as_new_user(database, token, password_hash, now)
    except WeakPassword as error:
        return await _shown(token, invitation, problem=str(error))
    except TooManyWait:
        return await _shown(token, invitation, problem="can't be stored just now: try again", status=503)
    except EmailTaken:  # who has an account signs in with it
        return await _shown(token, invitation)
    if made is None:
        return await _gone()
    await open_session(made, SignInWay.PASSWORD)
    return redirect(url_for("dashboard.home"), 303)  # type: ignore[return-value]


async def _shown(token: str, invitation: MemberInvitation, *, problem: str = "", status: int = 0) -> Response:
    organizations = await find_organizations(resources().database, [invitation.org_id])
    provider = await find_provider(resources().database, invitation.org_id)
    is_known = await find_user_by_email(resources().database, invitation.email) is not None
    return await plain_page(
        "accounts/join.html",
        status or (422 if problem else 200),
        invitation=invitation,
        organization=organizations[0].name if organizations else "",
        meaning=ROLE_MEANINGS[invitation.role],
        token=token,
        is_known=is_known,
        me=user().email if is_signed_in() else "",
        may_accept=_may_accept(invitation),
        single_sign_on=sign_in_path(invitation.org_id) if provider else "",
        sign_in=f"{url_for('dashboard.sign_in_page')}?{urlencode({'next': f'{INVITATION_PATH}/{token}'})}",
        problem=problem,
    )


def _may_accept(invitation: MemberInvitation) -> bool:
    """Whether it is the invited person who is signed in. A provider of another organization can't tell."""
    return is_signed_in() and user().email == invitation.email and not came_by_provider()


async def _gone() -> Response:
    text = "It was used, withdrawn, or is older than seven days. Whoever sent it can invite you again."
    return await plain_page(
        "frame/error.html", _GONE, title="This invitation does not work any more", text=text
    )
