"""/settings: the page with all forms; here the user's own ones, and which event properties are marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from quart import Response, abort

from backend.dashboard.accounts.users.own_password import password_problem
from backend.dashboard.accounts.users.reader import browser_words
from backend.dashboard.frame.blueprint import (
    came_by_provider,
    dashboard,
    needs,
    of_own_account,
    org_id,
    session,
    user,
)
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import ReadStored, of_stored, text_of
from backend.dashboard.frame.session_cookie import renew_cookie_token
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.sessions import new_session
from backend.domain.accounts.users import WeakPassword, check_password
from backend.domain.analytics.event_properties import MOST_MARKED, MarkedProperties, PropertyName
from backend.domain.errors import InvalidField
from backend.storage.accounts.organizations import (
    find_event_properties,
    get_organization,
    set_event_properties,
)
from backend.storage.accounts.users.new_passwords import change_password
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.accounts.users.sessions import (
    delete_other_sessions,
    delete_session_of,
    insert_session_of,
    list_sessions,
)
from backend.storage.analytics.told_names import ToldProperties
from backend.storage.driver.mongo import StorageError
from backend.web.current import resources

# The fields that are called like the organization's attributes.
_SETTINGS = (
    *("retention_days", "click_days", "audit_days"),
    *("erases_on_withdrawal", "click_ids", "requires_second_factor"),
)
# The field for marked properties that no event has told of.
_OTHERS = "others"
# Before the name of a property, that of its checkbox.
_MARK = "mark:"


def stored_of(*names: str) -> ReadStored:
    """Reads these fields of the page's forms; all of them without names."""

    async def read() -> Mapping[str, str]:
        organization = await get_organization(resources().database, org_id())
        texts = {name: text_of(getattr(organization, name)) for name in _SETTINGS}
        texts["organization_name"] = organization.name
        texts[_OTHERS] = ", ".join(await find_event_properties(resources().database, org_id()))
        return {name: texts[name] for name in names or texts}

    return read


@dashboard.get("/settings")
@needs()
@of_stored(stored_of())
async def settings() -> Response:
    """The page with all forms."""
    return await settings_page({})


@dashboard.post("/settings/password")
@needs()
@of_own_account
async def settings_password() -> Response:
    """Change the user's password. All other sessions of the user end."""
    problems = await _password_problems(form().get("current", ""), form().get("new", ""))
    if problems:
        return await settings_page(problems)
    database = resources().database
    password_hash = await hash_password(form()["new"], user().id)
    await change_password(database, user(), password_hash)
    token, now = renew_cookie_token(), resources().clock()
    begun = new_session(token, user().id, org_id(), now, browser_words())
    await insert_session_of(database, replace(user(), password_hash=password_hash), begun)
    return redirect_with_notice("settings", "password-changed")


@dashboard.post("/settings/sessions/end")
@needs()
async def settings_end_session() -> Response:
    """End one of the user's sessions."""
    if not await delete_session_of(resources().database, session(), field("session")):
        abort(404)
    return redirect_with_notice("settings", "session-ended")


@dashboard.post("/settings/sessions/end-others")
@needs()
async def settings_end_others() -> Response:
    """End all of the user's sessions but this one."""
    await delete_other_sessions(resources().database, session())
    return redirect_with_notice("settings", "sessions-ended")


@dashboard.post("/settings/event-properties")
@needs(Permission.SETTINGS_WRITE)
@of_stored(stored_of(_OTHERS), lambda: {_OTHERS: ", ".join(_sent_properties())})
async def settings_event_properties() -> Response:
    """Mark the chosen properties of events, and others that are typed, with commas between them."""
    try:
        names = MarkedProperties().parse(_OTHERS, _sent_properties())
    except InvalidField as error:
        return await settings_page({_OTHERS: error.rule}, others=field(_OTHERS), marked=_ticked_properties())
    await set_event_properties(resources().database, org_id(), names)
    return redirect_with_notice("settings", "event-properties-set")


def _ticked_properties() -> list[str]:
    return [name.removeprefix(_MARK) for name in form() if name.startswith(_MARK)]


def _sent_properties() -> list[str]:
    """The names that are ticked and typed, each once."""
    typed = [name.strip() for name in field(_OTHERS).split(",") if name.strip()]
    return list(dict.fromkeys([*_ticked_properties(), *typed]))


async def _password_problems(current: str, new: str) -> dict[str, str]:
    """The reasons why the password can't be changed, by field."""
    if problem := await password_problem(current):
        return {"current": problem}
    try:
        check_password(new)
    except WeakPassword as error:
        return {"new": str(error)}
    return {}


async def settings_page(
    problems: dict[str, str],
    *,
    others: str = "",
    marked: Sequence[str] | None = None,
    **typed: str,
) -> Response:
    """The page with all forms, with what is wrong with a field and what was typed there, by its name."""
    if marked is None:
        marked = await find_event_properties(resources().database, org_id())
    return await page(
        "accounts/settings.html",
        422 if problems else 200,
        later=partial(_told, marked),
        problems=problems,
        typed=typed,
        others=others,
        sessions=await list_sessions(resources().database, session(), resources().clock()),
        this_session=session().token_hash,
        came_by_provider=came_by_provider(),
    )


async def _told(marked: Sequence[str]) -> dict[str, Any]:
    """The properties that can be chosen: the marked ones, and what else events have, as far as is known."""
    try:
        told = await resources().analytics.ask(org_id(), ToldProperties())
    except StorageError:  # the other forms of the page need no figures
        told = {}
    names = [*marked, *(name for name in told if name not in marked and _can_be_marked(name))]
    return {
        "properties": [(name, told.get(name, 0), name in marked) for name in names],
        "most": MOST_MARKED,
    }


def _can_be_marked(name: str) -> bool:
    try:
        return bool(PropertyName().parse("name", name))
    except InvalidField:
        return False
