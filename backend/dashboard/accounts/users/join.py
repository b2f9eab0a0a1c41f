"""/join: where somebody accepts an invitation, with a new account or with the one that they have."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlencode

from quart import Response, redirect, url_for

from backend.concurrency.fair_thread import TooManyWait
from backend.dashboard.accounts.users.hashing import new_password_hash
from backend.dashboard.accounts.users.sign_in import open_session
from backend.dashboard.frame.blueprint import came_by_provider, dashboard, is_signed_in, public, session, user
from backend.dashboard.frame.form import form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import plain_page
from backend.domain.accounts.entry.who_gets_in import Joining
from backend.domain.accounts.invitations import INVITATION_PATH, MemberInvitation
from backend.domain.accounts.roles import ROLE_MEANINGS
from backend.domain.accounts.sessions import SignInWay
from backend.domain.accounts.single_sign_on.provider import sign_in_path
from backend.domain.accounts.users import User, WeakPassword
from backend.storage.accounts.organizations import find_organizations
from backend.storage.accounts.single_sign_on.settings import find_provider
from backend.storage.accounts.users.acceptance import Accepted, MoreToShow, accept, find_joining
from backend.storage.accounts.users.invitations import find_invitation
from backend.storage.accounts.users.sessions import set_session_organization
from backend.storage.accounts.users.users import EmailTaken
from backend.web.current import resources

_PATH = f"{INVITATION_PATH}/<token>"
_GONE = 410
_WITH_PASSWORD = (Joining.NEW_ACCOUNT, Joining.NEW_PASSWORD, Joining.UNTOLD)


@dashboard.get(_PATH)
@public
async def join_page(token: str) -> Response:
    """What the invitation is to, and how to accept it. Looking at it does not use it up."""
    invitation = await find_invitation(resources().database, token, resources().clock())
    return await _shown(token, invitation) if invitation else await _gone()


@dashboard.post(_PATH)
@public
async def join(token: str) -> Response:
    """Accept the invitation: as the user who is signed in, or with the password of the form."""
    invitation = await find_invitation(resources().database, token, resources().clock())
    if invitation is None:
        return await _gone()
    if _is_somebody_else(invitation):
        return await _shown(token, invitation)
    try:
        return await _joined(token, invitation)
    except WeakPassword as error:
        return await _shown(token, invitation, problem=str(error))
    except TooManyWait:
        return await _shown(token, invitation, problem="can't be stored just now: try again", status=503)
    except (EmailTaken, MoreToShow):  # the page says what is to be shown
        return await _shown(token, invitation)


async def _joined(token: str, invitation: MemberInvitation) -> Response:
    """Raises WeakPassword, TooManyWait, EmailTaken and MoreToShow."""
    database, now = resources().database, resources().clock()
    joining = await find_joining(database, invitation, token, _signed_in())
    password_hash = None
    if joining in _WITH_PASSWORD:
        password_hash = await new_password_hash(form().get("password", ""))
    if joining is Joining.UNTOLD:
        with suppress(EmailTaken, MoreToShow):  # that would tell of an account
            await accept(database, token, now, password_hash=password_hash)
        return redirect_with_notice("sign_in_page", "invitation-answered")
    accepted = await accept(database, token, now, signed_in=_signed_in(), password_hash=password_hash)
    return await _enter(accepted) if accepted else await _gone()


async def _enter(accepted: Accepted) -> Response:
    if accepted.has_new_password:
        await open_session(accepted.user, SignInWay.PASSWORD, accepted.org_id)
    else:
        await set_session_organization(resources().database, session().token_hash, accepted.org_id)
    return redirect(url_for("dashboard.home"), 303)  # type: ignore[return-value]


async def _shown(token: str, invitation: MemberInvitation, *, problem: str = "", status: int = 0) -> Response:
    organizations = await find_organizations(resources().database, [invitation.org_id])
    provider = await find_provider(resources().database, invitation.org_id)
    return await plain_page(
        "accounts/join.html",
        status or (422 if problem else 200),
        invitation=invitation,
        organization=organizations[0].name if organizations else "",
        meaning=ROLE_MEANINGS[invitation.role],
        token=token,
        joining=await find_joining(resources().database, invitation, token, _signed_in()),
        me=user().email if is_signed_in() else "",
        is_somebody_else=_is_somebody_else(invitation),
        single_sign_on=sign_in_path(invitation.org_id) if provider else "",
        sign_in=f"{url_for('dashboard.sign_in_page')}?{urlencode({'next': f'{INVITATION_PATH}/{token}'})}",
        problem=problem,
    )


def _signed_in() -> User | None:
    """Whoever has shown an account's own sign-in. A provider can't speak for that."""
    return user() if is_signed_in() and not came_by_provider() else None


def _is_somebody_else(invitation: MemberInvitation) -> bool:
    """Whether somebody is signed in who is not known to be invited."""
    signed_in = _signed_in()
    return is_signed_in() and (signed_in is None or signed_in.email != invitation.email)


async def _gone() -> Response:
    text = "It was used, withdrawn, or is older than seven days. Whoever sent it can invite you again."
    return await plain_page(
        "frame/error.html", _GONE, title="This invitation does not work any more", text=text
    )
