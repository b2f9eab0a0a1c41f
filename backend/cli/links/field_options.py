"""Options for a link's fields: one for each of the most used, and `--field` for any field."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import click

from backend.cli.options import with_options
from backend.cli.password_prompt import read_password, stdin_option
from backend.cli.refused_field import RefusedField
from backend.domain.links.input import CHANGE_FIELDS, Changes, parse_changes
from backend.domain.links.links import UTM_FIELDS

Options = Mapping[str, Any]
_PASSWORD = frozenset({"password", "password_stdin", "no_password"})


def field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for what both a new link and a change of one may have."""
    options = [
        click.option("--destination", "destination_url", metavar="URL", help="Where the link leads."),
        click.option("--name", "link_name", metavar="TEXT", help="What the link is called."),
        *(click.option(_option(name), name, metavar="TEXT", help=f"Its {name}.") for name in UTM_FIELDS),
        click.option("--external-id", metavar="TEXT", help="Your own name for the link."),
        click.option(
            "--tag", "tags", multiple=True, metavar="NAME",
            help="A tag that exists; may be repeated. These are all of the link's tags then.",
        ),
        click.option(
            "--forwards-path/--no-forwards-path", "forwards_path", default=None,
            help="Whether what follows its path is passed on.",
        ),
        click.option(
            "--forwards-query", multiple=True, metavar="NAME",
            help="A parameter that is passed on; may be repeated. No others are then.",
        ),
        click.option("--starts-at", metavar="TIME", help="It leads nowhere before, as 2026-03-01T12:00:00Z."),
        click.option("--expires-at", metavar="TIME", help="It leads nowhere from then on."),
        click.option("--expired-url", metavar="URL", help="Where who comes too late goes instead."),
        click.option(
            "--max-clicks", type=int,
            help="How many visitors it lets through. Programs that check mails use them up: see "
            "--click-to-continue.",
        ),
        click.option(
            "--click-to-continue/--no-click-to-continue", "click_to_continue", default=None,
            help="Whether a visitor takes one of its clicks by a button on a page, for links sent by mail.",
        ),
        click.option("--enabled/--disabled", "is_enabled", default=None, help="Whether it leads anywhere."),
        click.option("--password", is_flag=True, help="Ask for its visitors' password."),
        stdin_option,
        click.option(
            "--field", "others", multiple=True, metavar="NAME=JSON",
            help="Any other field, by its name in REST, as social_title='\"Spring\"'; may be repeated.",
        ),
    ]  # fmt: skip
    return with_options(command, options)


def body_of(options: Options) -> dict[str, Any]:
    """The options as the body of a request over REST; those that are not given are left out.

    Raises RefusedField.
    """
    body = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if name not in _PASSWORD | {"others"} and value not in {None, ()}
    }
    for text in options["others"]:
        name, value = _field(text)
        if name in body:
            raise RefusedField(name, "must be given once")
        body[name] = value
    if options.get("no_password"):
        body["password"] = None
    return body


def sets_password(options: Options) -> bool:
    """Whether a password is to be asked for or read."""
    return bool(options["password"] or options["password_stdin"])


async def with_password(fields: Changes, options: Options) -> Changes:
    """These fields with the hash of the password, which is asked for or read. Raises InvalidField."""
    if sets_password(options):
        password = read_password(options["password_stdin"])
        fields = fields | parse_changes({"password": password}, CHANGE_FIELDS)
    if "password" not in fields:
        return fields
    from backend.storage.accounts.users.passwords import with_password_hash  # noqa: PLC0415 - few commands need a hash

    return await with_password_hash(fields, "the command")


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _field(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise click.UsageError(f"--field {text!r} must be NAME=JSON")
    if name == "password":
        raise RefusedField(
            name, "is not taken as an argument, which others can read: use --password or --password-stdin"
        )
    try:
        return name, json.loads(value, parse_constant=_no_json)
    except (ValueError, RecursionError):
        raise RefusedField(
            name, f"must be JSON; a text stands in quotation marks, as {name}='\"text\"'"
        ) from None


def _no_json(name: str) -> NoReturn:
    raise ValueError(name)
