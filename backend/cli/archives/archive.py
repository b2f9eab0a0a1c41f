"""`waylink export` and `waylink restore`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from backend.archives.export import export_organization
from backend.archives.restore import restore_organization
from backend.cli.analytics.client import analytics_client
from backend.cli.command import CommandResult, stored
from backend.cli.missing_clicks import MissingClicks
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.accounts.roles import Role
from backend.domain.audit.entries import AuditTarget
from backend.domain.clicks.rows import RowFormat, Selection
from backend.domain.ids import OrgId
from backend.environment import load_settings
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.users.users import list_users
from backend.storage.analytics.clicks.click_file import ClicksFile
from backend.storage.audit.facts import record
from backend.storage.clicks.missing import count_missing
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.indexes import create_indexes
from backend.storage.lifecycle.restores import LeftOutMember
from backend.system.clock import utc_now
from backend.system.whole_file import whole_or_nothing
from backend.web.api_host import ApiHost

# Of the owners who need new passwords: one can let the others in.
_NAMED_OWNERS = 10
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@click.command("export")
@org_option
@click.option(
    "-o", "--output", "path", required=True, metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path), help="File to write.",
)  # fmt: skip
@click.option(
    "--no-snapshot", is_flag=True, help="Read without a snapshot; for long exports, with the service stopped."
)
@click.option(
    "--clicks", "clicks_form", type=click.Choice([RowFormat.PARQUET.value]),
    help="Write the organization's single clicks instead, all that are kept, as such a file.",
)  # fmt: skip
@stored
async def export(
    database: Database, org_id: OrgId, path: Path, no_snapshot: bool, clicks_form: str | None
) -> CommandResult:
    """Write everything of an organization to FILE, as JSON lines.

    Keys are exported as hashes, so that they still work after a restore. The file contains personal data,
    and what its members' second factors are computed from; only its owner may read it.
    """
    if clicks_form:
        return await _export_clicks(database, org_id, path)
    with click.progressbar(length=1, label="Exporting", file=sys.stderr) as bar:

        def progress(total: int, more: int) -> None:
            bar.length = total
            bar.update(more)

        try:
            counts = await export_organization(database, org_id, path, progress, in_snapshot=not no_snapshot)
        except OSError as error:
            raise click.ClickException(str(error)) from None
    await _record(database, org_id, "exported")
    return {"org_id": org_id, "file": str(path), "documents": counts.total(), **counts}


async def _export_clicks(database: Database, org_id: OrgId, path: Path) -> CommandResult:
    """Write all single clicks that are kept into a Parquet file. Raises MissingClicks once it is there."""
    await get_organization(database, org_id)
    selection = Selection(_BEGINNING, utc_now())
    question = ClicksFile(selection, load_settings().short_url_form)
    async with analytics_client(database) as analytics, analytics.file(org_id, question) as made:
        try:
            with whole_or_nothing(path) as file:
                shutil.copyfileobj(made.file, file)
        except OSError as error:
            raise click.ClickException(str(error)) from None
        if missing := await count_missing(database, analytics, org_id, selection):
            raise MissingClicks(missing)
    return {"org_id": org_id, "file": str(path), "clicks": made.rows}


@click.command("restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@stored
async def restore(database: Database, file: Path) -> CommandResult:
    """Restore the organization in FILE, which `waylink export` wrote, into this database.

    Nothing is stored if the file is damaged or invalid, if it refers to anything of another organization, or
    if the database already has the organization or one of its domains. After an interruption, run it again:
    it continues where it stopped.
    """
    await create_indexes(database)
    is_api_host = ApiHost(load_settings().base_url).owns
    # Everything is read twice: to check it, then to store it.
    with click.progressbar(length=2 * _size(file), label="Restoring", file=sys.stderr) as bar:
        restored = await restore_organization(database, file, utc_now(), bar.update, is_api_host)
    org_id = restored.header.org_id
    await _record(database, org_id, "restored")
    if not restored.header.has_credentials:
        await _tell_to_set_passwords(database, org_id)
    if restored.left_out:
        _tell_to_invite(org_id, restored.left_out)
    owner = {"org_id": org_id, "name": restored.header.name}
    return owner | {"resumed": restored.resumed, "documents": restored.counts.total(), **restored.counts}


async def _tell_to_set_passwords(database: Database, org_id: OrgId) -> None:
    """Say on stderr how the members of an organization get in whose archive has nobody's credentials."""
    without = [member for member in await list_users(database, org_id) if member.password_hash is None]
    owners = [member for member in without if member.role_in(org_id) is Role.OWNER]
    lines = [
        "An owner made this file, so it has no passwords, second factors or identity provider. Members set "
        "new passwords at the sign-in page (Forgot your password?), or by the link that a command prints:",
        *(f"  waylink user reset {printable(owner.email)}" for owner in owners[:_NAMED_OWNERS]),
    ]
    click.echo("\n".join(lines), err=True)


def _tell_to_invite(org_id: OrgId, left_out: Sequence[LeftOutMember]) -> None:
    """Say on stderr whom the restore has left out, each with the command that invites them."""
    lines = [
        "Other users have the addresses of these members, so they are not restored. If it is they, invite "
        "them:",
        *(
            f"  waylink user invite {printable(member.email)} --org {org_id} --role {member.role}"
            for member in left_out
        ),
    ]
    click.echo("\n".join(lines), err=True)


async def _record(database: Database, org_id: OrgId, verb: str) -> None:
    organization = await get_organization(database, org_id)
    target = AuditTarget("organization", org_id, organization.name)
    await record(database, [org_id], f"organization.{verb}", target)


def _size(file: Path) -> int:
    return file.stat().st_size
