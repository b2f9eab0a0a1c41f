"""/single-sign-on/groups: which role the groups of the provider give."""

from __future__ import annotations

from quart import Response

from backend.dashboard.accounts.single_sign_on.settings import single_sign_on_page, stored_group_roles
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.saw import of_stored
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import LastOwner
from backend.domain.accounts.single_sign_on.group_roles import MOST_GROUP_ROLES, parse_group_roles
from backend.domain.errors import FieldError
from backend.storage.accounts.provisioning.people_changes import change_group_roles
from backend.web.current import resources


@dashboard.post("/single-sign-on/groups")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_group_roles)
async def single_sign_on_groups() -> Response:
    """Set the role of each group, and that of everybody else."""
    rows = [(field(f"group-{place}"), field(f"role-{place}")) for place in range(MOST_GROUP_ROLES + 1)]
    try:
        group_roles = parse_group_roles(rows, field("otherwise"))
    except FieldError as error:
        return await single_sign_on_page(error.rule_by_field, rows=rows, otherwise=field("otherwise"))
    try:
        await change_group_roles(resources().database, org_id(), group_roles)
    except LastOwner:
        problems = {"otherwise": "would leave the organization without an owner, by the roles above"}
        return await single_sign_on_page(problems, rows=rows, otherwise=field("otherwise"))
    return redirect_with_notice("single_sign_on", "group-roles-set")
