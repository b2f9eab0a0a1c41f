"""Options of `waylink key create` that limit a key to some links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.key_input import check_limited
from backend.domain.accounts.permissions import stored_permissions
from backend.domain.accounts.reach.limited_to import LimitedTo
from backend.domain.accounts.reach.link_reach import KINDS, LinkReach
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import find_reach

_CommandT = TypeVar("_CommandT", bound=Callable[..., Any])
_OPTIONS = {kind: f"--limit-{kind.removesuffix('s')}" for kind in KINDS}
_HELP = {
    "tags": "Limits a REST key to links with this tag, or with another one that is named so.",
    "domains": "Limits it to links on this domain, or on another one that is named so.",
    "links": "Limits it to the link with this id, and others that are named so.",
}


def limit_options(command: _CommandT) -> _CommandT:
    """The command with an option for each kind of limit, each of which may be given several times."""
    for kind in reversed(KINDS):
        command = click.option(
            _OPTIONS[kind], f"limit_{kind}", multiple=True, metavar=kind[:-1].upper(), help=_HELP[kind]
        )(command)
    return command


async def read_limit(
    database: Database, org_id: OrgId, kind: KeyKind, scopes: Sequence[str], options: Mapping[str, Any]
) -> LinkReach | None:
    """The links to which the options limit the key; None without such options. Raises UsageError."""
    names = {of: list(options[f"limit_{of}"]) for of in KINDS if options[f"limit_{of}"]}
    if not names:
        return None
    try:
        check_limited(kind, stored_permissions(scopes or None))
        return await find_reach(database, org_id, LimitedTo().parse("limited_to", names))
    except InvalidField as error:
        raise click.UsageError(f"{_in_options(error)}.") from None


def _in_options(error: InvalidField) -> str:
    """The error with the option's name in the place of the field's."""
    field, _, of = error.field.partition(".")
    option = _OPTIONS.get(of.partition("[")[0])
    if option:
        return f"{option} {error.rule}"
    return f"--scope {error.rule}" if field == "scopes" else "A limit to links is for keys of the kind rest"
