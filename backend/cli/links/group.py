"""The group of the commands `waylink links …`."""

from __future__ import annotations

import click

from backend.cli.lazy_group import LazyGroup

_PLACES = {
    "list": "list_links:list_links",
    "show": "show:show",
    "create": "write:create",
    "update": "write:update",
    "archive": "archive:archive",
    "explain": "explain:explain",
    "qr": "qr:qr",
    "qr-sheet": "qr:qr_sheet",
    "qr-logo": "qr:qr_logo",
    "check": "check:check",
    "hold": "hold:hold",
    "release": "hold:release",
    "held": "hold:list_held",
    "reports": "reports:list_reports",
}


@click.group(cls=LazyGroup, package="backend.cli.links", places=_PLACES)
def links() -> None:
    """Links: those of an organization, and what the service's operator does with links of all."""
