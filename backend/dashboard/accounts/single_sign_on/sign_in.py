"""/sign-in/single/ORGANIZATION: signs somebody in by the organization's identity provider."""

from __future__ import annotations

import secrets
from urllib.parse import urlencode

from quart import Response, redirect, request

from backend.dashboard.accounts.users.reader import browser_words
from backend.dashboard.accounts.users.remembered_provider import remember
from backend.dashboard.accounts.users.sign_in import next_page
from backend.dashboard.frame.blueprint import dashboard, is_signed_in, public, session
from backend.dashboard.frame.notices import notice
from backend.dashboard.frame.page import plain_page
from backend.dashboard.frame.service import DashboardService
from backend.dashboard.frame.session_cookie import cookie_token, renew_cookie_token
from backend.domain.accounts.actors import person
from backend.domain.accounts.sessions import hash_token, new_provider_session
from backend.domain.accounts.single_sign_on.attempt import (
    SALT_BYTES,
    SignInAttempt,
    find_attempt,
    new_attempt,
)
from backend.domain.accounts.single_sign_on.provider import IdentityProvider, redirect_uri, sign_in_path
from backend.domain.accounts.single_sign_on.refusals import REFUSAL_WORDS, Refusal, SignInRefused
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.identity_providers.identity_providers import IdentityProviders
from backend.storage.accounts.single_sign_on.admission import admit, open_session
from backend.storage.accounts.single_sign_on.refused_sign_ins import note_refusal
from backend.storage.accounts.single_sign_on.settings import find_provider
from backend.storage.accounts.users.sessions import delete_session
from backend.storage.audit.acting import act_as
from backend.web.current import of_app, resources, visitor_network
from backend.web_client.guarded_network import asking_for

_PATH = "/sign-in/single/<org_id>"
_NONE = "Ask an owner of your organization for the address at which you sign in."
_TOO_OFTEN = "From your network, too many sign-ins were begun. Wait some minutes, then try again."


@dashboard.get(_PATH)
@public
async def single_sign_on_begin(org_id: OrgId) -> Response:
    """Send the browser to the provider, unless it has come from there already."""
    following = next_page(request.args.get("next", ""))
    if is_signed_in() and session().provider_org_id == org_id:
        return redirect(following, 303)  # type: ignore[return-value]
    provider = await find_provider(resources().database, org_id)
    if provider is None:
        return await _no_provider()
    if not await _is_allowed():
        return await _too_often()
    try:
        with asking_for(org_id):
            metadata = await of_app(IdentityProviders).metadata_of(provider)
    except SignInRefused as refused:
        return await _refused(org_id, refused)
    salt, now = secrets.token_bytes(SALT_BYTES), resources().clock()
    attempt = new_attempt(cookie_token(), org_id, salt, now, following)
    address = attempt.authorization_url(provider, metadata, _back_to(org_id))
    return redirect(address, 303)  # type: ignore[return-value]


@dashboard.get(f"{_PATH}/callback")
@public
async def single_sign_on_callback(org_id: OrgId) -> Response:
    """Open a session for whom the provider names, if the organization lets them in."""
    database, now = resources().database, resources().clock()
    provider = await find_provider(database, org_id)
    if provider is None:
        return await _no_provider()
    if not await _is_allowed():
        return await _too_often()
    try:
        attempt = _attempt_of(org_id, provider)
        with asking_for(org_id):
            person = await of_app(IdentityProviders).find_person(
                provider, attempt, request.args["code"], _back_to(org_id), now
            )
        user = await admit(database, org_id, provider, person, now)
        await _open_session(user, org_id, provider)
    except SignInRefused as refused:
        return await _refused(org_id, refused)
    return remember(redirect(next_page(attempt.following), 303), org_id)  # type: ignore[arg-type]


@dashboard.get(f"{_PATH}/left")
@public
async def single_sign_on_left(org_id: OrgId) -> Response:
    """Says that somebody is signed out here, and where they sign out at the provider."""
    provider = await find_provider(resources().database, org_id)
    if provider is None:
        return await _no_provider()
    return await plain_page(
        "accounts/single_sign_on_left.html",
        notice=notice(request.args.get("notice", "")),
        provider=provider,
        again=sign_in_path(org_id),
        end_session=await _end_session_address(org_id, provider),
    )


def _attempt_of(org_id: OrgId, provider: IdentityProvider) -> SignInAttempt:
    """The attempt that the provider answers, which brought a code. Raises SignInRefused."""
    arguments = request.args
    attempt = find_attempt(cookie_token(), org_id, arguments.get("state", ""))
    if attempt is None:
        raise SignInRefused(Refusal.ANOTHER_BROWSER)
    if attempt.is_over(resources().clock()):
        raise SignInRefused(Refusal.EXPIRED)
    if arguments.get("iss", provider.issuer) != provider.issuer:  # RFC 9207
        raise SignInRefused(Refusal.INVALID_TOKEN, f"iss of the answer is {arguments['iss']}")
    if error := arguments.get("error"):
        refusal = Refusal.DENIED if error == "access_denied" else Refusal.PROVIDER_ERROR
        raise SignInRefused(refusal, f"{error}: {arguments.get('error_description', '')}")
    if not arguments.get("code"):
        raise SignInRefused(Refusal.PROVIDER_ERROR, "the answer has no code")
    return attempt


async def _open_session(user: User, org_id: OrgId, provider: IdentityProvider) -> None:
    """Raises SignInRefused."""
    act_as(person(user), request.endpoint)
    database = resources().database
    await delete_session(database, hash_token(cookie_token()))
    token, now = renew_cookie_token(), resources().clock()
    begun = new_provider_session(token, user.id, org_id, now, browser_words())
    await open_session(database, org_id, provider, begun)


async def _end_session_address(org_id: OrgId, provider: IdentityProvider) -> str | None:
    """Where the provider ends its own session; it asks the person first."""
    try:
        with asking_for(org_id):
            address = (await of_app(IdentityProviders).metadata_of(provider)).end_session_endpoint
    except SignInRefused:
        return None
    client = urlencode({"client_id": provider.client_id})
    return f"{address}{'&' if '?' in address else '?'}{client}" if address else None


async def _refused(org_id: OrgId, refused: SignInRefused) -> Response:
    """The page that says why nobody is signed in. What strangers can bring about at will is noted nowhere."""
    if refused.refusal is not Refusal.ANOTHER_BROWSER:
        await note_refusal(resources().database, org_id, refused, resources().clock())
    return await plain_page(
        "accounts/single_sign_on_refused.html",
        403,
        words=REFUSAL_WORDS[refused.refusal],
        email=refused.email,
        again=sign_in_path(org_id),
    )


async def _no_provider() -> Response:
    return await plain_page("frame/error.html", 404, title="There is no single sign-on here", text=_NONE)


async def _is_allowed() -> bool:
    return (await of_app(DashboardService).single_sign_ons.count(visitor_network())).allowed


async def _too_often() -> Response:
    return await plain_page("frame/error.html", 429, title="Too many sign-ins", text=_TOO_OFTEN)


def _back_to(org_id: OrgId) -> str:
    return redirect_uri(resources().settings.base_url, org_id)
