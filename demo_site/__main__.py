"""`make run`: runs the service and the demo shop in one process, with everything needed to try them."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shlex
import sys
from pathlib import Path

import click

from backend.app import create_app
from backend.domain.accounts.api_keys import KeyKind
from backend.domain.errors import OperatorError
from backend.environment import load_settings
from backend.serving.listener import bind
from backend.serving.server import ServedApp, run, serve_sites
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from demo_site.app import DemoSite, create_demo_site
from demo_site.demo_organization import Demo, demo_address, prepare_demo
from demo_site.history.make import DAYS, make_history
from demo_site.history.organization import delete_history, history_organization

SDK = Path(__file__).parents[1] / "sdk_dist"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--without-history", is_flag=True, help="Make no links, clicks and sales of the past up.")
@click.option(
    "--history-days",
    type=click.IntRange(1, 366),
    default=DAYS,
    show_default=True,
    metavar="N",
    help="How many days of the past to make up on the first start.",
)
@click.option("--remove-history", is_flag=True, help="Remove what was made up, also while the demo runs.")
def main(without_history: bool, history_days: int, remove_history: bool) -> None:
    """Run Waylink and the demo shop until Ctrl-C. The settings are the same as for `waylink serve`."""
    try:
        settings = dataclasses.replace(load_settings(), local_short_urls=True)
        if remove_history:
            asyncio.run(_remove_history(settings))
            return
        run(_run_demo(settings, 0 if without_history else history_days))
    except OperatorError as error:
        raise click.ClickException(str(error)) from None
    click.echo("Stopped.")


async def _remove_history(settings: Settings) -> None:
    async with open_database(settings) as database:
        deleted = await delete_history(database, utc_now())
    click.echo(
        f"Removed {deleted['links']} links with their clicks, {deleted['leads']:,} leads "
        f"and {deleted['conversions']:,} conversions."
    )


async def _make_history(database: Database, settings: Settings, days: int) -> None:
    """Make the demo's history up, and show how far it has come."""
    with click.progressbar(length=0, label="Making up links, clicks and sales of the past") as bar:

        def show(done: int, steps: int) -> None:
            bar.length = steps
            bar.update(done - bar.pos)

        now = utc_now()
        org_id = await history_organization(database, now)
        await make_history(database, org_id, demo_address(settings), now, show, days=days)


async def _run_demo(settings: Settings, history_days: int) -> None:
    service_socket = bind(settings.host, settings.port, "WAYLINK_PORT")
    shop_socket = bind(settings.host, settings.demo_port, "WAYLINK_DEMO_PORT")
    click.echo("Starting MongoDB, the service and the demo site ...")
    async with open_database(settings) as database:
        demo = await prepare_demo(database, settings, utc_now())
        if history_days:
            await _make_history(database, settings, history_days)
        sites = [
            ServedApp(create_app(settings), service_socket),
            ServedApp(create_demo_site(_demo_site(settings, demo)), shop_socket),
        ]
        await serve_sites(sites, settings, on_ready=lambda: click.echo(_welcome(settings, demo)))


def _demo_site(settings: Settings, demo: Demo) -> DemoSite:
    return DemoSite(
        api_base_url=settings.base_url,
        web_key=demo.keys[KeyKind.WEB],
        sdk_script=SDK / "waylink.js",
        short_url=_short_url(settings, demo),
    )


def _short_url(settings: Settings, demo: Demo) -> str:
    return f"http://{demo.domain}:{settings.port}/{demo.path}"


def _welcome(settings: Settings, demo: Demo) -> str:
    rest_key = demo.keys[KeyKind.REST]
    return f"""
  Demo shop         {demo_address(settings)}
  A link to click   {_short_url(settings, demo)}
  Dashboard         {settings.base_url}/
  E-mail address    {demo.user.email}
  Password          {demo.user.password}
  REST API          {settings.base_url}/serviceCore/pa/v1
  REST API key      {rest_key}
  Public web key    {demo.keys[KeyKind.WEB]}
  Mobile SDK key    {demo.keys[KeyKind.MOBILE]}

Make a link of your own:

{_curl(settings, demo, rest_key)}

Ctrl-C stops everything; what was made stays in {settings.data_dir}/.
"""


def _curl(settings: Settings, demo: Demo, rest_key: str) -> str:
    fields = {"domain": demo.domain, "destination_url": f"{demo_address(settings)}/", "link_name": "My link"}
    return " \\\n".join(
        [
            f"  curl -X POST {shlex.quote(settings.base_url + '/serviceCore/pa/v1/create-link')}",
            f"    -H 'API-KEY: {rest_key}' -H 'Content-Type: application/json'",
            f"    -d {shlex.quote(json.dumps(fields))}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
