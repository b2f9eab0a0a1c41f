"""Rules of links over the REST API."""

from __future__ import annotations

from typing import Any

from tests.api.link_calls import wrong
from tests.api.whole_links import Links


def rule(url: str, **conditions: Any) -> dict[str, Any]:
    """A rule in its stored form."""
    return {"if": conditions, "then": {"destination_url": url}}


GERMAN = rule("https://shop.example/de", country=["DE"])
ALL = rule("https://shop.example/all")


async def test_rules_by_every_operation(links: Links) -> None:
    """POST, upsert, PATCH and bulk take rules, in the one form that GET shows; null takes them away."""
    unsorted = {"if": {"country": ["de", "DE"], "language": None}, "then": GERMAN["then"]}
    made = await links.make(external_id="a", rules=[unsorted])
    assert made["rules"] == [GERMAN]
    upserted = (await links.post(external_id="a", rules=[GERMAN, ALL])).json()
    assert (upserted["id"], upserted["rules"]) == (made["id"], [GERMAN, ALL])
    changed = (await links.call("PATCH", f"/{made['id']}", {"rules": [{"then": ALL["then"]}]})).json()
    assert changed["rules"] == [ALL]
    same = (await links.call("PATCH", f"/{made['id']}", {"rules": [ALL], "link_name": "x"})).json()
    assert same["rules"] == [ALL]
    update = {"op": "update", "id": made["id"], "link": {"rules": [GERMAN]}}
    bad = {"op": "update", "id": made["id"], "link": {"rules": [ALL, rule("x")]}}
    results = (await links.call("POST", "/bulk", {"operations": [update, bad]})).json()["results"]
    assert [result["status"] for result in results] == ["updated", "rejected"]
    message = "rules[1].then.destination_url must be an absolute http or https URL"
    assert results[1]["error"] == wrong(message)
    assert (await links.get(made["id"]))["rules"] == [GERMAN]
    assert (await links.call("PATCH", f"/{made['id']}", {"rules": None})).json()["rules"] == []


async def test_a_rule_that_leads_back(links: Links) -> None:
    """A rule may not lead to its own link, nor to one that leads back; the error names the rule. One for
    other platforms than those that are led back may."""
    base = f"https://{links.organization.domain}"
    message = "rules[{}].then.destination_url must not lead back to the link's own short URL"
    answer = await links.post(selected_path="a", rules=[GERMAN, rule(f"{base}/a")])
    assert (answer.status_code, answer.json()) == (400, wrong(message.format(1)))

    first = await links.make(selected_path="a", rules=[rule(f"{base}/b", platform=["ios"])])
    second = await links.make(selected_path="b")
    for change, field in (
        ({"rules": [rule(f"{base}/a")]}, message.format(0)),
        ({"destination_url": f"{base}/a"}, "destination_url must not lead back to the link's own short URL"),
    ):
        answer = await links.call("PATCH", f"/{second['id']}", change)
        assert (answer.status_code, answer.json()) == (400, wrong(field))
    on_android = {"rules": [rule(f"{base}/a", platform=["android"])]}
    assert (await links.call("PATCH", f"/{second['id']}", on_android)).status_code == 200
    answer = await links.call("PATCH", f"/{first['id']}", {"rules": [rule(f"{base}/b")]})
    assert (answer.status_code, answer.json()) == (400, wrong(message.format(0)))


async def test_many_pages_are_no_loop(links: Links) -> None:
    """Rules may lead to more pages than a search for loops follows links, and to a link beside them."""
    base = f"https://{links.organization.domain}"
    await links.make(selected_path="last")
    splits = [
        {"then": {"split": [
            {"name": f"{name}", "weight": 1, "destination_url": f"https://shop.example/{number}/{name}"}
            for name in range(10)
        ]}}
        for number in range(7)
    ]  # fmt: skip
    await links.make(selected_path="many", rules=[*splits, rule(f"{base}/last")])
