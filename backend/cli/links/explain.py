"""`waylink links explain`: what a tap on a link does, on every phone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from backend.cli.command import CommandResult, run_on_database
from backend.cli.options import json_option
from backend.cli.printable import printable
from backend.cli.table import table
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import LinkId
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import Link
from backend.domain.taps.apple_file import parse_apple_file
from backend.domain.taps.components import UnreadableFile
from backend.domain.taps.google_file import parse_google_file
from backend.domain.taps.json_form import tap_json
from backend.domain.taps.manifest import parse_manifest
from backend.domain.taps.tap import Tap, merged, phones_that_fail
from backend.domain.web.short_urls import parse_short_url
from backend.environment import load_settings
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.block_list import read_block_list
from backend.storage.links.links import find_link_of_any, resolve_link
from backend.storage.links.meant_paths import find_meant_place
from backend.storage.links.tap_lab import Known, open_lab
from backend.system.clock import utc_now

ContentT = TypeVar("ContentT")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("explain")
@click.argument("link")
@click.option("--apple-file", type=_FILE, help="apple-app-site-association as phones have it now.")
@click.option("--google-file", type=_FILE, help="assetlinks.json as phones have it now.")
@click.option("--manifest", type=_FILE, help="AndroidManifest.xml of the app, with its intent filters.")
@click.option(
    "--expect", type=click.Choice(["app", "browser"]),
    help="End with code 1 if any phone that has the app does otherwise.",
)  # fmt: skip
@json_option
def explain(  # noqa: PLR0917 - click passes them by name
    link: str,
    apple_file: Path | None,
    google_file: Path | None,
    manifest: Path | None,
    expect: str | None,
    as_json: bool,
) -> None:
    """Say what a tap on LINK, an id or a short URL, does on every phone, and why.

    By the rules that Apple and Google publish, and by the decision of the redirect itself. Without files,
    those that the domain answers now, and an Android app whose manifest takes all of the domain.
    """
    files = {
        "apple_file": _read(apple_file, lambda text: parse_apple_file(json.loads(text))),
        "google_file": _read(google_file, lambda text: parse_google_file(json.loads(text))),
        "filters": _read(manifest, parse_manifest),
    }
    found = run_on_database(_explain, {"text": link, "files": files, "expect": expect})
    click.echo(json.dumps(found, default=tap_json) if as_json else _shown(found))
    if found["failing"]:
        raise SystemExit(1)


async def _explain(database: Database, text: str, files: dict[str, Any], expect: str | None) -> CommandResult:
    link, tapped = await _find(database, text.strip())
    if link is None:
        raise click.ClickException(f"There is no link {printable(text)!r}.")
    settings = load_settings()
    is_blocked = leads_to(link, read_block_list(settings.block_list))
    form, in_app_browsers = settings.short_url_form, settings.known_in_app_browsers
    known = Known(form, utc_now(), is_blocked, tapped=tapped, in_app_browsers=in_app_browsers, **files)
    lab = await open_lab(database, link, known)
    taps = [*lab.taps()]
    failing = phones_that_fail(taps, expects_app=expect == "app") if expect else []
    return {"short_url": lab.short_url, "taps": taps, "expected": expect, "failing": failing}


async def _find(database: Database, text: str) -> tuple[Link | None, str | None]:
    """The link of any organization with this id or short URL, and the text if it is meant by it only."""
    if is_uuid(text):
        return await find_link_of_any(database, LinkId(text.lower())), None
    address = text if "://" in text else f"https://{text}"
    place = parse_short_url(address)
    if place and (link := await resolve_link(database, *place)):
        return link, None
    meant = await find_meant_place(database, address)
    return (await resolve_link(database, *meant) if meant else None), address


def _read(path: Path | None, parse: Callable[[str], ContentT]) -> ContentT | None:
    if path is None:
        return None
    try:
        return parse(path.read_text(encoding="utf-8"))
    except UnreadableFile as error:
        raise click.ClickException(f"{path}: {error}.") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{path}: it is not text in UTF-8.") from None
    except (ValueError, RecursionError):
        raise click.ClickException(f"{path}: it is not JSON.") from None


def _merged(taps: Sequence[Tap]) -> dict[str, Any]:
    """The row of taps that do the same."""
    rows = [*map(tap_json, taps)]
    has_app = {row["has_app"] for row in rows}
    return rows[0] | {
        "tapped_in": ", ".join(dict.fromkeys(row["tapped_in"] for row in rows)),
        "has_app": "yes or no" if len(has_app) > 1 else "yes" if rows[0]["has_app"] else "no",
        "file": " or ".join(dict.fromkeys(row["file"] or "any" for row in rows)),
    }


def _shown(found: CommandResult) -> str:
    rows = [
        (
            tap["device"],
            tap["tapped_in"],
            tap["has_app"],
            tap["file"] or "any",
            tap["effect"],
            " ".join(tap["why"]),
        )
        for tap in map(_merged, merged(found["taps"]))
    ]
    shown = [
        printable(found["short_url"]),
        table(("device", "tapped in", "has the app", "its file", "effect", "why"), rows),
    ]
    if found["expected"]:
        failing = ", ".join(tap.situation.device for tap in found["failing"])
        shown.append(
            f"Expected: {found['expected']}. " + (f"Otherwise on: {failing}" if failing else "So it is.")
        )
    return "\n\n".join(shown)
