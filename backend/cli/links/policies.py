"""The rules for destinations of links that commands write."""

from __future__ import annotations

import click

from backend.environment import load_settings
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.block_list import read_block_list
from backend.storage.links.destinations.policies import DestinationPolicies


def link_policies(database: Database) -> DestinationPolicies:
    """The rules of organizations and the operator's block list as it is now. Raises ClickException."""
    try:
        blocked = read_block_list(load_settings().block_list)
    except OSError as error:
        raise click.ClickException(f"The file of WAYLINK_BLOCK_LIST can't be read: {error}") from None
    return DestinationPolicies(database, lambda: blocked)
