"""Every route says whom it is for."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from html import unescape

import pytest

from backend.app import Service
from backend.dashboard.frame.blueprint import needs_of
from backend.domain.accounts.permissions import MEANINGS, Permission, first_missing
from backend.domain.accounts.roles import Role
from backend.domain.links.links import Link
from backend.rest_api.routes.operation import REGISTERED
from backend.storage.driver.mongo import Database
from tests.dashboard.people import FormsOf, Person, browser, heading, make_user, open_session
from tests.dashboard.routes import routes
from tests.facts.organizations import TestOrganization

# Routes that no permission is about: what anybody may read, and what a key of another kind or a secret
# address is for.
_WITHOUT_MEMBERS = {"app_api", "documentation", "operations", "scim", "sdk", "sdk_script", "shared", "tls"}
_PUBLIC = {
    *("asset", "sign_in", "sign_in_code", "sign_in_code_page", "sign_in_page", "join", "join_page"),
    *("sign_in_passkey", "single_sign_on_begin", "single_sign_on_callback", "single_sign_on_left"),
    *("forgot_password", "forgot_password_send", "new_password", "new_password_page"),
}
_FOR_EVERY_MEMBER = {
    *("settings", "settings_password", "settings_recovery_codes", "settings_second_factor"),
    *("settings_second_factor_off", "settings_second_factor_set"),
    *("enter", "settings_passkey_add", "settings_passkey_remove"),
    *("settings_end_session", "settings_end_others", "sign_out", "switch_organization"),
}


async def test_every_route_declares_whom_it_is_for(service: Service) -> None:
    """A page or form of the dashboard names permissions, or is one of the few that everybody needs; each
    route of the REST API is an operation, which can't be made without; other routes are none of members."""
    public, for_all = set(), set()
    for rule in service.api.url_map.iter_rules():
        blueprint, _, name = rule.endpoint.rpartition(".")
        if blueprint == "dashboard":
            needed = needs_of(service.api.view_functions[rule.endpoint])
            assert needed is None or all(isinstance(permission, Permission) for permission in needed), name
            if needed is None:
                public.add(name)
            elif not needed:
                for_all.add(name)
        elif blueprint == "rest":
            assert name in REGISTERED
        else:
            assert blueprint in _WITHOUT_MEMBERS, rule.endpoint
    assert public == _PUBLIC
    assert for_all == _FOR_EVERY_MEMBER


@pytest.fixture
async def member(
    service: Service, database: Database, organization: TestOrganization
) -> AsyncIterator[Callable[[Role], Awaitable[Person]]]:
    """Makes a member of `organization` with a role, who is signed in."""
    async with AsyncExitStack() as stack:

        async def member(role: Role) -> Person:
            client = await stack.enter_async_context(browser(service))
            made = Person(client, await make_user(database, organization.id, role=role))
            await open_session(database, made)
            return made

        yield member


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
async def test_each_role_is_refused_what_it_lacks(
    service: Service, member: Callable[[Role], Awaitable[Person]], stranger: Person, role: Role
) -> None:
    """Every page and form that needs more is refused, with what that is, and an owner who can grant it.

    All of them to who may do least. Others are asked for one page or form for each permission that they lack:
    whom routes are for is compared in one place.
    """
    person = await member(role)
    token = FormsOf((await person.get("/tags")).text).fields_of("/sign-out")
    refused = set()
    for rule in service.api.url_map.iter_rules():
        if not rule.endpoint.startswith("dashboard."):
            continue
        missing = first_missing(needs_of(service.api.view_functions[rule.endpoint]) or (), role.permissions)
        if missing and (role is Role.VIEWER or missing not in refused):
            path = re.sub("<[^>]+>", str(uuid.uuid4()), rule.rule)
            is_form = "POST" in (rule.methods or ())
            answer = await (person.client.post(path, data=token) if is_form else person.get(path))
            assert (answer.status_code, heading(answer)) == (403, "That is not allowed"), path
            assert MEANINGS[missing] in unescape(answer.text), path
            assert stranger.email in answer.text
            refused.add(missing)
    assert refused


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ANALYST])
async def test_pages_offer_only_what_one_may_do(
    service: Service,
    member: Callable[[Role], Awaitable[Person]],
    link: Link,
    organization: TestOrganization,
    role: Role,
) -> None:
    """No page links to a page, or has a form for an action, that the reader's role is refused."""
    person = await member(role)
    endpoints = service.api.url_map.bind("localhost")
    offered, refused = 0, list[str]()
    for path in sorted(set(routes("GET", {"link_id": link.id, "domain": organization.domain}))):
        endpoint, _ = endpoints.match(path)
        if first_missing(needs_of(service.api.view_functions[endpoint]) or (), role.permissions):
            continue
        answer = await person.get(path)
        assert answer.status_code != 403, path
        is_html = answer.headers.get("Content-Type", "").startswith("text/html")
        if not is_html or path.endswith("/picture"):  # a page of the domain's visitors, which links elsewhere
            continue
        for attribute, target in re.findall(r'\b(href|action)="(/[^"#]*)', answer.text):
            method = "GET" if attribute == "href" else _method_of(answer.text, target)
            there, _ = endpoints.match(unescape(target).partition("?")[0], method)
            if there.startswith("dashboard."):
                needed = needs_of(service.api.view_functions[there]) or ()
                offered += 1
                if first_missing(needed, role.permissions):
                    refused.append(f"{path} offers {target}")
    assert not refused
    assert offered > 100


def _method_of(html: str, action: str) -> str:
    match = re.search(rf'<form[^>]*action="{re.escape(action)}', html)
    assert match
    return "POST" if 'method="post"' in match[0] else "GET"
