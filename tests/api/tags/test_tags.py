"""Tags of links: made, renamed, deleted, given to links and asked for."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from backend.domain.links.tags import MOST_ON_A_LINK
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import change_tag, create_tag, list_tags
from tests.api.link_calls import API, link_body, wrong
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def tag(links: Links, method: str, name: str = "", body: object = None) -> httpx.Response:
    """A call about tags with the organization's key."""
    path = f"/{quote(name, safe='')}" if name else ""
    return await links.client.request(
        method, f"{API}/tags{path}", json=body, headers=links.organization.headers
    )


async def make_tags(links: Links, *names: str) -> None:
    """Make these tags."""
    for name in names:
        assert (await tag(links, "POST", body={"name": name})).status_code == 201


async def all_tags(links: Links) -> dict[str, tuple[str, int]]:
    """Colour and number of links of each tag."""
    answer = await tag(links, "GET")
    return {item["name"]: (item["color"], item["links"]) for item in answer.json()["tags"]}


async def test_a_tag_from_making_to_deleting(links: Links) -> None:
    """It is made with a colour, listed, found in any case, renamed and coloured, and deleted."""
    made = await tag(links, "POST", body={"name": " Spring  sale ", "color": "#FF8800"})
    assert made.status_code == 201
    assert made.json() | {"created_at": ""} == {
        "name": "Spring sale",
        "color": "#ff8800",
        "links": 0,
        "created_at": "",
    }
    await links.make(tags=["SPRING SALE"])
    assert await all_tags(links) == {"Spring sale": ("#ff8800", 1)}
    changed = await tag(links, "PATCH", "spring sale", {"name": "Summer/Köln?", "color": "teal"})
    assert (changed.status_code, changed.json()["name"], changed.json()["links"]) == (200, "Summer/Köln?", 1)
    assert (await tag(links, "PATCH", "summer/köln?", {"name": "SUMMER/Köln?"})).status_code == 200
    assert await all_tags(links) == {"SUMMER/Köln?": ("#0c8599", 1)}
    assert (await tag(links, "DELETE", "Summer/KÖLN?")).status_code == 204
    assert (await tag(links, "DELETE", "Summer/Köln?")).status_code == 404
    assert await all_tags(links) == {}


BROKEN: list[tuple[Any, ...]] = [
    ({"name": "a,b"}, "name must not contain a comma"),
    ({"name": "x" * 65}, "name must have at most 64 characters"),
    ({"name": "a//b"}, "name must not have an empty part, . or .. before or behind a /"),
    ({"name": ".."}, "name must not have an empty part, . or .. before or behind a /"),
    ({"name": "a\u202eb"}, "name must not contain bidirectional control characters"),
    ({"name": "a", "color": "#12345"}, "color must be a colour such as #2f6fde, or one of red, orange, "
     "yellow, green, teal, blue, purple, pink, brown, gray"),
    ({"name": "a", "size": 1}, "size is not a field of this request"),
]  # fmt: skip


async def test_what_breaks_a_rule(links: Links) -> None:
    """It is refused with the field and the rule."""
    for body, message in BROKEN:
        answer = await tag(links, "POST", body=body)
        assert (answer.status_code, answer.json()) == (400, wrong(message))


async def test_a_rename_is_seen_on_every_link(links: Links) -> None:
    """A link shows its tags by their present names, in the order they were given, and was not changed."""
    await make_tags(links, "spring", "mail")
    link = await links.make(tags=["mail", "Spring", "MAIL"])
    assert link["tags"] == ["mail", "spring"]
    assert (await tag(links, "PATCH", "spring", {"name": "autumn"})).status_code == 200
    assert await links.get(link["id"]) == link | {"tags": ["mail", "autumn"]}
    assert [tagged["id"] for tagged in await links.list("tag=Autumn")] == [link["id"]]
    assert await links.list("tag=spring") == []
    assert (await tag(links, "PATCH", "mail", {"name": "Autumn"})).status_code == 400


async def test_a_deleted_tag_is_on_no_link(links: Links) -> None:
    """Links lose it at once, and a new tag of the same name is on none of them."""
    await make_tags(links, "spring", "mail")
    link = await links.make(tags=["spring", "mail"])
    assert (await tag(links, "DELETE", "spring")).status_code == 204
    await make_tags(links, "spring")
    assert (await links.get(link["id"]))["tags"] == ["mail"]
    assert await links.list("tag=spring") == []
    changed = await links.call("PATCH", f"/{link['id']}", {"add_tags": ["spring"]})
    assert changed.json()["tags"] == ["mail", "spring"]


async def test_tags_of_a_link_are_changed(links: Links) -> None:
    """They are set, added, taken off and cleared; what does not change anything is no change."""
    await make_tags(links, "a", "b", "c")
    link_id = (await links.make(tags=["a"]))["id"]
    for body, expected in (
        ({"link_name": "n"}, ["a"]),
        ({"tags": ["b", "a"]}, ["b", "a"]),
        ({"add_tags": ["c", "A"], "remove_tags": ["b"]}, ["a", "c"]),
        ({"tags": None}, []),
        ({"tags": ["c"], "add_tags": ["a"]}, ["c", "a"]),
        ({"tags": []}, []),
    ):
        assert (await links.call("PATCH", f"/{link_id}", body)).json()["tags"] == expected
    for body in ({"tags": ["b", "none"]}, {"add_tags": ["none"]}, {"remove_tags": ["none"]}):
        refused = await links.call("PATCH", f"/{link_id}", body | {"link_name": "other"})
        (name,) = body
        assert (refused.status_code, refused.json()) == (
            400,
            wrong(f"{name} has a tag that was not found: none"),
        )
    assert (await links.get(link_id))["link_name"] == "n"


async def test_a_link_has_at_most_twenty_tags(links: Links, database: Database) -> None:
    """Twenty are possible, one more is refused; a deleted one does not count."""
    names = [f"t{number}" for number in range(MOST_ON_A_LINK + 1)]
    for name in names:
        await create_tag(database, links.organization.id, name, None, NOW)
    link = await links.make(tags=names[:-1])
    assert len(link["tags"]) == MOST_ON_A_LINK
    refused = await links.post(tags=names)
    assert refused.json() == wrong("tags must be a list of at most 20 names of tags")
    body = {"add_tags": names[-1:]}
    refused = await links.call("PATCH", f"/{link['id']}", body)
    assert refused.json() == wrong("add_tags would give the link more than 20 tags")
    assert (await tag(links, "DELETE", names[0])).status_code == 204
    assert (await links.call("PATCH", f"/{link['id']}", body)).json()["tags"] == names[1:]


async def test_tags_in_a_bulk(links: Links) -> None:
    """Operations give, add and take off tags; only the one that names an unknown tag is rejected."""
    await make_tags(links, "a", "b")
    old = await links.make(tags=["a"])
    fields = link_body(links.organization)
    operations = [
        {"op": "create", "link": fields | {"tags": ["b"]}},
        {"op": "upsert", "link": fields | {"external_id": "sku", "tags": ["a", "b"]}},
        {"op": "upsert", "link": fields | {"external_id": "sku", "tags": ["a", "b"]}},
        {"op": "update", "id": old["id"], "link": {"add_tags": ["b"], "remove_tags": ["a"]}},
        {"op": "update", "id": old["id"], "link": {"add_tags": ["x"]}},
    ]
    results = (await links.call("POST", "/bulk", {"operations": operations})).json()["results"]
    assert [result["status"] for result in results] == [
        "created",
        "created",
        "unchanged",
        "updated",
        "rejected",
    ]
    assert results[4]["error"] == wrong("add_tags has a tag that was not found: x")
    assert len(await links.list("tag=b")) == 3
    assert [link["external_id"] for link in await links.list("tag=a")] == ["sku"]


async def test_another_organization_s_tag_is_not_found(
    links: Links, client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """It can't be given to a link, asked for, renamed or deleted, and its name is free."""
    theirs = Links(client, await make_organization())
    await make_tags(theirs, "secret")
    link = await theirs.make(tags=["secret"])
    assert (await links.post(tags=["secret"])).json() == wrong("tags has a tag that was not found: secret")
    assert await links.list("tag=secret") == []
    for answer in [
        await tag(links, "PATCH", "secret", {"name": "mine"}),
        await tag(links, "DELETE", "secret"),
    ]:
        assert (answer.status_code, answer.json()["code"]) == (404, 103)
    await make_tags(links, "secret")
    assert (await tag(links, "DELETE", "secret")).status_code == 204
    assert await theirs.get(link["id"]) == link


async def test_renames_while_links_are_read_and_made(links: Links) -> None:
    """Whoever reads sees each link with one of the names, and no tag is lost whatever else changes."""
    await make_tags(links, "red", "kept")
    made = [await links.make(tags=["red", "kept"]) for _ in range(3)]
    names = ["blue", "red"] * 6
    seen: set[tuple[str, ...]] = set()

    async def rename() -> None:
        for before, after in zip(["red", *names], names, strict=False):
            assert (await tag(links, "PATCH", before, {"name": after})).status_code == 200

    async def change() -> None:
        for number in range(6):
            answer = await links.call(
                "PATCH", f"/{made[0]['id']}", {"add_tags": ["kept"], "link_name": f"{number}"}
            )
            assert answer.status_code == 200

    async def read() -> None:
        for _ in range(8):
            seen.update(tuple(link["tags"]) for link in await links.list())

    await asyncio.gather(rename(), change(), read())
    assert seen <= {("red", "kept"), ("blue", "kept")}
    assert {tuple(link["tags"]) for link in await links.list("tag=red")} == {("red", "kept")}


async def test_each_tag_is_listed_once_while_it_is_renamed(links: Links, database: Database) -> None:
    """The list is as of one moment, though it is in the order of names."""
    org_id, many = links.organization.id, 250  # of which MongoDB hands out the first 101 at once
    names = [f"t{number:03}" for number in range(many)]
    await asyncio.gather(*(create_tag(database, org_id, name, "#d64545", NOW) for name in names))
    is_over = False

    async def rename() -> None:
        name = "t000"
        while not is_over:
            other = "zzz" if name == "t000" else "t000"
            await change_tag(database, org_id, name, new_name=other)
            name = other

    renaming = asyncio.create_task(rename())
    seen = [len(await list_tags(database, org_id)) for _ in range(20)]
    is_over = True
    await renaming
    assert set(seen) == {many}


async def test_a_name_is_taken_once(links: Links) -> None:
    """Of many who make a tag of one name at the same time, one does."""
    bodies = [{"name": name} for name in ("Straße", "STRASSE", "strasse", "Straße")]
    answers = await asyncio.gather(*(tag(links, "POST", body=body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [201, 400, 400, 400]
    assert len(await all_tags(links)) == 1


async def test_clicks_by_tag(links: Links) -> None:
    """Analytics group by tags and filter by them, in any case; the filter's rule is that of names."""
    await make_tags(links, "Mail", "Spring")
    await links.click(await links.make(tags=["Mail", "Spring"]))
    await links.click(await links.make())

    async def asked(**body: Any) -> dict[str, Any]:
        answer = await links.client.post(
            f"{API}/analytics/query", json={"group_by": ["tag"]} | body, headers=links.organization.headers
        )
        report: dict[str, Any] = answer.json()
        return report

    report = await asked()
    assert report["totals"] == {"clicks": 2}
    assert report["rows"] == [{"tag": name, "clicks": 1} for name in ("Mail", "Spring", None)]
    assert (await asked(filters={"tag": ["mail"]}))["rows"] == [{"tag": "Mail", "clicks": 1}]
    refused = await asked(filters={"tag": ["a,b"]})
    assert refused == wrong("filters.tag must not contain a comma")
