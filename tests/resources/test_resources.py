"""What holds of each resource: a walk over all of them."""

from __future__ import annotations

import uuid
from asyncio import gather
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import httpx
import pytest
from quart import Quart

from backend.dashboard import dashboard
from backend.dashboard.frame.blueprint import needs_of
from backend.domain.accounts.permissions import Permission
from backend.domain.all_resources import RESOURCES
from backend.domain.resources.resource import Resource, Verb
from backend.domain.resources.resource_field import Referent
from backend.json_api.error_table import unknown_thing
from backend.storage.driver.mongo import Database, Document
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.lifecycle.archive_context import ArchiveContext
from backend.storage.lifecycle.archived_documents.check import BrokenRule, check_document
from backend.storage.lifecycle.archived_documents.resources import fields_of
from backend.storage.outbox import entries
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.resources.examples import EXAMPLES, LINK, Example

Thing = dict[str, Any]
each_resource = pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.collection)


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls about a resource with an organization's key, or another one of its."""

    client: httpx.AsyncClient
    organization: TestOrganization
    resource: Resource[Any]
    key: str = ""

    async def call(self, method: str, path: str = "", body: object = None) -> httpx.Response:
        """The answer to a call of the resource's path, or of one below."""
        headers = {"API-KEY": self.key} if self.key else self.organization.headers
        address = f"{API}{self.resource.rest.path}{path}"
        return await self.client.request(method, address, json=body, headers=headers)

    async def example(self) -> Example:
        """The resource's example, with a link of the organization."""
        example = EXAMPLES[self.resource.collection]
        if LINK not in example.new.values():
            return example
        link_id = (await Links(self.client, self.organization).make())["id"]
        new = {name: link_id if value == LINK else value for name, value in example.new.items()}
        return Example(new, example.change)

    async def make(self) -> Thing:
        """A new one, as its answer shows it."""
        return await self.made((await self.example()).new)

    async def made(self, body: object) -> Thing:
        """The one that this body makes."""
        answer = await self.call("POST", body=body)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def listed(self, query: str = "") -> list[Thing]:
        """All that the organization has."""
        return list((await self.call("GET", query)).json()[self.resource.rest.listed])


@pytest.fixture
def calls(client: httpx.AsyncClient, organization: TestOrganization, resource: Resource[Any]) -> Calls:
    """Calls of this test's organization about the resource."""
    return Calls(client, organization, resource)


@each_resource
def test_a_thing_has_what_is_stored(resource: Resource[Any]) -> None:
    """A field that is added to the one is added to the other, or what has it could not be restored."""
    stored = {"id", "org_id", *fields_of(resource).required}
    taken = signature(resource.thing).parameters
    assert taken.keys() == stored or any(taken[name].kind is Parameter.VAR_KEYWORD for name in taken)


def test_each_has_an_example() -> None:
    """The walk goes over all resources, and each example has every field that may be told."""
    assert EXAMPLES.keys() == {resource.collection for resource in RESOURCES}
    for resource in RESOURCES:
        assert EXAMPLES[resource.collection].new.keys() == resource.told.keys()


@each_resource
async def test_from_making_to_deleting(calls: Calls, resource: Resource[Any]) -> None:
    """What is made is listed, got, changed field by field, and gone when it is deleted."""
    example = await calls.example()
    made = await calls.made(example.new)
    assert made.keys() == {"id", *resource.fields}
    least = await calls.made({name: example.new[name] for name in resource.required})
    listed = await calls.listed()
    assert sorted((made, least), key=_id_of) == sorted(listed, key=_id_of)
    one = f"/{made['id']}"
    for name, value in example.change.items():
        changed = (await calls.call("PATCH", one, {name: value})).json()
        assert changed[name] != made[name]
        assert changed == made | {name: changed[name]}
        made = changed
    assert (await calls.call("PATCH", one, {})).json() == made
    if Verb.GET in resource.rest.operations:
        assert (await calls.call("GET", one)).json() == made
    assert (await calls.call("DELETE", one)).status_code == 204
    assert await calls.listed() == [least]
    assert (await calls.call("DELETE", one)).status_code == 404


def _id_of(thing: Thing) -> str:
    return str(thing["id"])


@each_resource
async def test_changes_at_the_same_moment(calls: Calls, resource: Resource[Any]) -> None:
    """Of changes of different fields that are made at once, each is kept."""
    example = await calls.example()
    made = await calls.made(example.new)
    for wanted in [example.change, {name: example.new[name] for name in example.change}] * 3:
        bodies = [{name: value} for name, value in wanted.items()]
        answers = await gather(*(calls.call("PATCH", f"/{made['id']}", body) for body in bodies))
        assert {answer.status_code for answer in answers} == {200}
        [changed] = await calls.listed()
        shown = {
            name: answer.json()[name] for body, answer in zip(bodies, answers, strict=True) for name in body
        }
        assert changed == changed | shown


@each_resource
async def test_the_order_of_the_list(calls: Calls, resource: Resource[Any], database: Database) -> None:
    """The list is in the order of the resource's fields."""
    example = await calls.example()
    made = [await calls.made(body) for body in (example.new, {**example.new, **example.change}, example.new)]
    stored = [await _document(database, resource, thing) for thing in made]
    stored.sort(key=lambda document: [*(document[name] for name in resource.order), document["_id"]])
    assert [thing["id"] for thing in await calls.listed()] == [document["_id"] for document in stored]


@each_resource
async def test_what_is_wrong_is_told(calls: Calls, resource: Resource[Any]) -> None:
    """A field that is missing, unknown or wrong is named, and nothing is stored."""
    example = await calls.example()
    for name in resource.required:
        without = {other: value for other, value in example.new.items() if other != name}
        for body in (without, {**example.new, name: None}):
            await _is_refused(await calls.call("POST", body=body), name, "field is required")
    made = await calls.made(example.new)
    for path, method in (("", "POST"), (f"/{made['id']}", "PATCH")):
        for name in ("colour_of_the_sky", "id", "created_at"):
            answer = await calls.call(method, path, {**example.new, name: "2026-03-02"})
            await _is_refused(answer, name, "is not a field of this request")
        for name in resource.told:
            answer = await calls.call(method, path, {**example.new, name: {"$ne": 1}})
            await _is_refused(answer, name)
    assert await calls.listed() == [made]


async def _is_refused(answer: httpx.Response, name: str, rule: str = "") -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["fieldName"].partition(".")[0]) == (400, name), answer.text
    assert rule in error["errorMessage"]


@each_resource
async def test_what_may_be_cleared(calls: Calls, resource: Resource[Any]) -> None:
    """Null, and the empty text, leave a field that may be cleared without a value."""
    example = await calls.example()
    for name in resource.clearable:
        for nothing in (None, ""):
            made = await calls.made(example.new)
            assert made[name] is not None
            changed = await calls.call("PATCH", f"/{made['id']}", {name: nothing})
            assert changed.json() == made | {name: None}
            assert (await calls.made({**example.new, name: nothing}))[name] is None


@each_resource
async def test_another_organization(
    calls: Calls, resource: Resource[Any], make_organization: OrganizationFactory
) -> None:
    """It can't see, change or delete one, which is as unknown to it as one that is nowhere."""
    made, other = await calls.make(), Calls(calls.client, await make_organization(), resource)
    unknown = unknown_thing(resource.rest.thing, resource.rest.not_found)
    for given in (made["id"], str(uuid.uuid4()), "x"):
        changes: list[object] = [{}, {resource.known_by: "x"}]
        for method, body in (("GET", None), *(("PATCH", change) for change in changes), ("DELETE", None)):
            answer = await other.call(method, f"/{given}", body)
            if method == "GET" and Verb.GET not in resource.rest.operations:
                assert answer.status_code == 405
            else:
                assert (answer.status_code, answer.json()) == (404, unknown.body())
    assert await other.listed() == []
    assert await calls.listed() == [made]


@each_resource
async def test_what_it_refers_to(
    calls: Calls, resource: Resource[Any], make_organization: OrganizationFactory
) -> None:
    """Only links of the organization are named, and what goes along with a link goes when that is purged."""
    for name, own in resource.fields.items():
        if own.refers_to is not Referent.LINK:
            continue
        example = await calls.example()
        foreign = (await Links(calls.client, await make_organization()).make())["id"]
        made = await calls.made(example.new)
        for link_id in (foreign, str(uuid.uuid4())):
            for method, path in (("POST", ""), ("PATCH", f"/{made['id']}")):
                answer = await calls.call(method, path, {**example.new, name: link_id})
                await _is_refused(answer, name, "must be a link of your organization")
        purge = await Links(calls.client, calls.organization).call("DELETE", f"/{made[name]}?purge=true")
        assert purge.status_code == 204
        assert await calls.listed() == ([] if own.goes_along else [made])


@each_resource
async def test_an_organization_has_a_bounded_number(
    calls: Calls, resource: Resource[Any], database: Database
) -> None:
    """One more than the limit is refused, and nothing is stored."""
    made = await calls.make()
    document = await _document(database, resource, made)
    more = [document | {"_id": f"{made['id']}/{number}"} for number in range(1, resource.most)]
    await unrecorded(database)[resource.collection].insert_many(more)
    answer = await calls.call("POST", body=(await calls.example()).new)
    too_many = f"would be one more than the {resource.most:,} {resource.several} that are possible"
    await _is_refused(answer, resource.too_many_at, too_many)
    owned = {"org_id": calls.organization.id}
    assert await database[resource.collection].count_documents(owned) == resource.most


@each_resource
async def test_permissions(calls: Calls, resource: Resource[Any], database: Database) -> None:
    """Who may read sees all and changes nothing; who may write, and only that, changes and sees nothing."""
    made = await calls.make()
    reads: list[tuple[str, str, object]] = [("GET", "", None)]
    if Verb.GET in resource.rest.operations:
        reads.append(("GET", f"/{made['id']}", None))
    writes: list[tuple[str, str, object]] = [
        ("POST", "", (await calls.example()).new),
        ("PATCH", f"/{made['id']}", {}),
        ("DELETE", f"/{made['id']}", None),
    ]
    for needed, allowed, refused in ((resource.reads, reads, writes), (resource.writes, writes, reads)):
        holder = Calls(
            calls.client, calls.organization, resource, await _key(database, calls.organization, needed)
        )
        assert {(await holder.call(*call)).status_code for call in refused} == {403}
        assert {(await holder.call(*call)).status_code for call in allowed} <= {200, 201, 204}


async def _key(database: Database, organization: TestOrganization, permission: Permission) -> str:
    return await make_scoped_key(database, organization, {permission})


@each_resource
def test_permissions_of_pages(resource: Resource[Any]) -> None:
    """The page with the list is for who may read, and forms for who may write."""
    app = Quart(__name__)
    app.register_blueprint(dashboard)
    for verb, endpoint in resource.pages.items():
        needed = resource.reads if verb is Verb.LIST else resource.writes
        assert needs_of(app.view_functions[f"dashboard.{endpoint}"]) == (needed,)


@each_resource
async def test_the_audit_log(calls: Calls, resource: Resource[Any], database: Database) -> None:
    """Each change has its entry, with what people know the thing by."""
    example = await calls.example()
    made = await calls.made(example.new)
    assert (await calls.call("PATCH", f"/{made['id']}", example.change)).status_code == 200
    assert (await calls.call("DELETE", f"/{made['id']}")).status_code == 204
    told = database[entries.NAME].find({"org_id": calls.organization.id})
    facts = [fact async for entry in told for fact in entry["facts"] if "action" in fact]
    of_it = [fact for fact in facts if fact["target"]["id"] == made["id"]]
    kind = resource.audit_kind
    assert [fact["action"] for fact in of_it] == [f"{kind}.created", f"{kind}.changed", f"{kind}.deleted"]
    known_by = example.change[resource.known_by]
    assert [fact["target"]["name"] for fact in of_it][1:] == [known_by, known_by]


@each_resource
async def test_an_archive_has_it(calls: Calls, resource: Resource[Any], database: Database) -> None:
    """What is stored may be restored; with a field less, more or wrong it may not."""
    example = await calls.example()
    for body in (example.new, {name: example.new[name] for name in resource.required}):
        document = await _document(database, resource, await calls.made(body))
        context = ArchiveContext(calls.organization.id, utc_now())
        links = [document[name] for name, own in resource.fields.items() if own.refers_to is Referent.LINK]
        context.link_ids.update([link_id for link_id in links if link_id])
        _check(resource, document, context)
        with pytest.raises(BrokenRule, match="_id must be a UUID"):
            _check(resource, document | {"_id": "x"}, context)
        with pytest.raises(BrokenRule, match="is_admin is not a field"):
            _check(resource, document | {"is_admin": True}, context)
        for name in document.keys() - {"_id", "org_id"}:
            with pytest.raises(BrokenRule):
                _check(resource, document | {name: 3.5}, context)
            with pytest.raises(BrokenRule, match=f"{name} is missing"):
                _check(resource, {other: document[other] for other in document if other != name}, context)
        if any(links):
            with pytest.raises(BrokenRule, match="must be a link of the archive"):
                _check(resource, document, ArchiveContext(calls.organization.id, utc_now()))


def _check(resource: Resource[Any], document: Document, context: ArchiveContext) -> None:
    check_document(resource.collection, document, context, lambda _: False)


async def _document(database: Database, resource: Resource[Any], thing: Thing) -> Document:
    document = await database[resource.collection].find_one({"_id": thing["id"]})
    assert document is not None
    return document
