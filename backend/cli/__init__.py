"""The command line, `waylink`: one file for each group of commands."""

from __future__ import annotations

import click

from backend.cli.app import app
from backend.cli.archive import export, restore
from backend.cli.doctor import doctor
from backend.cli.domain import domain
from backend.cli.import_links import import_links
from backend.cli.key import key
from backend.cli.organization import organization
from backend.cli.origin import origin
from backend.cli.privacy import privacy
from backend.cli.report import report
from backend.cli.serve import serve
from backend.cli.settings import show_settings
from backend.cli.subscription import subscription
from backend.cli.user import user


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="waylink")
def main() -> None:
    """Waylink: dynamic links on a server of your own.

    Settings come from WAYLINK_* environment variables or a .env file; `waylink settings` lists them.
    """


for _command in (
    serve,
    organization,
    user,
    key,
    domain,
    app,
    origin,
    subscription,
    import_links,
    export,
    restore,
    report,
    privacy,
    doctor,
    show_settings,
):
    main.add_command(_command)
