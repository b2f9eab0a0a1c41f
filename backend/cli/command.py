"""What commands on the database share: settings, the database, and two ways to print a result."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from backend.cli.folder_owner import act_as_owner
from backend.cli.options import json_option
from backend.cli.table import NONE, cell, table
from backend.domain.accounts.actors import command_line
from backend.domain.errors import OperatorError
from backend.environment import load_settings, names_installation
from backend.settings import Settings
from backend.storage.analytics.question import NoAnswer
from backend.storage.audit.acting import act_as
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import StorageError
from backend.system.standard_streams import are_for_stdout

CommandResult = Mapping[str, Any]
Command = Callable[..., Awaitable[CommandResult]]


def stored(command: Command) -> Callable[..., None]:
    """Turn this function into a command that uses the database.

    Its result is printed as lines of text or, with --json, as one JSON object.
    """
    return stored_and_shown(as_lines)(command)


# The exit code beside 1, which is an error: the rest was done, and some rows of a file were refused.
REFUSED_ROWS = 3


def stored_and_shown(
    show: Callable[[CommandResult], str], *, refuses_rows: bool = False
) -> Callable[[Command], Callable[..., None]]:
    """As `stored`, where `show` turns the result into the text that is printed without --json.

    A command that `refuses_rows` has their number in its result as `refused`, and an exit code for them. One
    that wrote a file into stdout tells its result on stderr.
    """

    def decorate(command: Command) -> Callable[..., None]:
        @json_option
        @wraps(command)
        def run(as_json: bool, **arguments: Any) -> None:
            result = run_on_database(command, arguments)
            text = json.dumps(result) if as_json else show(result)
            click.echo(text, err=are_for_stdout(arguments.values()))
            if refuses_rows and result["refused"]:
                raise SystemExit(REFUSED_ROWS)

        return run

    return decorate


def run_on_database(
    command: Command, arguments: dict[str, Any], indexes: Indexes = Indexes.MAKE_IN_NEW
) -> CommandResult:
    """Run the command on the database and return its result.

    Raises OperatorError, which ends the command with its message.
    """
    return asyncio.run(_with_database(settings_of_installation(), command, arguments, indexes))


class NoInstallation(OperatorError):
    """Nothing says which installation a command is for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"There is no installation in {folder.absolute()}, and nothing names another. Go to the folder "
            "where Waylink runs, or name it with `waylink --data-dir FOLDER …`, `waylink --env-file FILE …` "
            "or WAYLINK_MONGODB_URI. A folder named like this is made if it does not exist."
        )


def settings_of_installation() -> Settings:
    """The settings for a command, which works as the owner of their folder of data from here on.

    Raises NoInstallation where the command would make a new, empty database by accident, and NotTheOwner.
    """
    settings = load_settings()
    act_as_owner(settings, opens_callers_files=True)
    if not names_installation() and not (settings.data_dir / "mongodb").is_dir():
        raise NoInstallation(settings.data_dir)
    return settings


async def _with_database(
    settings: Settings, command: Command, arguments: dict[str, Any], indexes: Indexes
) -> CommandResult:
    try:
        async with open_database(settings, indexes) as database:
            act_as(command_line(_user_name()))
            return await command(database, **arguments)
    except NoAnswer as error:
        raise click.ClickException(str(error)) from None
    except StorageError as error:
        raise click.ClickException(
            f"MongoDB can't be used; check WAYLINK_MONGODB_URI. It said: {error}"
        ) from None


def _user_name() -> str:
    """The name of the system's user who runs the command, for the audit log."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the user has no name, as in some containers
        return f"user {os.getuid()}"


def as_lines(result: CommandResult) -> str:
    """The result as lines with a name each; lists in it as tables."""
    lists = {name: rows for name, rows in result.items() if isinstance(rows, list)}
    if lists:
        return "\n\n".join(_as_table(name, rows) for name, rows in lists.items() if rows) or NONE
    width = max(len(name) for name in result)
    return "\n".join(f"{name:<{width}}  {cell(value)}" for name, value in result.items())


def _as_table(name: str, rows: list[Any]) -> str:
    """The rows of a list under their fields' names, or under the list's own if they have no fields."""
    if not all(isinstance(row, dict) for row in rows):
        return table([name], [[row] for row in rows])
    fields = list(dict.fromkeys(field for row in rows for field in row))
    return table(fields, [[row.get(field) for field in fields] for row in rows])
