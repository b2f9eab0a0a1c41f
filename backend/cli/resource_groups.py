"""The groups of commands that follow from resources alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.options import org_option, with_options
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.analytics.segments import SEGMENTS
from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.errors import FieldError, InvalidField, ItemUnknown, TooManyItems, raise_all
from backend.domain.fields.rules import Rule, parse_fields
from backend.domain.ids import OrgId
from backend.domain.resources.resource import Resource
from backend.domain.resources.resource_field import CommandOption
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.resources.things import Things
from backend.system.clock import utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNames:
    """The name of a group of commands, and what it and its commands `list` and `add` do."""

    group: str
    meaning: str
    list: str
    add: str


def resource_group(resource: Resource[Any], names: CommandNames) -> click.Group:
    """The group of commands that list, add and remove what an organization has of the resource."""
    group = click.Group(names.group, help=names.meaning)
    for command in (_list(resource, names), _add(resource, names), _remove(resource, names)):
        group.add_command(command)
    return group


def _list(resource: Resource[Any], names: CommandNames) -> click.Command:
    columns = ("id", *(name for name in resource.fields if name != "created_at"))

    def listed(result: CommandResult) -> str:
        return table(columns, [[thing[name] for name in columns] for thing in result[resource.rest.listed]])

    @stored_and_shown(listed)
    async def run(database: Database, org_id: OrgId, **given: Any) -> CommandResult:
        await get_organization(database, org_id)
        with _errors(resource, names, org_id):
            filters = _parsed({name: own.rule for name, own in resource.filters.items()}, given)
            things = await Things(resource).list(database, org_id, filters)
        return {resource.rest.listed: [resource.to_json(thing) for thing in things]}

    options = [_option(name, own.option) for name, own in resource.filters.items()]
    return click.command("list", help=names.list)(with_options(run, [org_option, *options]))


def _add(resource: Resource[Any], names: CommandNames) -> click.Command:
    @stored
    async def run(database: Database, org_id: OrgId, **given: Any) -> CommandResult:
        await get_organization(database, org_id)
        with _errors(resource, names, org_id):
            told = _parsed(
                resource.told,
                {name: _read(resource, name, text) for name, text in given.items()},
                resource.required,
            )
            return resource.to_json(await Things(resource).add(database, org_id, told, utc_now()))

    options = [
        _option(name, own.option, is_required=own.is_required)
        for name, own in resource.fields.items()
        if own.option
    ]
    return click.command("add", help=names.add)(with_options(run, [org_option, *options]))


def _remove(resource: Resource[Any], names: CommandNames) -> click.Command:
    @stored
    async def run(database: Database, given: str, org_id: OrgId) -> CommandResult:
        with _errors(resource, names, org_id):
            await Things(resource).delete(database, org_id, given.lower())
        return {"id": given.lower(), "removed": True}

    arguments = [click.argument("given", metavar="ID"), org_option]
    return click.command("remove", help=f"Remove the {resource.one} ID.")(with_options(run, arguments))


def _option(name: str, own: CommandOption, *, is_required: bool = False) -> Any:
    return click.option(own.name, name, metavar=own.metavar, required=is_required, help=own.help)


def _read(resource: Resource[Any], name: str, text: str | None) -> object:
    """What an option gives: its text, or what that says as JSON. Raises InvalidField."""
    option = resource.fields[name].option
    if text is None or option is None or not option.is_json:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidField(name, "must be JSON") from None


def _parsed(
    rules: Mapping[str, Rule[Any]], given: Mapping[str, Any], required: Collection[str] = ()
) -> dict[str, Any]:
    """What options give, parsed as over REST; an empty text is no value, but of what is required.

    Raises FieldError.
    """
    errors: list[FieldError] = []
    values = {name: value for name, value in given.items() if value not in (None, "") or name in required}
    fields = parse_fields(rules, values, errors)
    raise_all(errors)
    return fields


@contextmanager
def _errors(resource: Resource[Any], names: CommandNames, org_id: OrgId) -> Iterator[None]:
    """Turn the errors of the block into errors of the command."""
    try:
        yield
    except TooManyItems as error:
        raise click.ClickException(
            f"The organization has {error.most:,} {resource.several}, as many as it may have: "
            "remove some first."
        ) from None
    except FieldError as error:
        raise RefusedField(error.field, error.rule) from None
    except ItemUnknown:
        raise click.ClickException(
            f"The organization has no such {resource.one}; `waylink {names.group} list --org "
            f"{printable(org_id)}` lists its {resource.several}."
        ) from None


annotation = resource_group(
    ANNOTATIONS,
    CommandNames(
        group="annotation",
        meaning="Annotations: notes at a day or a time, which charts show.",
        list="List an organization's notes, the oldest first.",
        add="Note what happened at a day or a time.",
    ),
)

segment = resource_group(
    SEGMENTS,
    CommandNames(
        group="segment",
        meaning="Segments: filters of the overview that are saved under a name.",
        list="List an organization's segments by name.",
        add="Save filters of the overview as a segment.",
    ),
)
