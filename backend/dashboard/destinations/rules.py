"""/destinations: where the organization's links may lead, and where not."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, stored_fields
from backend.domain.accounts.destination_rules import DestinationRules, parse_rules
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.storage.accounts.organizations import find_destination_rules, set_destination_rules
from backend.web.current import resources

_LISTS = ("allowed", "refused")


async def _stored() -> dict[str, str]:
    rules = await find_destination_rules(resources().database, org_id())
    return {"allowed": "\n".join(rules.allowed), "refused": "\n".join(rules.refused)}


@dashboard.get("/destinations")
@needs(Permission.SETTINGS_READ)
@of_stored(_stored)
async def destinations() -> Response:
    """The form with the rules as they are."""
    return await _form(dict(stored_fields()), {})


@dashboard.post("/destinations/rules")
@needs(Permission.SETTINGS_WRITE)
@of_stored(_stored)
async def destinations_set() -> Response:
    """Set the rules, an address a line; if one can't be read, show the form again with the errors."""
    fields = {name: field(name) for name in _LISTS}
    problems = {name: rule for name in _LISTS if (rule := _problem(name, fields[name]))}
    if problems:
        return await _form(fields, problems)
    await set_destination_rules(resources().database, org_id(), _parsed(fields))
    return redirect_with_notice("destinations", "destinations-set")


def _parsed(fields: dict[str, str]) -> DestinationRules:
    return parse_rules({name: text.split() for name, text in fields.items()})


def _problem(name: str, text: str) -> str | None:
    """The problem of a list, which completes "<label> ..."; None if the list is valid."""
    for addresses in [[word] for word in text.split()] + [text.split()]:
        try:
            parse_rules({name: addresses})
        except InvalidField as error:
            return f"{error.rule} ({addresses[0]} is not)" if len(addresses) == 1 else error.rule
    return None


async def _form(fields: dict[str, str], problems: dict[str, str]) -> Response:
    return await page("destinations/rules.html", 422 if problems else 200, fields=fields, problems=problems)
