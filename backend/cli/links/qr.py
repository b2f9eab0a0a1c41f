"""`waylink links qr`, `qr-sheet` and `qr-logo`: QR codes of links as files, and the organization's logo."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import click

from backend.cli.command import CommandResult, stored
from backend.cli.links.own_link import own_link
from backend.cli.options import org_option, with_options
from backend.cli.refused_field import RefusedField
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.domain.links.qr_style import (
    MOST_LABELS,
    STYLE_FIELDS,
    Label,
    QrFormat,
    QrStyle,
    SheetLayout,
    style_of,
)
from backend.environment import load_settings
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.links.qr_logos import find_logo, remove_logo, set_logo
from backend.system.clock import utc_now
from backend.system.folder_owner import give_to_caller
from backend.web.qr_codes.files import drawn_code, drawn_sheet, read_logo_file

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)


def style_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for how codes look."""
    options = [
        click.option("--color", metavar="COLOUR", help="Of the dark parts, as 1f5fbf; otherwise black."),
        click.option("--background", metavar="COLOUR", help="Of the light parts; otherwise white."),
        click.option("--text", metavar="TEXT", help="Below the code, in a frame."),
        click.option("--logo/--no-logo", "with_logo", help="With the organization's logo."),
    ]
    return with_options(command, options)


@click.command("qr")
@click.argument("link")
@org_option
@style_options
@click.option("--output", required=True, type=_OUTPUT, help="The file: .svg, .png or .pdf.")
@stored
async def qr(  # noqa: PLR0917 - click passes them by name
    database: Database,
    link: str,
    org_id: OrgId,
    color: str | None,
    background: str | None,
    text: str | None,
    with_logo: bool,
    output: Path,
) -> CommandResult:
    """Write the QR code of LINK, an id or a short URL, into a file.

    Colours that cameras can't tell apart are refused.
    """
    kind = output.suffix.removeprefix(".").lower()
    if kind not in list(QrFormat):
        raise RefusedField("output", "must end in .svg, .png or .pdf")
    found = await own_link(database, org_id, link)
    short_url = load_settings().short_url_form.write(found.domain, found.path)
    logo = await _logo(database, org_id, with_logo=with_logo)
    try:
        style = _style(color, background, text)
        await asyncio.to_thread(_write, output, drawn_code(short_url, QrFormat(kind), style, logo))
    except InvalidField as error:
        raise RefusedField(error.field, error.rule) from None
    return {"short_url": short_url, "file": str(output)}


@click.command("qr-sheet")
@click.argument("links", nargs=-1)
@click.option("--file", "listed", type=click.File(encoding="utf-8"), help="A link a line; - is stdin.")
@org_option
@style_options
@click.option(
    "--layout", type=click.Choice([layout.value for layout in SheetLayout]),
    default=SheetLayout.A4_24.value, show_default=True, help="The sheet: its paper and its number of labels.",
)  # fmt: skip
@click.option("--output", required=True, type=_OUTPUT, help="The PDF file.")
@stored
async def qr_sheet(  # noqa: PLR0917 - click passes them by name
    database: Database,
    links: tuple[str, ...],
    listed: TextIO | None,
    org_id: OrgId,
    color: str | None,
    background: str | None,
    text: str | None,
    with_logo: bool,
    layout: str,
    output: Path,
) -> CommandResult:
    """Write a sheet of labels with the QR codes of LINKS, ids or short URLs, into a PDF file."""
    named = [*links, *(line.strip() for line in listed or () if line.strip())]
    if not 1 <= len(named) <= MOST_LABELS:
        raise RefusedField("links", f"must be 1 to {MOST_LABELS} links")
    form = load_settings().short_url_form
    found = [await own_link(database, org_id, name) for name in named]
    labels = [Label(link.link_name, form.write(link.domain, link.path)) for link in found]
    logo = await _logo(database, org_id, with_logo=with_logo)
    try:
        style = _style(color, background, text)
        await asyncio.to_thread(_write, output, drawn_sheet(labels, SheetLayout(layout), style, logo))
    except InvalidField as error:
        raise RefusedField(error.field, error.rule) from None
    return {"labels": len(labels), "file": str(output)}


@click.command("qr-logo")
@org_option
@click.option("--set", "image", type=_FILE, help="A PNG, JPEG or WebP image of at most 256 KiB.")
@click.option("--remove", is_flag=True, help="Remove the logo.")
@stored
async def qr_logo(database: Database, org_id: OrgId, image: Path | None, remove: bool) -> CommandResult:
    """Set or remove the logo of the organization's QR codes; otherwise say whether there is one."""
    await get_organization(database, org_id)
    if image and remove:
        raise click.UsageError("Either --set or --remove.")
    if image:
        try:
            file = await asyncio.to_thread(image.read_bytes)
            await set_logo(database, org_id, read_logo_file("logo", file), utc_now())
        except InvalidField as error:
            raise RefusedField(error.field, error.rule) from None
    if remove:
        await remove_logo(database, org_id)
    return {"has_logo": await find_logo(database, org_id) is not None}


def _style(color: str | None, background: str | None, text: str | None) -> QrStyle:
    given = {"color": color, "background": background, "text": text}
    return style_of({name: STYLE_FIELDS[name].parse(name, value) for name, value in given.items() if value})


async def _logo(database: Database, org_id: OrgId, *, with_logo: bool) -> bytes | None:
    if not with_logo:
        return None
    if logo := await find_logo(database, org_id):
        return logo
    raise RefusedField("logo", "must be set by waylink links qr-logo before it can be used")


def _write(output: Path, drawn: bytes) -> None:
    with output.open("wb") as file:
        give_to_caller(file.fileno(), output)
        file.write(drawn)
