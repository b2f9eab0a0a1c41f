"""`waylink settings`."""

from __future__ import annotations

import json
from dataclasses import fields

import click

from backend.cli.options import json_option
from backend.environment import load_settings, shown_values, variable_name
from backend.settings import Settings


@click.command(name="settings")
@json_option
@click.option("--markdown", is_flag=True, help="Print the table of docs/settings.md.")
def show_settings(as_json: bool, markdown: bool) -> None:
    """List the settings: variable, current value, meaning. Passwords and tokens are not shown."""
    if markdown:
        click.echo(_markdown_table())
        return
    values = shown_values(load_settings())
    click.echo(json.dumps(values, default=str) if as_json else _as_lines(values))


def _as_lines(values: dict[str, object]) -> str:
    meanings = {variable_name(item): item.metadata["help"] for item in fields(Settings)}
    return "\n".join(
        f"{name}={'' if value is None else value}\n    {meanings[name]}" for name, value in values.items()
    )


def _markdown_table() -> str:
    rows = ["| variable | default | it must be | meaning |", "|---|---|---|---|"]
    for item in fields(Settings):
        default = f"`{item.default}`" if item.default not in (None, "", ()) else ""
        rows.append(
            f"| `{variable_name(item)}` | {default} | {item.metadata['rule']} | {item.metadata['help']} |"
        )
    return "\n".join(rows)
