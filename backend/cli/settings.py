"""`waylink settings`."""

from __future__ import annotations

import json
from dataclasses import fields

import click

from backend.cli.command import current_settings, json_option
from backend.settings import variable_name


@click.command("settings")
@json_option
def show_settings(as_json: bool) -> None:
    """List the settings: variable, value in force, meaning."""
    settings = current_settings()
    values = {variable_name(item): getattr(settings, item.name) for item in fields(settings)}
    if as_json:
        click.echo(json.dumps(values, default=str))
        return
    for item in fields(settings):
        name = variable_name(item)
        click.echo(f"{name}={values[name] if values[name] is not None else ''}\n    {item.metadata['help']}")
