"""`waylink serve`."""

from __future__ import annotations

import json
import os

import click

from backend.cli.folder_owner import act_as_owner
from backend.cli.options import json_option
from backend.environment import load_settings, unknown_variables
from backend.serving.workers import run_workers


@click.command()
@json_option
def serve(as_json: bool) -> None:
    """Run the service until Ctrl-C or SIGTERM."""
    settings = load_settings()
    act_as_owner(settings, opens_callers_files=False)
    for name in unknown_variables(os.environ):
        click.echo(f"Warning: {name} is not a setting; `waylink settings` lists them.", err=True)
    started = json.dumps({"base_url": settings.base_url})
    ready = started if as_json else f"Waylink answers at {settings.base_url}; Ctrl-C stops it."
    run_workers(settings, on_ready=lambda: click.echo(ready))
