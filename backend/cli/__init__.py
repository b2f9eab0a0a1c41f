"""The command line, `waylink`: one file for each group of commands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from backend.cli.lazy_group import LazyGroup
from backend.cli.printable import printable
from backend.domain.errors import OperatorError
from backend.environment import only_settings, settings_beside
from backend.version import VERSION

# Where each command is.
_PLACES = {
    "serve": "serve:serve",
    "organization": "accounts.organization:organization",
    "user": "accounts.user:user",
    "key": "accounts.key:key",
    "identity": "visitors.identity:identity",
    "domain": "domains:domain",
    "app": "accounts.app:app",
    "origin": "accounts.origin:origin",
    "limit": "accounts.limit:limit",
    "subscription": "accounts.subscription:subscription",
    "links": "links:links",
    "webhook": "feed.webhook:webhook",
    "mail": "mail.mail:mail",
    "import": "imports.import_links:import_links",
    "export": "archives.archive:export",
    "restore": "archives.archive:restore",
    "verify": "archives.verify:verify",
    "ledger": "archives.ledger:ledger",
    "alerts": "analytics.alerts:alerts",
    "annotation": "resource_groups:annotation",
    "segment": "resource_groups:segment",
    "cost": "analytics.cost:cost",
    "report": "analytics.report:report",
    "funnel": "analytics.funnel:funnel",
    "privacy": "visitors.privacy:privacy",
    "audit": "accounts.audit:audit",
    "follow": "feed.follow:follow",
    "doctor": "doctor:doctor",
    "upgrade": "upgrade:upgrade",
    "settings": "settings:show_settings",
    "completion": "completion:completion",
}


class _Commands(LazyGroup):
    """All commands, whose errors are JSON where their results are."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **more: Any) -> Any:
        """Run the command that the arguments name. With --json among them, an error is JSON too."""
        arguments = sys.argv[1:] if args is None else args
        if "--json" not in arguments:
            return super().main(args, *others, **more)
        try:
            code = super().main(args, *others, **more | {"standalone_mode": False})
        except click.Abort:
            _end_with("Aborted", 1)
        except click.ClickException as error:
            _end_with(error.format_message(), error.exit_code, getattr(error, "field", None))
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An OperatorError ends it with its message."""
        try:
            return super().invoke(ctx)
        except OperatorError as error:
            raise click.ClickException(_printable(str(error))) from None


def _end_with(message: str, exit_code: int, field: str | None = None) -> NoReturn:
    """End the process with an error for programs, on stderr as every error is."""
    named = {} if field is None else {"field": field}
    click.echo(json.dumps({"error": message, **named}), err=True)
    sys.exit(exit_code)


def _printable(message: str) -> str:
    """The message in its lines: it may quote a file or a document that comes from anyone."""
    return "\n".join(printable(line) for line in message.split("\n"))


@click.group(
    cls=_Commands,
    package=__name__,
    places=_PLACES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, package_name="waylink", prog_name="waylink")
@click.option(
    "--env-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take the settings from this file alone, as systemd reads it. Its paths are relative to it.",
)
@click.option(
    "--data-dir", type=click.Path(file_okay=False), metavar="FOLDER",
    help="The installation's folder of data, instead of WAYLINK_DATA_DIR.",
)  # fmt: skip
@click.pass_context
def main(context: click.Context, env_file: Path | None, data_dir: str | None) -> None:
    """Waylink: dynamic links on a server of your own.

    Settings come from WAYLINK_* environment variables or a .env file; `waylink settings` lists them.
    """
    if env_file:
        context.with_resource(only_settings(settings_beside(env_file)))
    if data_dir:
        context.with_resource(_data_folder(data_dir))


@contextmanager
def _data_folder(data_dir: str) -> Iterator[None]:
    """Name the folder of data in the environment: a process that calls commands goes on after them."""
    name = "WAYLINK_DATA_DIR"
    before = os.environ.get(name)
    os.environ[name] = data_dir
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before
