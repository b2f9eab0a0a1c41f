"""`waylink mail`."""

from __future__ import annotations

import asyncio
import json

import click

from backend.cli.options import json_option
from backend.cli.printable import printable
from backend.domain.errors import FieldError
from backend.domain.mail.address import MailAddress
from backend.mail.server import mail_server_of
from backend.mail.trial import send_test_mail
from backend.settings import load_settings
from backend.system.clock import utc_now

NO_SERVER = (
    "No mail server is configured: set WAYLINK_SMTP_HOST and WAYLINK_SMTP_SENDER (docs/settings.md says what "
    "else there is)."
)


@click.group()
def mail() -> None:
    """Mails that the service sends."""


@mail.command("test")
@click.argument("address")
@json_option
def test(address: str, as_json: bool) -> None:
    """Send a test mail to ADDRESS, and print how each step went. Exits with code 1 if one failed."""
    try:
        checked = MailAddress().parse("address", address)
    except FieldError as error:
        raise click.BadParameter(f"{address!r} {error.rule}", param_hint="ADDRESS") from None
    server = mail_server_of(load_settings())
    if server is None:
        raise click.ClickException(NO_SERVER)
    results = asyncio.run(send_test_mail(server, checked, utc_now()))
    is_sent = all(result.result == "ok" for result in results)
    if as_json:
        steps = {result.step.value: result.result for result in results}
        click.echo(json.dumps({"host": server.host, "port": server.port, "sent": is_sent, "steps": steps}))
    else:
        click.echo(printable(f"{server.sender} through {server.host}, port {server.port}"))
        for result in results:
            click.echo(printable(f"{result.step.value.replace('_', ' '):<10} {result.result}"))
    if not is_sent:
        raise SystemExit(1)
