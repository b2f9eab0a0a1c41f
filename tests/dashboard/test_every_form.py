"""Every form, found by a walk over all routes and pages: what it does in another organization, over somebody
else's change, when sent from the page before, and when sent twice. `pytest -s` prints the table.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.dashboard.frame.blueprint import needs_of
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import form_token, hash_token
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.ids import OrgId
from backend.storage.accounts.users import password_resets
from backend.storage.accounts.users.sessions import set_session_organization
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.alerts import rules as alert_rules
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.outbox.sequencer import place_all
from backend.storage.reports import reports
from backend.storage.webhooks import endpoints
from tests.dashboard.known_forms import (
    BY_MAIL,
    CHANGES,
    MADE,
    MAKES,
    NOT_STORED,
    OWN_DIGEST,
    PAGES,
    REMOVES,
    UNCOMPARED,
)
from tests.dashboard.office import NOT_PAGES
from tests.dashboard.people import FormsOf, Person, heading, make_user
from tests.dashboard.routes import routes
from tests.dashboard.test_policy import everything_of
from tests.facts.organizations import TestOrganization

POSTED = re.compile(r'<form\b[^>]*\bmethod="post"[^>]*>')
ACTION = re.compile(r'\baction="([^"]*)"')
TYPED = "what somebody typed"
PROBLEM = r'class="problem"[^>]*>(.*?)</p>'
SENT = ("required", "issuer", "requires_second_factor")


@dataclass(slots=True)
class Row:
    """What was seen of a form."""

    endpoint: str
    action: str
    path: str = ""
    seen: str = ""
    back: str = ""
    twice: str = ""
    fields: dict[str, str] = field(default_factory=dict)


def token_of(person: Person) -> str:
    """The token of the session's cookie."""
    return str(person.client.cookies["waylink"])


async def switch(database: Database, person: Person, org_id: OrgId) -> None:
    """What another tab does: the session is of this organization from now on."""
    await set_session_organization(database, hash_token(token_of(person)), org_id)


def endpoint_of(service: Service, action: str) -> str:
    """The name of the form's route: of those that fit, the one with the fewest names in it."""
    path = action.partition("?")[0].partition("#")[0]
    rules = [rule for rule in service.api.url_map.iter_rules() if "POST" in (rule.methods or ())]
    fitting = [rule for rule in rules if re.fullmatch(re.sub(r"<[^>]+>", "[^/]+", rule.rule), path)]
    assert fitting, f"{action} has no route"
    return str(min(fitting, key=lambda rule: len(rule.arguments)).endpoint).removeprefix("dashboard.")


def posted_forms(page: httpx.Response) -> Iterator[str]:
    """The actions of a page's forms."""
    for tag in POSTED.findall(page.text):
        action = ACTION.search(tag)
        assert action, f"{page.url}: {tag} has no address"
        yield unescape(action[1])


async def walk(service: Service, database: Database, person: Person, ids: dict[str, str]) -> dict[str, Row]:
    """Every form of the pages by its endpoint; each has the token of the page's organization."""
    own = await find_user_by_email(database, person.email)
    assert own
    rows: dict[str, Row] = {}
    for path in sorted(set(routes("GET", ids))):
        if any(part in path for part in (*NOT_PAGES, "/picture")) or path.startswith(
            ("/join", "/new-password", "/forgot")
        ):
            continue
        page = await person.get(path)
        for action in posted_forms(page) if page.status_code == 200 else ():
            endpoint = endpoint_of(service, action)
            if own.id in action:
                continue  # who walks stays an owner
            fields = FormsOf(page.text).fields_of(unescape(action))
            assert "form_token" in fields, f"{endpoint} on {path} does not say its organization"
            rows.setdefault(endpoint, Row(endpoint, action, path, fields=fields))
    return rows


def shown(refused: httpx.Response) -> list[str]:
    """What was typed and what is stored now, field by field."""
    return re.findall(r'<div class="kept">(.*?)</div>', refused.text, re.DOTALL)


async def look_at(person: Person, row: Row) -> None:
    """Store somebody's change, send it twice, and then the change of somebody who has the page of before."""
    name, theirs, mine = CHANGES[row.endpoint]
    first, twice, late = [
        await person.client.post(row.action, data=row.fields | {name: value})
        for value in (theirs, theirs, mine)
    ]
    assert (first.status_code, twice.status_code) == (303, 303), (
        f"{row.endpoint}: {re.findall(PROBLEM, first.text)}"
    )
    assert (late.status_code, heading(late)) == (409, "Somebody was faster"), row.endpoint
    assert shown(late) == [mine or "Nothing", theirs or "Nothing"], row.endpoint
    again = await person.client.post(row.action, data=FormsOf(late.text).fields_of(row.action))
    assert again.status_code == 303, row.endpoint
    row.seen, row.back, row.twice = "compared", "409, both shown", "stored once"
    await race(person, row)


async def opened(person: Person, row: Row) -> dict[str, str]:
    """The fields of the form, on its page as it is now."""
    return FormsOf((await person.get(row.path)).text).fields_of(row.action)


async def race(person: Person, row: Row) -> None:
    """Two people save at the same moment what both have seen as it was before: one of them is refused, or has
    changed nothing."""
    name, theirs, mine = CHANGES[row.endpoint]
    before, now = row.fields.get(name, ""), await opened(person, row)
    back = await person.client.post(row.action, data=row.fields | {"form_saw": now["form_saw"]})
    assert back.status_code == 303, row.endpoint
    seen = await opened(person, row)
    answers = await asyncio.gather(
        *(person.client.post(row.action, data=seen | {name: value}) for value in (theirs, mine))
    )
    statuses = [answer.status_code for answer in answers]
    now = await opened(person, row)
    stored = now.get(name) or "".join(mark.removeprefix("mark:") for mark in now if mark.startswith("mark:"))
    if statuses == [303, 303]:  # who changed nothing came first
        changed = {theirs, mine} - {before}
        assert changed == {stored}, f"{row.endpoint}: {statuses}, and {stored!r} is stored"
        assert len(changed) == 1, row.endpoint
    else:
        assert sorted(statuses) == [303, 409], f"{row.endpoint}: {statuses}"
        assert stored == (theirs, mine)[statuses.index(303)], row.endpoint


async def make_twice(database: Database, person: Person, org_id: OrgId, row: Row) -> None:
    """Send a form that makes something twice at once, and again: it makes one, with the same answer each
    time."""
    fields, collection = MADE[row.endpoint]
    sent = row.fields | fields | {"form_once": uuid.uuid4().hex}
    before = await count_of(database, collection, org_id)
    answers = [*await asyncio.gather(*(person.client.post(row.action, data=sent) for _ in range(2)))]
    answers.append(await person.client.post(row.action, data=sent))
    told = {(answer.status_code, answer.headers.get("location"), answer.text) for answer in answers}
    assert {answer.status_code for answer in answers} <= {200, 303}, (
        f"{row.endpoint}: {[answer.status_code for answer in answers]} {re.findall(PROBLEM, answers[0].text)}"
    )
    assert len(told) == 1, row.endpoint
    assert await count_of(database, collection, org_id) == before + bool(collection), row.endpoint
    row.back = row.twice = "made once"


async def count_of(database: Database, collection: str, org_id: OrgId) -> int:
    """How many documents the organization has there."""
    owned = {"$or": [{"org_id": org_id}, {"org_ids": org_id}]}
    if collection == password_resets.NAME:
        owned = {}
    return await database[collection].count_documents(owned) if collection else 0


def of_organization(service: Service) -> dict[str, str]:
    """The path, with names in place of ids, of each form that acts for an organization, by its endpoint."""
    views = service.api.view_functions
    return {
        rule.endpoint.removeprefix("dashboard."): rule.rule
        for rule in service.api.url_map.iter_rules()
        if rule.endpoint.startswith("dashboard.") and "POST" in (rule.methods or ())
        if needs_of(views[rule.endpoint])
    }


async def act_elsewhere(
    database: Database, person: Person, written_for: OrgId, elsewhere: OrgId, actions: dict[str, str]
) -> None:
    """Send all forms of one organization while the session is of another: what was typed is kept, and neither
    changes. Sent again from there, a form acts where it was opened."""
    await switch(database, person, elsewhere)
    for org_id in (written_for, elsewhere):
        await place_all(database, org_id)  # what waits for its place in the feed
    before = [await everything_of(database, org_id) for org_id in (written_for, elsewhere)]
    sent = {"form_token": form_token(token_of(person), written_for), "name": TYPED}
    for endpoint, action in actions.items():
        answer = await person.client.post(action, data=sent)
        assert answer.status_code == 409, endpoint
        assert heading(answer) == "That form is of another organization", endpoint
        assert TYPED in answer.text, endpoint
        assert FormsOf(answer.text).fields_of(action) == sent | {"kept_form": "yes"}, endpoint
    for org_id, was in zip((written_for, elsewhere), before, strict=True):
        is_now = await everything_of(database, org_id)
        assert {name for name in was | is_now if was.get(name, []) != is_now.get(name, [])} == set()
    again = await person.client.post("/tags", data=sent | {"color": "#2563eb", "kept_form": "yes"})
    assert again.status_code == 303
    assert TYPED in (await person.get("/tags")).text
    await switch(database, person, elsewhere)
    assert TYPED not in (await person.get("/tags")).text
    await switch(database, person, written_for)


def filled(path: str, ids: dict[str, str]) -> str:
    """The path with these ids."""
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: ids.get(found[1], "none"), path)


async def test_the_table_of_all_forms(
    service: Service,
    database: Database,
    owner: Person,
    other: TestOrganization,
    organization: TestOrganization,
    their_ids: dict[str, str],
) -> None:
    """Each form acts for its own organization, and is compared with what is stored, or is known to put back
    nothing; what is compared is refused where its page is not of now, with both texts; sent twice, or from
    the page before, no form breaks."""
    await make_user(database, other.id, role=Role.VIEWER)
    rows, paths = await walk(service, database, owner, their_ids), of_organization(service)
    views = service.api.view_functions
    compared = {endpoint for endpoint in paths if hasattr(views[f"dashboard.{endpoint}"], "reads_stored")}
    known = compared | OWN_DIGEST | set(UNCOMPARED)
    assert set(paths) - known == set(), "forms that may put back another's change"
    assert known - set(paths) == set(), "forms that there are not any more"
    actions = {name: filled(path, their_ids) for name, path in paths.items()}
    actions |= {name: row.action for name, row in rows.items() if name in paths}
    await act_elsewhere(database, owner, other.id, organization.id, actions)
    token = form_token(token_of(owner), other.id)
    for endpoint in UNCOMPARED.keys() - rows.keys():
        row = rows[endpoint] = Row(endpoint, actions[endpoint], PAGES.get(endpoint, ""))
        row.fields = await opened(owner, row) if row.path else {"form_token": token}
    for row in sorted(rows.values(), key=lambda row: UNCOMPARED.get(row.endpoint) == REMOVES):
        if row.endpoint in CHANGES:
            await look_at(owner, row)
        elif row.endpoint in MADE:
            row.seen = MAKES
            await make_twice(database, owner, other.id, row)
        elif row.endpoint in paths and row.endpoint not in NOT_STORED:
            row.seen = UNCOMPARED.get(row.endpoint, "a digest of its own")
            answers = [await owner.client.post(row.action, data=row.fields) for _ in range(2)]
            row.back = row.twice = ", then ".join(str(answer.status_code) for answer in answers)
            assert max(answer.status_code for answer in answers) < 500, row.endpoint
    for endpoint in NOT_STORED:
        path, stale = paths[endpoint], {"form_token": token, **dict.fromkeys(SENT, TYPED)}
        for _ in range(2):
            answer = await owner.client.post(path, data=stale)
            assert (answer.status_code, heading(answer)) == (409, "Somebody was faster"), endpoint
        rows[endpoint] = Row(endpoint, path, seen="compared", back="409", twice="409, then 409")
    assert compared == set(CHANGES) | NOT_STORED
    makes = {endpoint for endpoint in paths if hasattr(views[f"dashboard.{endpoint}"], "is_once")}
    assert makes == set(MADE) | BY_MAIL, "forms that may make two"
    assert compared - set(rows) == set(), "forms that no page of the walk has"
    print(f"\n{'form':34}{'organization':20}{'seen':24}{'back button':20}sent twice")
    for row in rows.values():
        if row.endpoint in paths:
            assert all((row.seen, row.back, row.twice)), f"{row.endpoint} has no answer"
            print(f"{row.endpoint:34}{'refused, kept':20}{row.seen:24}{row.back:20}{row.twice}")


# The second half past two of a night in Berlin, and some seconds: no form shows which one it is.
TWICE = datetime(2027, 10, 31, 1, 30, 17, tzinfo=UTC)
GONE = str(uuid.uuid4())


@pytest.mark.parametrize(
    ("collection", "id_name", "stored", "page", "renamed"),
    [
        (links.NAME, "link_id", {"limits": {"expires_at": TWICE}}, "/links/{}/edit", "link_name"),
        (reports.NAME, "report_id", {"expires_at": TWICE}, "/reports/{}", "name"),
        (ANNOTATIONS.collection, "note_id", {"at": TWICE, "is_of_day": False}, "/annotations/{}", "text"),
        (ANNOTATIONS.collection, "note_id", {"link_id": GONE}, "/annotations/{}", "text"),
        (alert_rules.NAME, "rule_id", {"link_id": GONE}, "/alerts/{}", "name"),
        (alert_rules.NAME, "rule_id", {"tag_id": GONE}, "/alerts/{}", "name"),
        (
            reports.NAME,
            "report_id",
            {"query": {"filters": {"link": [GONE], "tag": [GONE]}}},
            "/reports/{}",
            "name",
        ),
        (
            SAVED_FUNNELS.collection,
            "funnel_id",
            {
                "steps": [
                    {"kind": "click", "name": None, "filters": {"link": [GONE]}},
                    {"kind": "conversion", "name": None, "filters": {}},
                ]
            },
            "/funnels/{}/change",
            "name",
        ),
        (
            endpoints.NAME,
            "webhook_id",
            {"tag_ids": [GONE], "link_ids": [GONE]},
            "/webhooks/{}/change",
            "type-lead",
        ),
    ],
)
async def test_what_a_form_can_t_show_stays(
    database: Database,
    owner: Person,
    their_ids: dict[str, str],
    collection: str,
    id_name: str,
    stored: dict[str, Any],
    page: str,
    renamed: str,
) -> None:
    """Where another field is changed, a time keeps its seconds and its hour of a night that has it twice, and
    what was about a link or tag that is deleted does not become about all of them."""
    owner.client.cookies.set("waylink_zone", "Europe/Berlin")
    one = {"_id": their_ids[id_name]}
    await database[collection].update_one(one, {"$set": stored})
    path = page.format(their_ids[id_name])
    answer = await owner.send(path, path, **{renamed: "on"})
    assert answer.status_code == 303, re.findall(PROBLEM, answer.text)
    document = await database[collection].find_one(one)
    assert document
    changed = {"types": ["lead"]} if renamed == "type-lead" else {renamed: "on"}
    assert document.items() >= (stored | changed).items()
