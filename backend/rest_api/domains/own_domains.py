"""/domains: adds and removes domains, and says how far their setup has come."""

from __future__ import annotations

from typing import Any

from backend.doctor.domains.domain_setup import find_own_claim, setup_of
from backend.doctor.domains.domain_states import DomainStates
from backend.doctor.domains.own_domains import add_own_domain, remove_own_domain
from backend.domain.accounts.permissions import Permission
from backend.domain.domains.claims import ClaimedName
from backend.domain.domains.json_form import own_domain_json, setup_json
from backend.domain.errors import InvalidField
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.domains.domains import DOMAIN_NAME, ONE, PATH
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.storage.accounts.domain_settings import find_domain_settings
from backend.storage.accounts.domain_setup.findings import find_findings
from backend.storage.accounts.domains import DomainInUse, DomainTaken
from backend.web.current import of_app, resources

_LOOK_SECONDS = 25.0
# Told to who has shown that the domain is theirs, and to nobody else.
_TAKEN = "belongs to another organization of this service already"


@Operation(
    method="POST",
    path=PATH,
    summary="Add a link domain",
    needs=(Permission.SETTINGS_WRITE,),
    body=BodyFields({"name": ClaimedName()}, required=("name",)),
    status=201,
    other_status=200,
    answer="Domain",
)
async def post_domain(fields: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Say that a domain is yours. It can be used once its TXT record, `proof`, was found by a check.

    Of a domain that you have, it answers 200, and cancels a removal.
    """
    name, claim = await add_own_domain(resources(), caller().org_id, fields["name"])
    if claim:
        return own_domain_json(name, claim=claim), 201
    settings = await find_domain_settings(resources().database, caller().org_id, name)
    return own_domain_json(name, settings), 200


@Operation(
    method="DELETE",
    path=ONE,
    summary="Remove a link domain without links",
    needs=(Permission.SETTINGS_WRITE,),
    path_parameter=DOMAIN_NAME,
    status=204,
    errors=(error_table.DOMAIN_IN_USE,),
)
async def remove_domain(name: str) -> None:
    """Give up a domain with its apps and settings; then any organization may add it.

    It takes about ten seconds, until no process makes links on it any more.
    """
    try:
        await remove_own_domain(resources(), caller().org_id, name)
    except DomainInUse:
        raise ApiError(error_table.DOMAIN_IN_USE) from None


@Operation(
    method="POST",
    path=f"{ONE}/check",
    summary="Look how far a domain's setup has come",
    needs=(Permission.SETTINGS_WRITE,),
    path_parameter=DOMAIN_NAME,
    answer="DomainSetup",
)
async def check_domain(name: str) -> dict[str, Any]:
    """Look now at DNS, certificate, answers and association files. A domain whose TXT record is found is
    yours from then on. What takes longer than 25 seconds is answered as it was found before."""
    states, database, org_id = of_app(DomainStates), resources().database, caller().org_id
    try:
        kept = await states.look(org_id, name, _LOOK_SECONDS)
    except DomainTaken:
        raise InvalidField("name", _TAKEN) from None
    if kept is None:
        kept = (await find_findings(database, org_id, [name])).get(name)
    claim = await find_own_claim(database, org_id, name)
    return setup_json(await setup_of(database, states, org_id, name, claim=claim, kept=kept))
