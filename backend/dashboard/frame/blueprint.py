"""The dashboard's routes. All need a sign-in and what `needs` says, except those marked `public`; all
forms need a form token, and act for the organization that they were opened in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlencode

from quart import Blueprint, Response, abort, current_app, redirect, request, url_for

from backend.dashboard.frame.form import (
    MAX_FORM_BYTES,
    check_form,
    is_form_sent,
    organization_of_sent,
    sends_kept_form,
)
from backend.dashboard.frame.session_cookie import cookie_token, set_cookie
from backend.domain.accounts.actors import SERVICE, person
from backend.domain.accounts.entry.who_gets_in import as_opened
from backend.domain.accounts.permissions import MEANINGS, Permission, Permissions, first_missing
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import Session, hash_token
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import find_entry_rules
from backend.storage.accounts.users.sessions import find_session, note_seen, set_session_organization
from backend.storage.accounts.users.users import find_user, list_users
from backend.storage.audit.acting import act_as
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.driver.lanes import owned_by
from backend.web.current import of_request, resources

ViewT = TypeVar("ViewT", bound=Callable[..., object])

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
SECURITY_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}

_NOT_BY_PROVIDER = (
    "You came through your organization's identity provider, which decides how you sign in there. Sign in "
    "with a password to change your password, second factor or passkeys."
)

dashboard = Blueprint("dashboard", "backend.dashboard", template_folder="templates")


class FormOfAnother(Exception):
    """A form was written for this organization, and its sender works in another by now."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(org_id)
        self.org_id = org_id


@dataclass(slots=True)
class _SignIn:
    """Who sent a request, where somebody is signed in, and by which session.

    `awaiting` is the user whose password was right and whose second factor is still to be shown.
    """

    user: User | None = None
    session: Session | None = None
    awaiting: User | None = None


def public(view: ViewT) -> ViewT:
    """Mark a view that needs no sign-in."""
    view.is_public = True  # type: ignore[attr-defined]
    return view


def needs(*permissions: Permission) -> Callable[[ViewT], ViewT]:
    """Mark a view that is for members with these permissions; without any, for every member.

    Each view has this mark or `public`.
    """

    def mark(view: ViewT) -> ViewT:
        view.needs = permissions  # type: ignore[attr-defined]
        return view

    return mark


def needs_of(view: Callable[..., object]) -> tuple[Permission, ...] | None:
    """The permissions that a view needs; None if it is public."""
    return None if getattr(view, "is_public", False) else view.needs  # type: ignore[attr-defined]


def opens_before_entry(view: ViewT) -> ViewT:
    """Mark a view that is open to users who still lack what their organization requires of who enters: a
    second factor, or to come through its identity provider."""
    view.opens_before_entry = True  # type: ignore[attr-defined]
    return view


def of_own_account(view: ViewT) -> ViewT:
    """Mark a view that changes how a user signs in, everywhere. It is closed to who came through the identity
    provider of one organization: whoever runs that can come as any of its members."""
    view.is_of_own_account = True  # type: ignore[attr-defined]
    return view


def accepts_forms_of(most_bytes: int) -> Callable[[ViewT], ViewT]:
    """Mark a view whose forms may have more bytes than others."""

    def mark(view: ViewT) -> ViewT:
        view.most_bytes = most_bytes  # type: ignore[attr-defined]
        return view

    return mark


def session() -> Session:
    """The session of the current request."""
    current = of_request(_SignIn).session
    assert current is not None  # only pages marked `public` are shown without one
    return current


def user() -> User:
    """The user who sent the current request."""
    current = of_request(_SignIn).user
    assert current is not None  # only pages marked `public` are shown without one
    return current


def awaiting() -> User | None:
    """The user whose password was right, and who has still to show the second factor."""
    return of_request(_SignIn).awaiting


def org_id() -> OrgId:
    """The organization that the current request acts for. The request may only touch this organization."""
    return session().org_id


def came_by_provider() -> bool:
    """Whether the user came through the identity provider of the request's organization."""
    return session().provider_org_id is not None


def permissions() -> Permissions:
    """What the user who sent the current request may do for its organization."""
    return user().role_in(org_id()).permissions if is_signed_in() else Permissions()


@dashboard.app_template_global("may")
def may_open(endpoint: str) -> bool:
    """Whether the user may open the page, or send the form, with this endpoint of the dashboard."""
    needed = needs_of(current_app.view_functions[f"{dashboard.name}.{endpoint}"])
    return first_missing(needed or (), permissions()) is None


def is_signed_in() -> bool:
    """Whether the current request comes from a user with an organization."""
    return of_request(_SignIn).session is not None


@dashboard.before_request
async def _admit() -> Response | None:
    view = current_app.view_functions[request.endpoint or ""]
    act_as(SERVICE, request.endpoint)
    if request.method in _SAFE_METHODS:
        lift_deadline()  # a page makes many queries, each with its own time limit
    else:
        await check_form(getattr(view, "most_bytes", MAX_FORM_BYTES))
    await load_session()
    needed = needs_of(view)
    if needed is None:
        return None
    if not is_signed_in():
        return redirect(sign_in_address(), 303)  # type: ignore[return-value]
    if needed and is_form_sent():  # without a permission, it is about the user's own account
        await _come_to_organization_of_form()
    if missing := first_missing(needed, permissions()):
        abort(403, await _refusal(missing))
    if hasattr(view, "is_of_own_account") and came_by_provider():
        abort(403, _NOT_BY_PROVIDER)
    if not hasattr(view, "opens_before_entry") and (before := await _page_before_entry()):
        return redirect(url_for(f"dashboard.{before}"), 303)  # type: ignore[return-value]
    return None


async def _come_to_organization_of_form() -> None:
    """Let a form act only for the organization whose page it is on: another tab may have switched since.

    Raises FormOfAnother. Whoever sends the form again from the page that says so is switched back before.
    """
    written_for = organization_of_sent()
    if written_for == org_id():
        return
    if not sends_kept_form() or written_for not in user().org_ids:
        raise FormOfAnother(written_for)
    await set_session_organization(resources().database, session().token_hash, written_for)
    of_request(_SignIn).session = replace(session(), org_id=written_for)
    owned_by(written_for)


async def _page_before_entry() -> str | None:
    """The page that gets a user what the organization requires, by its endpoint; None if nothing is missing.

    A sign-in through the organization's provider is all that it requires: factors are the provider's matter.
    """
    if came_by_provider():
        return None
    rules = await find_entry_rules(resources().database, org_id())
    if rules.single_sign_on:
        return "enter"
    return "settings_second_factor" if rules.second_factor and user().second_factor is None else None


async def _refusal(missing: Permission) -> str:
    """What the page says to a member whose role lacks a permission: what that is, and who can grant it."""
    members = await list_users(resources().database, org_id())
    owners = [member.email for member in members if member.role_in(org_id()) is Role.OWNER]
    told = f", such as {owners[0]}," if owners else ""
    return (
        f"Your role in this organization, {user().role_in(org_id())}, does not let you {MEANINGS[missing]}. "
        f"An owner{told} can give you another role."
    )


async def load_session() -> None:
    """Find the session and user of the current request; none if the session or the user does not exist."""
    sign_in = of_request(_SignIn)
    sign_in.session = sign_in.awaiting = None
    stored = await find_session(resources().database, hash_token(cookie_token()), resources().clock())
    user = await find_user(resources().database, stored.user_id) if stored else None
    if stored and user:
        user = as_opened(user, stored)
    if stored is None or user is None or not user.org_ids:
        return
    if stored.awaits_code:
        sign_in.awaiting = user
        act_as(person(user), request.endpoint)
    else:
        sign_in.user = user
        act_as(person(user), request.endpoint)
        sign_in.session = await _in_own_organization(stored, user)
        owned_by(sign_in.session.org_id)
        await note_seen(resources().database, stored, resources().clock())


async def _in_own_organization(stored: Session, user: User) -> Session:
    """The session. If the user has left its organization, it is moved to another of the user's first."""
    if stored.org_id in user.org_ids:
        return stored
    await set_session_organization(resources().database, stored.token_hash, user.org_ids[0])
    return replace(stored, org_id=user.org_ids[0])


def sign_in_address() -> str:
    """The address of the sign-in page, which leads back to the requested page afterwards."""
    path = request.full_path.removesuffix("?")
    come_back = request.method == "GET" and path != "/"
    return url_for("dashboard.sign_in_page") + (f"?{urlencode({'next': path})}" if come_back else "")


@dashboard.after_request
async def secure(response: Response) -> Response:
    """Add security headers to a page: no inline code, nothing from other sites, no frames, no caching."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    if "Cache-Control" not in response.headers:
        response.headers["Cache-Control"] = "no-store"
        response.vary.add("Cookie")
    return set_cookie(response)
