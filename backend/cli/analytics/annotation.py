"""`waylink annotation`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.annotations.annotation import LONGEST_TEXT, NotedBy
from backend.domain.annotations.input import ANNOTATION_FIELDS
from backend.domain.annotations.json_form import annotation_json
from backend.domain.errors import FieldError, ItemUnknown, TooManyItems, raise_all
from backend.domain.fields.rules import Instant, parse_fields
from backend.domain.ids import LinkId, OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.annotations import notes
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

_COLUMNS = ("id", "at", "text", "link_id", "created_by")


@click.group()
def annotation() -> None:
    """Annotations: notes at a day or a time, which charts show."""


@contextmanager
def _annotation_errors(org_id: OrgId) -> Iterator[None]:
    """Turn the errors of annotations in the block into errors of the command."""
    try:
        yield
    except TooManyItems as error:
        raise click.ClickException(
            f"The organization has {error.most:,} notes, as many as it may have: remove some first."
        ) from None
    except FieldError as error:
        raise RefusedField(error.field, error.rule) from None
    except ItemUnknown:
        raise click.ClickException(
            f"The organization has no such note; `waylink annotation list --org {printable(org_id)}` lists "
            "its notes."
        ) from None


def _listed(result: CommandResult) -> str:
    return table(_COLUMNS, [[note[name] for name in _COLUMNS] for note in result["annotations"]])


@annotation.command("list")
@org_option
@click.option("--from", "from_", metavar="TIME", help="Only notes of this time or later ones.")
@click.option("--to", metavar="TIME", help="Only notes of earlier times.")
@click.option("--link", "link_text", metavar="ID", help="Only notes of this link.")
@stored_and_shown(_listed)
async def list_annotations(
    database: Database, org_id: OrgId, from_: str | None, to: str | None, link_text: str | None
) -> CommandResult:
    """List an organization's notes, the oldest first."""
    await get_organization(database, org_id)
    with _annotation_errors(org_id):
        start, end = _moment("from", from_), _moment("to", to)
    link = LinkId(link_text.lower()) if link_text else None
    listed = await notes.list_annotations(database, org_id, start, end, link)
    return {"annotations": [annotation_json(note) for note in listed]}


@annotation.command("add")
@org_option
@click.option(
    "--at", required=True, metavar="TIME", help="A day, as 2026-03-02, or a time, as 2026-03-02T09:00:00Z."
)
@click.option("--text", required=True, help=f"What happened, in up to {LONGEST_TEXT} characters.")
@click.option("--link", "link_text", metavar="ID", help="The link that it is about.  [default: all]")
@stored
async def add_annotation(
    database: Database, org_id: OrgId, at: str, text: str, link_text: str | None
) -> CommandResult:
    """Note what happened at a day or a time."""
    await get_organization(database, org_id)
    given = {"at": at, "text": text} | ({"link_id": link_text} if link_text else {})
    with _annotation_errors(org_id):
        fields = _parsed(given)
        return annotation_json(
            await notes.add_annotation(database, org_id, fields, NotedBy.PERSON, utc_now())
        )


@annotation.command("remove")
@click.argument("annotation_text", metavar="ID")
@org_option
@stored
async def remove_annotation(database: Database, annotation_text: str, org_id: OrgId) -> CommandResult:
    """Remove the note ID."""
    with _annotation_errors(org_id):
        await notes.delete_annotation(database, org_id, annotation_text.lower())
    return {"id": annotation_text.lower(), "removed": True}


def _moment(name: str, text: str | None) -> datetime | None:
    return None if text is None else Instant().parse(name, text)


def _parsed(given: Mapping[str, object]) -> dict[str, Any]:
    """The fields, parsed as over REST. Raises FieldError."""
    errors: list[FieldError] = []
    fields = parse_fields(ANNOTATION_FIELDS, given, errors)
    raise_all(errors)
    return fields
