"""The group of the commands `waylink domain …`."""

from __future__ import annotations

import click

from backend.cli.lazy_group import LazyGroup

_PLACES = {
    "add": "owned:add_domain",
    "remove": "owned:remove_domain",
    "list": "owned:list_domains",
    "set": "settings:set_domain",
    "orphans": "orphans:list_orphans",
}


@click.group(cls=LazyGroup, package="backend.cli.domains", places=_PLACES)
def domain() -> None:
    """Link domains: the host names of short URLs."""
