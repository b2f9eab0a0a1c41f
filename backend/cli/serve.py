"""`waylink serve`."""

from __future__ import annotations

import json
import os

import click

from backend.cli.command import current_settings, json_option
from backend.serving.server import NotStarted
from backend.serving.workers import WorkerFailed, run_workers
from backend.settings import unknown_variables


@click.command()
@json_option
def serve(as_json: bool) -> None:
    """Run the service until Ctrl-C or SIGTERM."""
    settings = current_settings()
    for name in unknown_variables(os.environ):
        click.echo(f"Warning: {name} is not a setting; `waylink settings` lists them.", err=True)
    started = json.dumps({"base_url": settings.base_url})
    ready = started if as_json else f"Waylink answers at {settings.base_url}; Ctrl-C stops it."
    try:
        run_workers(settings, on_ready=lambda: click.echo(ready))
    except (NotStarted, WorkerFailed) as error:
        raise click.ClickException(str(error)) from None
