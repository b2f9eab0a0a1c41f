"""`waylink serve`."""

from __future__ import annotations

import os

import click

from backend.app import create_app
from backend.cli.command import current_settings
from backend.server import NotStarted, Site, run_sites, run_workers
from backend.settings import unknown_variables


@click.command()
def serve() -> None:
    """Run the service until Ctrl-C or SIGTERM."""
    settings = current_settings()
    for name in unknown_variables(os.environ):
        click.echo(f"Warning: {name} is not a setting; `waylink settings` lists them.", err=True)
    try:
        if settings.workers > 1:
            run_workers(settings)
        else:
            site = Site(create_app(settings), settings.host, settings.port, "WAYLINK_PORT")
            run_sites([site], on_ready=lambda: click.echo(f"Waylink answers at {settings.base_url}"))
    except NotStarted as error:
        raise click.ClickException(str(error)) from None
