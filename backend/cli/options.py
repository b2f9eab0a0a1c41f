"""Options that several commands have. Nothing of storage is imported for them: `waylink serve` needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
org_option = click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")


def with_options(command: Callable[..., Any], options: Iterable[Callable[..., Any]]) -> Callable[..., Any]:
    """The command with these options, which its help lists in this order."""
    for option in reversed([*options]):
        command = option(command)
    return command
