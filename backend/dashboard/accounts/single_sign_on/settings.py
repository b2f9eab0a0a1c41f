"""/single-sign-on: whom the organization's identity provider lets in, and with which role.

An owner opens it to set it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import ROLE_MEANINGS, Role
from backend.domain.accounts.single_sign_on.group_roles import MOST_GROUP_ROLES
from backend.storage.accounts.single_sign_on.settings import find_group_roles
from backend.web.current import resources

_FREE_ROWS = 3
_ROLES = [(role.value, role.value.title()) for role in Role]
_NO_ROLE = ("", "None: they are not let in")
_EVERYBODY_ELSE = [_NO_ROLE, *((role.value, f"{role.value.title()}: {ROLE_MEANINGS[role]}") for role in Role)]


@dashboard.get("/single-sign-on")
@needs(Permission.ORGANIZATION_WRITE)
async def single_sign_on() -> Response:
    """The page with all forms."""
    return await single_sign_on_page({})


async def single_sign_on_page(
    problems: Mapping[str, str], *, rows: Sequence[tuple[str, str]] = (), otherwise: str | None = None
) -> Response:
    """The page with all forms, with what is wrong with a field, and the rows of groups that were typed."""
    if otherwise is None:
        stored = await find_group_roles(resources().database, org_id())
        rows = [(group_role.group, group_role.role.value) for group_role in stored.mapping]
        otherwise = stored.otherwise or ""
    return await page(
        "accounts/single_sign_on.html",
        422 if problems else 200,
        problems=problems,
        rows=_with_free_rows(rows),
        otherwise=otherwise,
        roles=_ROLES,
        others=_EVERYBODY_ELSE,
    )


def _with_free_rows(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rows up to the last one with a group, and some to fill in."""
    used = max((place + 1 for place, (group, _) in enumerate(rows) if group), default=0)
    free = min(_FREE_ROWS, MOST_GROUP_ROLES - used)
    return [*rows[:used], *[("", Role.VIEWER.value)] * free]
