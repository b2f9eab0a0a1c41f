"""The errors of commands that write or find links, which say what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.domain.errors import InvalidField, MissingField
from backend.domain.ids import OrgId
from backend.domain.links.operations import DomainNotConfigured, ExternalIdTaken, LinkGone, PathTaken


class NoSuchLink(click.ClickException):
    """The organization has no such link."""

    def __init__(self, text: str, org_id: OrgId) -> None:
        super().__init__(
            f"The organization has no link {printable(text)!r}; "
            f"`waylink links list --org {printable(org_id)}` lists its links."
        )


@contextmanager
def link_errors(org_id: OrgId) -> Iterator[None]:
    """Turn the errors of writing and finding links in the block into errors of the command.

    Raises RefusedField, which names the option, and NoSuchLink.
    """
    try:
        yield
    except (InvalidField, MissingField) as error:
        raise RefusedField(error.field, error.rule.removeprefix("field ")) from None
    except DomainNotConfigured as error:
        todo = f"if it is yours: waylink domain add {error} --org {org_id}"
        raise RefusedField("domain", f"is not configured for the organization; {todo}") from None
    except PathTaken:
        rule = "is already in use on this domain: choose another, or leave it out and one is made"
        raise RefusedField("selected_path", rule) from None
    except ExternalIdTaken:
        raise RefusedField("external_id", "is already in use by another link: choose another") from None
    except LinkGone as error:
        raise NoSuchLink(str(error), org_id) from None
