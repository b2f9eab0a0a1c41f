"""The group of the commands `waylink links …`."""

from __future__ import annotations

import click


@click.group()
def links() -> None:
    """Links of all organizations, for whoever runs the service."""
