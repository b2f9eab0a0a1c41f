"""/single-sign-on/…: where the organization's provider is, and whether members have to use it."""

from __future__ import annotations

from quart import Response

from backend.dashboard.accounts.single_sign_on.settings import (
    ProviderForm,
    single_sign_on_page,
    stored_provider,
    stored_requirement,
)
from backend.dashboard.frame.blueprint import came_by_provider, dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.saw import of_stored
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.single_sign_on.provider import IdentityProvider, provider_fields
from backend.domain.accounts.single_sign_on.refusals import SignInRefused
from backend.domain.errors import FieldError, InvalidField, raise_all
from backend.domain.fields.rules import parse_fields
from backend.identity_providers.identity_providers import IdentityProviders
from backend.storage.accounts.organizations import set_requires_single_sign_on
from backend.storage.accounts.single_sign_on.settings import find_provider, set_provider
from backend.storage.driver.deadlines import deadline_paused
from backend.web.current import of_app, resources
from backend.web_client.guarded_network import asking_for

_TYPE_ANEW = "must be typed again, since the issuer is another one"
_NOT_THROUGH_IT = (
    "can be set once you came through the provider yourself: sign in at the address above, then tick it again"
)


@dashboard.post("/single-sign-on/provider")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_provider)
async def single_sign_on_provider() -> Response:
    """Set the provider, once its own description was read."""
    before = await find_provider(resources().database, org_id())
    sent = ProviderForm.sent()
    try:
        provider = _parsed(sent, before)
        await _try(provider)
    except FieldError as error:
        return await single_sign_on_page(error.rule_by_field, form=sent)
    await set_provider(resources().database, org_id(), provider)
    is_another = before is not None and not before.is_client_of(provider)
    return redirect_with_notice("single_sign_on", "provider-replaced" if is_another else "provider-set")


@dashboard.post("/single-sign-on/remove")
@needs(Permission.ORGANIZATION_WRITE)
async def single_sign_on_remove() -> Response:
    """Take the provider away. Members sign in with passwords and passkeys."""
    await set_provider(resources().database, org_id(), None)
    return redirect_with_notice("single_sign_on", "provider-removed")


@dashboard.post("/single-sign-on/require")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_requirement)
async def single_sign_on_require() -> Response:
    """Say whether members have to come through the provider. Whoever requires it has come through it."""
    is_on = field("required") == "on"
    if is_on and not came_by_provider():
        return await single_sign_on_page({"required": _NOT_THROUGH_IT})
    await set_requires_single_sign_on(resources().database, org_id(), is_on=is_on)
    return redirect_with_notice("single_sign_on", "provider-required" if is_on else "provider-optional")


def _parsed(sent: ProviderForm, before: IdentityProvider | None) -> IdentityProvider:
    """The provider that the form describes. Raises FieldError."""
    errors: list[FieldError] = []
    rules = provider_fields(allows_loopback=resources().settings.allows_loopback_receivers)
    keeps_secret = before is not None and not sent.client_secret
    texts: dict[str, object] = {
        "issuer": sent.issuer,
        "client_id": sent.client_id,
        "client_secret": before.client_secret if before and keeps_secret else sent.client_secret,
        "email_domains": sent.email_domains.replace(",", " ").split(),
        "groups_claim": sent.groups_claim,
    }
    values = parse_fields(rules, texts, errors)
    if before and keeps_secret and values.get("issuer", before.issuer) != before.issuer:
        errors.append(InvalidField("client_secret", _TYPE_ANEW))
    raise_all(errors)
    return IdentityProvider(**values, vouches_for_emails=sent.vouches_for_emails)


async def _try(provider: IdentityProvider) -> None:
    """Read what the provider says about itself, and its keys. Raises InvalidField."""
    providers = of_app(IdentityProviders)
    try:
        with deadline_paused(), asking_for(org_id()):
            await providers.read_keys(await providers.read_metadata(provider))
    except SignInRefused as refused:
        raise InvalidField("issuer", f"was tried, but {refused.detail}") from None
    except InvalidField as error:
        raise InvalidField("issuer", f"has a discovery document whose {error}") from None
