"""Rules of a link: read as sentences, added, changed, put in order and tried, without scripts."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from backend.dashboard.links.editing.rule_form import fields_of_rule, rule_of
from backend.dashboard.links.editing.rule_trial import try_rules
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import CHANGE_FIELDS, parse_changes
from backend.domain.links.links import Link
from backend.domain.links.rules.words import condition_in_words, outcome_in_words
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import make_link, words
from tests.dashboard.people import FormsOf, Person

EVERYTHING = {
    "if": {
        "platform": ["ios", "android"],
        "system": ["iOS"],
        "browser": ["Mobile Safari", "Chrome"],
        "language": ["de", "pt-BR"],
        "country": ["DE", "AT", "CH"],
        "query": {"a": "1", "b": None},
        "from": "2026-03-01T12:00:00Z",
        "until": "2026-04-01T00:00:00Z",
        "weekdays": [1, 7],
        "hours": {"from": "22:00", "until": "06:00", "timezone": "Europe/Berlin"},
        "device": "returning",
    },
    "then": {
        "split": [
            {"name": "Blue one", "weight": 1, "destination_url": "https://shop.example/a"},
            {"name": "Red", "weight": 3, "destination_url": "https://shop.example/b"},
        ]
    },
}


def parsed(*rules: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules as they are stored."""
    rule_list: list[dict[str, Any]] = parse_changes({"rules": list(rules)}, CHANGE_FIELDS)["rules"]
    return rule_list


def test_a_rule_is_a_sentence() -> None:
    """Every condition is said, values with or between them, and every variant with its share."""
    [rule] = parsed(EVERYTHING)
    assert condition_in_words(rule) == (
        "If the platform is iOS or Android, and the system is iOS, and the browser is Mobile Safari or "
        "Chrome, and the language is de or pt-BR, and the country is DE, AT or CH, and the address has a=1 "
        "and b, and it is 1 Mar 2026, 12:00 UTC or later, and it is before 1 Apr 2026, 00:00 UTC, and the "
        "day is Monday or Sunday, and the time in Europe/Berlin is from 22:00 to 06:00, and the device was "
        "seen before"
    )
    assert outcome_in_words(rule) == (
        "send 25 % to https://shop.example/a (Blue one) and 75 % to https://shop.example/b (Red)"
    )
    [rule] = parsed({"then": {"destination_url": "https://shop.example/"}})
    assert (condition_in_words(rule), outcome_in_words(rule)) == ("Always", "go to https://shop.example/")
    hours = {"from": "08:00", "until": "18:00", "timezone": "Mars/Base"}
    assert condition_in_words({"if": {"hours": hours}, "then": {}}) == (
        "If the time in Mars/Base (this host does not know it: the rule fits nobody) is from 08:00 to 18:00"
    )
    unknown = {"if": {"mood": "good"}, "then": {}}
    assert condition_in_words(unknown) == "If something holds that is not known here (mood)"
    assert "later version" in outcome_in_words(unknown)


def test_the_form_says_the_same_rule() -> None:
    """What the form shows of a rule is that rule when it is sent again."""
    for rule in parsed(EVERYTHING, {"then": {"destination_url": "https://shop.example/"}}):
        assert parsed(rule_of(fields_of_rule(rule))) == [rule]


def variants(**addresses: str) -> dict[str, str]:
    """The fields of a test of these variants by name."""
    fields: dict[str, str] = {}
    for place, (name, address) in enumerate(addresses.items()):
        fields |= {f"variant-{place}-name": name, f"variant-{place}-destination_url": address}
    return fields


async def add(person: Person, link: Link, **fields: str) -> Any:
    """Send the form for a new rule."""
    path = f"/links/{link.id}/rules"
    return await person.send(path, path, **fields)


def shown(page: str) -> list[str]:
    """The sentences of the rules."""
    items = page.partition('<ol class="rules">')[2].partition("</ol>")[0].split("<li")[1:]
    return [words(item.partition("<p>")[2].partition("</p>")[0]) for item in items]


async def stored(database: Database, link: Link) -> list[dict[str, Any]]:
    """The link's rules as they are now."""
    stored_link = await find_link(database, link.id, link.org_id)
    assert stored_link
    return stored_link.rules


async def test_added_changed_and_put_in_order(person: Person, database: Database, link: Link) -> None:
    """From no rule to two in another order, and one again; the link's page says them too."""
    path = f"/links/{link.id}/rules"
    empty = await person.get(path)
    assert "There is no rule yet" in empty.text
    answer = await person.submit(empty, path, country="de, AT", destination_url="https://shop.example/de")
    assert answer.headers["Location"] == f"{path}?notice=rules-changed"
    await add(
        person, link, **{"platform-ios": "on"}, **variants(A="https://a.example/", B="https://b.example/")
    )
    page = (await person.get(path)).text
    assert shown(page) == [
        "If the country is DE or AT, go to https://shop.example/de.",
        "If the platform is iOS, send 50 % to https://a.example/ (A) and 50 % to https://b.example/ (B).",
    ]
    change = FormsOf((await person.get(f"{path}?edit=0")).text).fields_of(path)
    assert (change["country"], change["place"]) == ("DE, AT", "0")
    await person.client.post(path, data=change | {"country": "CH"})
    order = {"action": "up", "place": "1"}
    await person.send(path, f"{path}/order", **order)
    assert [rule["if"] for rule in await stored(database, link)] == [
        {"platform": ["ios"]},
        {"country": ["CH"]},
    ]
    await person.send(path, f"{path}/order", **order | {"action": "remove"})
    assert len(await stored(database, link)) == 1
    assert "If the platform is iOS" in (await person.get(f"/links/{link.id}")).text


WRONG: list[tuple[dict[str, str], str]] = [
    ({"country": "XX", "destination_url": "https://a.example/"}, "Country must have ISO 3166 codes"),
    (
        {"hours_from": "8", "hours_until": "18:00", "destination_url": "https://a.example/"},
        "Hours from must be a time of day",
    ),
    ({"from": "soon", "destination_url": "https://a.example/"}, "From must be a date"),
    ({"destination_url": "javascript:1"}, "Go to must be an absolute http or https URL"),
    ({}, "Go to is required"),
    (variants(A="https://a.example/"), "The test must be a list of 2 to 10 variants"),
    (variants(A="https://a.example/", B="?"), "Address must be an absolute http or https URL"),
    (
        variants(A="https://a.example/", B="https://b.example/") | {"variant-0-weight": "half"},
        "Weight must be a whole number from 0 to 10000",
    ),
    ({"variant-7-destination_url": "https://a.example/", "variant-9-name": "Z"}, "Name of variant 8"),
    ({"query": "$where=1", "destination_url": "https://a.example/"}, "Query parameters must not have"),
]


async def test_what_is_wrong_stands_at_its_field(person: Person, database: Database, link: Link) -> None:
    """The form comes again with what was typed; nothing is stored."""
    path = f"/links/{link.id}/rules"
    page = await person.get(path)
    for fields, sentence in WRONG:
        answer = await person.submit(page, path, **fields)
        assert answer.status_code == 422, sentence
        assert sentence in answer.text
        again = FormsOf(answer.text).fields_of(path)
        assert {name: again[name] for name in fields} == fields, sentence
    assert await stored(database, link) == []


async def test_a_new_test(person: Person, database: Database, link: Link) -> None:
    """It begins with what visitors get now; rows between others may be empty, and the order stays."""
    path = f"/links/{link.id}/rules"
    form = FormsOf((await person.get(f"{path}?test=1")).text).fields_of(path)
    assert (form["variant-0-name"], form["variant-0-destination_url"]) == ("A", link.destination_url)
    third = {
        "variant-4-name": "C",
        "variant-4-weight": "2",
        "variant-4-destination_url": "https://c.example/",
    }
    await person.client.post(path, data=form | {"variant-1-name": ""} | third)
    assert [rule["then"] for rule in await stored(database, link)] == [
        {
            "split": [
                {"name": "A", "weight": 1, "destination_url": link.destination_url},
                {"name": "C", "weight": 2, "destination_url": "https://c.example/"},
            ]
        }
    ]
    assert "A/B test</a>: No clicks yet." in (await person.get(f"/links/{link.id}")).text


async def test_two_people_at_once(person: Person, database: Database, link: Link) -> None:
    """Who has not seen the other's change is told of it, and nothing of it is lost."""
    path = f"/links/{link.id}/rules"
    old = FormsOf((await person.get(path)).text).fields_of(path)
    await add(person, link, destination_url="https://first.example/")
    late = await person.client.post(path, data=old | {"destination_url": "https://second.example/"})
    assert (late.status_code, "changed by somebody else" in late.text) == (409, True)
    late = await person.client.post(f"{path}/order", data=old | {"place": "0", "action": "remove"})
    assert late.status_code == 409
    assert [rule["then"]["destination_url"] for rule in await stored(database, link)] == [
        "https://first.example/"
    ]


async def test_two_people_in_the_same_moment(person: Person, database: Database, link: Link) -> None:
    """One of them is stored, and every other is told, also where both were sent before either was stored."""
    path = f"/links/{link.id}/rules"
    form = FormsOf((await person.get(path)).text).fields_of(path)
    sent = [form | {"destination_url": f"https://{number}.example/"} for number in range(6)]
    answers = await asyncio.gather(*[person.client.post(path, data=fields) for fields in sent])
    assert sorted(answer.status_code for answer in answers) == [303, *[409] * 5]
    stored_url = (await stored(database, link))[0]["then"]["destination_url"]
    (done,) = (fields for fields, answer in zip(sent, answers, strict=True) if answer.status_code == 303)
    assert stored_url == done["destination_url"]


async def test_tried_as_somebody(person: Person, link: Link) -> None:
    """The page says which rule decides for a visitor who is made up, or that none does."""
    await add(person, link, country="DE", destination_url="https://a.example/de")
    path = f"/links/{link.id}/rules"
    german = (await person.get(f"{path}?try_platform=ios&try_country=de")).text
    assert re.search(r"Rule 1 decides:</strong> go to https://a.example/de", german)
    other = (await person.get(f"{path}?try_platform=ios&try_country=fr")).text
    assert "No rule fits:" in other


def test_what_a_trial_can_say(link_with_everything: Link) -> None:
    """Everything that rules ask for can be tried, also another time and a device that was seen before."""
    visitor = {
        "try_platform": "ios", "try_country": "at", "try_language": "de-AT", "try_query": "a=1&b=x",
        "try_device": "returning", "try_at": "2026-03-01T21:30",
    }  # fmt: skip
    now = datetime(2027, 1, 1, tzinfo=UTC)
    assert try_rules(link_with_everything, visitor, now).number == 1
    for name, value in (
        ("try_platform", "desktop"), ("try_country", "FR"), ("try_language", "fr"), ("try_query", "b"),
        ("try_device", "new"), ("try_at", ""), ("try_at", "2026-03-03T21:30"),
    ):  # fmt: skip
        assert try_rules(link_with_everything, visitor | {name: value}, now).number is None, name


@pytest.mark.parametrize("moment", ["0001-01-01T00:00", "9999-12-31T23:59:59-12:00", "soon"])
def test_a_time_that_can_t_be_tried(link_with_everything: Link, moment: str) -> None:
    """What is no time in every time zone stands for now, as what is no time at all."""
    hours = {"from": "08:00", "until": "10:00", "timezone": "America/New_York"}
    rules = parsed({"if": {"hours": hours}, "then": {"destination_url": "https://a.example/"}})
    link, now = replace(link_with_everything, rules=rules), datetime(2026, 3, 1, 14, tzinfo=UTC)
    assert try_rules(link, {"try_at": moment}, now).number == 1


@pytest.fixture
def link_with_everything() -> Link:
    """A link with a rule that asks for everything."""
    made = datetime(2026, 1, 1, tzinfo=UTC)
    return Link(
        LinkId("7"), OrgId("org"), "go.example", "a", "https://a.example", "A", made, made,
        rules=parsed(EVERYTHING),
    )  # fmt: skip


async def test_another_organization_s_rules(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """They are not there."""
    theirs = await make_link(database, await make_organization(), "Theirs", now)
    assert (await person.get(f"/links/{theirs.id}/rules")).status_code == 404
