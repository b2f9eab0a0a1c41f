"""/domains: where the roots and unknown paths of link domains lead, and how their pages look."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.domains.input import DOMAIN_CLEARABLE, DOMAIN_FIELDS
from backend.domain.domains.json_form import own_domain_json
from backend.domain.fields.rules import HostName
from backend.domain.web.host_names import InvalidHostName, normalize_host
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.accounts.domain_settings import list_domain_settings
from backend.storage.accounts.domain_setup.claims import list_claims
from backend.storage.links.destinations.domain_destinations import change_domain_settings
from backend.web.current import resources

PATH = "/domains"
ONE = f"{PATH}/<domain_text>"
_CHANGES = BodyFields(DOMAIN_FIELDS, clearable=DOMAIN_CLEARABLE)


def _parse_name(text: str) -> str:
    try:
        return normalize_host(text)
    except InvalidHostName:
        raise ApiError(error_table.DOMAIN_NOT_FOUND) from None


DOMAIN_NAME = PathParameter(
    "name",
    HostName().schema(),
    "The domain's host name, such as go.shop.com.",
    errors=(error_table.DOMAIN_NOT_FOUND,),
    parse=_parse_name,
)


@Operation(
    method="GET",
    path=PATH,
    summary="List link domains with their settings",
    needs=(Permission.SETTINGS_READ,),
    answer="DomainList",
)
async def get_domains() -> dict[str, Any]:
    """The organization's link domains in alphabetical order, also those that are not proved to be its own.

    What is not set is null.
    """
    database, org_id = resources().database, caller().org_id
    domains = {
        name: own_domain_json(name, settings)
        for name, settings in (await list_domain_settings(database, org_id)).items()
    }
    claims = {
        claim.domain: own_domain_json(claim.domain, claim=claim)
        for claim in await list_claims(database, org_id)
    }
    return {"domains": [domain for _, domain in sorted((claims | domains).items())]}


@Operation(
    method="PATCH",
    path=ONE,
    summary="Change where a domain's root and unknown paths lead, and how its pages look",
    needs=(Permission.SETTINGS_WRITE,),
    path_parameter=DOMAIN_NAME,
    body=_CHANGES,
    answer="Domain",
)
async def patch_domain(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Change the fields in the body; null, or an empty text, clears one.

    Of `brand`, only what is in it changes. `texts` replaces all texts that there were.
    """
    changed = await change_domain_settings(
        resources().database, caller().org_id, name, fields, resources().destinations
    )
    return own_domain_json(name, changed)
