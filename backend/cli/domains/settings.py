"""`waylink domain set`: where a domain's root and unknown paths lead, and how its pages look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from backend.cli.command import CommandResult, stored
from backend.cli.domains.own_domain import check_own_domain, host
from backend.cli.links.policies import link_policies
from backend.cli.options import org_option
from backend.cli.refused_field import RefusedField
from backend.domain.domains.input import BRAND_FIELDS, DOMAIN_FIELDS
from backend.domain.domains.json_form import domain_json
from backend.domain.errors import FieldError, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.domain_destinations import change_domain_settings

_MOST_BYTES = 100_000


@click.command("set")
@click.argument("domain_name", metavar="DOMAIN")
@org_option
@click.option("--root-url", metavar="URL", help="Where the domain's root leads.")
@click.option("--not-found-url", metavar="URL", help="Where paths lead that no link has.")
@click.option("--name", metavar="TEXT", help="The name on the pages.")
@click.option("--logo-url", metavar="URL", help="The logo on the pages, an https address.")
@click.option("--favicon-url", metavar="URL", help="The icon of the pages, an https address.")
@click.option("--color", metavar="COLOR", help="Of buttons and links, such as #1f5fbf.")
@click.option("--background", metavar="COLOR", help="Of the pages, such as #ffffff.")
@click.option("--texts", metavar="FILE", help="Own texts of pages, as JSON in REST's form.")
@click.option("--robots-txt", metavar="FILE", help="The lines of /robots.txt.")
@click.option(
    "--forwards-path/--no-forwards-path",
    default=None,
    help="Whether new links pass on what follows their path, unless they say otherwise.",
)
@click.option(
    "--ignores-case/--no-ignores-case",
    default=None,
    help="Whether a path in other case leads to the only link that it can mean.",
)
@stored
async def set_domain(database: Database, domain_name: str, org_id: OrgId, **given: Any) -> CommandResult:
    """Set what visitors of DOMAIN see. An empty value clears it; what is not named stays.

    Without options, it only shows what is set.
    """
    name = host(domain_name)
    await check_own_domain(database, name, org_id)
    try:
        fields = _parse({option: value for option, value in given.items() if value is not None})
        settings = await change_domain_settings(database, org_id, name, fields, link_policies(database))
    except FieldError as error:
        raise RefusedField(error.field.removeprefix("brand."), error.rule) from None
    return domain_json(name, settings)


def _parse(given: dict[str, Any]) -> dict[str, Any]:
    """The options by the rules of the fields; None for an empty one. Raises FieldError."""
    body: dict[str, Any] = {name: value for name, value in given.items() if name in DOMAIN_FIELDS}
    if brand := {name: value for name, value in given.items() if name in BRAND_FIELDS}:
        body["brand"] = brand
    if body.get("texts"):
        body["texts"] = _read_json("texts", body["texts"])
    if body.get("robots_txt"):
        body["robots_txt"] = _read("robots_txt", body["robots_txt"])
    errors: list[FieldError] = []
    cleared = {name: None for name, value in body.items() if value == ""}
    others = {name: value for name, value in body.items() if name not in cleared}
    fields = parse_fields(DOMAIN_FIELDS, others, errors)
    raise_all(errors)
    return cleared | fields


def _read_json(field: str, path: str) -> Any:
    try:
        return json.loads(_read(field, path))
    except ValueError as error:
        raise RefusedField(field, f"must be a file of JSON: {error}") from None


def _read(field: str, path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as file:
            return file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        raise RefusedField(field, f"must be a file that can be read: {error}") from None
