"""Groups whose commands are loaded when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that imports each of its commands only when it is needed: most need but a part of Waylink.

    `places` says where each command is, such as `hold:release` for the function `release` in the file `hold`
    of `package`.
    """

    def __init__(self, *arguments: Any, package: str, places: Mapping[str, str], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._package = package
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name; None if there is none."""
        if cmd_name not in self._places:
            return None
        file, _, name = self._places[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"{self._package}.{file}"), name)
        return command
