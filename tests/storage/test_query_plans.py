"""How MongoDB carries out the queries of the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from bson import Timestamp

from backend.domain.all_resources import RESOURCES
from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.ids import CustomerId, OrgId
from backend.domain.links.window_counts import buckets_of_windows
from backend.storage.accounts import (
    announced_deletions,
    api_keys,
    apps,
    deleted_organizations,
    domains,
    organizations,
    origins,
    rate_limited_requests,
)
from backend.storage.accounts.directory import groups as provisioned_groups
from backend.storage.accounts.directory import identities as provider_identities
from backend.storage.accounts.directory import people as provisioned_people
from backend.storage.accounts.domain_setup import claims as domain_claims
from backend.storage.accounts.users import known_addresses, password_resets, sessions, users
from backend.storage.alerts import alerts
from backend.storage.alerts import rules as alert_rules
from backend.storage.apps import clipboard_texts, deferred_links, install_counts, installs
from backend.storage.archives import archives
from backend.storage.clicks import address_keys
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import summaries as click_summaries
from backend.storage.costs import costs
from backend.storage.driver.mongo import Database
from backend.storage.ledger import statements
from backend.storage.lifecycle.collections import declared_indexes
from backend.storage.links import links, orphans, tags, taken_clicks
from backend.storage.links import purged as purged_links
from backend.storage.links import reports as link_reports
from backend.storage.links.destinations import broken as broken_destinations
from backend.storage.links.lists import orders as link_orders
from backend.storage.mail import mails
from backend.storage.outbox import entries
from backend.storage.processes import failing_items
from backend.storage.reports import recipients, reports
from backend.storage.sales import conversions, leads
from backend.storage.visitors import contacts, counted_once, devices, erasures, events, identities
from backend.storage.webhooks import endpoints

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ORG = {"org_id": "o"}
ONE_OF = {"$in": ["t", "u"], "$type": "string"}
RECORDS = (events.NAME, leads.NAME, conversions.NAME)
NEWEST_FIRST = dict(links.NEWEST_FIRST)
THROUGH_PROVIDER = {"provider_org_id": {"$eq": "o", "$type": "string"}}
QUERIES: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "what waits for its place": (entries.NAME, {"waits": True}, {"stamp": 1}),
    "what waits for its place in others' feeds": (
        entries.NAME,
        {"waits": True, "org_id": {"$nin": ["a", "b"]}},
        {"stamp": 1},
    ),
    "the last entry before a place in a feed": (entries.NAME, ORG | {"place": {"$lt": 9}}, {"place": -1}),
    "a part of a feed": (entries.NAME, ORG | {"place": {"$gte": 1, "$lte": 9}}, {"place": 1}),
    "facts about a customer": (entries.NAME, ORG | {"facts.customer_id": {"$in": ["a", "b"]}}, {}),
    "facts about a device": (entries.NAME, ORG | {"facts.device_id": {"$in": ["a", "b"]}}, {}),
    "facts about an installation": (entries.NAME, ORG | {"facts.install_id": {"$in": ["a", "b"]}}, {}),
    "facts that have expired": (
        entries.NAME,
        ORG | {"ages_by": "click_days", "stamp": {"$lt": Timestamp(NOW, 0)}, "place": {"$exists": True}},
        {},
    ),
    "a page of the audit log": (
        entries.NAME,
        ORG | entries.AUDIT_ENTRIES | {"place": {"$exists": True}},
        {"place": -1},
    ),
    "the audit log of one thing": (
        entries.NAME,
        ORG | entries.AUDIT_ENTRIES | {"place": {"$lte": 9}, "facts": {"$elemMatch": {"target.id": "t"}}},
        {"place": -1},
    ),
    "an organization's webhooks": (endpoints.NAME, ORG, {"created_at": 1}),
    "an organization's reports": (reports.NAME, ORG, {"created_at": 1, "_id": 1}),
    **{
        f"the list of {resource.collection}": (
            resource.collection,
            ORG,
            {**dict.fromkeys(resource.order, 1), "_id": 1},
        )
        for resource in RESOURCES
    },
    "costs of a campaign": (
        costs.NAME,
        ORG | {"day": {"$gte": "2026-03-01"}, "campaign": "spring"},
        {"day": -1, "campaign": 1, "currency": 1},
    ),
    "orphan visits of a domain": (
        orphans.NAME,
        ORG | {"domain": "go.shop.com", "day": {"$gte": NOW}},
        {"day": -1},
    ),
    "notes of a time": (ANNOTATIONS.collection, ORG | {"at": {"$gte": NOW}}, {"at": 1}),
    "a report by its token": (reports.NAME, {"token": "t"}, {}),
    "webhooks that nobody delivers to": (
        endpoints.NAME,
        {"is_enabled": True, "slept_at": None, "holder": None},
        {},
    ),
    "an organization's alert rules": (alert_rules.NAME, ORG, {"created_at": 1, "_id": 1}),
    "alert rules that are looked after": (alert_rules.NAME, {"is_enabled": True}, {}),
    "the alerts of an organization": (alerts.NAME, ORG, {"fired_at": -1, "_id": -1}),
    "the open alerts of a rule": (alerts.NAME, {"rule_id": "r", "is_open": True}, {}),
    "what a rule has sent": (alerts.NAME, {"rule_id": "r", "fired_at": {"$gt": NOW}, "is_sent": True}, {}),
    "the links that end soon": (
        links.NAME,
        ORG | {"is_enabled": True, "archived_at": None, "limits.expires_at": {"$gt": NOW, "$lte": NOW}},
        {},
    ),
    "announced deletions that are due": (
        announced_deletions.NAME,
        {"asked_at": {"$lte": NOW}},
        {"asked_at": 1},
    ),
    "an organization's archives": (archives.NAME, ORG | {"expires_at": {"$gt": NOW}}, {"asked_at": -1}),
    "the archive that is made next": (archives.NAME, {"is_open": True}, {"asked_at": 1}),
    "archives of which a mail is to tell": (archives.NAME, {"is_told": False}, {}),
    "mails that are due": (
        mails.NAME,
        {"state": "waiting", "next_try_at": {"$lte": NOW}},
        {"next_try_at": 1},
    ),
    "mails that are on their way": (mails.NAME, {"state": "sending"}, {}),
    "an organization's mails that were not sent": (
        mails.NAME,
        ORG | {"created_at": {"$gte": NOW}, "error": {"$type": "string"}},
        {"created_at": -1},
    ),
    "mails to somebody": (mails.NAME, ORG | {"$or": [{"address_sha256": {"$in": ["h", "i"]}}]}, {}),
    "an organization's recipients": (recipients.NAME, ORG, {"report_id": 1, "address": 1, "frequency": 1}),
    "a recipient by token": (recipients.NAME, {"token": "t"}, {}),
    "recipients to whom a mail is due": (
        recipients.NAME,
        {"state": "confirmed", "next_at": {"$lte": NOW}},
        {"next_at": 1},
    ),
    "recipients by address": (recipients.NAME, ORG | {"address_sha256": "h"}, {}),
    "a page of links": (links.NAME, ORG, NEWEST_FIRST),
    "a page of links of one kind of key": (links.NAME, ORG | {"created_by": "api_rest"}, NEWEST_FIRST),
    "the purged links": (purged_links.NAME, ORG, {}),
    "the links that were purged lately": (purged_links.NAME, {"at": {"$gte": NOW}}, {}),
    "the clicks that were taken of a deleted organization's links": (taken_clicks.NAME, ORG, {}),
    "the installs that were counted for a deleted organization's links": (install_counts.NAME, ORG, {}),
    "all links by time of change": (links.NAME, ORG, {"modified_at": 1, "_id": 1}),
    "all links by name": (links.NAME, ORG, {"link_name": 1, "_id": 1}),
    "a link by external id": (links.NAME, ORG | {"external_id": "sku"}, {}),
    "links by external ids": (links.NAME, ORG | {"external_id": {"$in": ["sku", "other"]}}, {}),
    "links by how their ids begin": (links.NAME, {"_id": {"$in": [re.compile("^0a1b2c3d-")]}} | ORG, {}),
    "the links with a tag": (
        links.NAME,
        ORG | {"tag_ids": {"$in": ["t"]}, "archived_at": None},
        NEWEST_FIRST,
    ),
    "tags by names and ids": (
        tags.NAME,
        ORG | {"$or": [{"key": {"$in": ["a", "b"]}}, {"_id": {"$in": ["t"]}}]},
        {},
    ),
    "the tags of an organization": (tags.NAME, ORG, {"key": 1}),
    "the archived links": (links.NAME, ORG | {"archived_at": {"$type": "date"}}, {}),
    "the broken links of an organization": (broken_destinations.NAME, ORG, {"since": -1}),
    "the reported links of an organization": (link_reports.NAME, ORG, {"last_at": -1}),
    "the reported links of everyone": (link_reports.NAME, {}, {"last_at": -1}),
    "the held links of everyone": (links.NAME, links.HELD, {"hold.at": -1}),
    "the oldest order of links": (link_orders.NAME, ORG, {"made_at": 1}),
    "a link by id": (links.NAME, {"_id": "x"} | ORG, {}),
    "a link by short URL": (links.NAME, {"domain": "d", "path": "p"} | ORG, {}),
    "a link in any case": (links.NAME, {"domain": "d", "path": {"$in": ["p", "p."]}}, {}),
    "links in any case": (
        links.NAME,
        {"$or": [{"domain": "d", "path": "p"}, {"domain": "e", "path": "q"}]},
        {},
    ),
    "a key": (api_keys.NAME, {"key_hash": "h", "revoked_at": None}, {}),
    "the keys of an organization": (api_keys.NAME, ORG, {"created_at": 1}),
    "the domains of an organization": (domains.NAME, ORG, {"_id": 1}),
    "the claims of an organization": (domain_claims.NAME, ORG, {"_id": 1}),
    "the origins of an organization": (origins.NAME, ORG, {"origin": 1}),
    "users by address": (users.NAME, {"email": "e"}, {}),
    "users whom a provider named": (users.NAME, {"managed_by": "o"}, {}),
    "users of an organization": (users.NAME, {"org_ids": "o"}, {"email": 1}),
    "a session": (sessions.NAME, {"_id": "h", "expires_at": {"$gt": NOW}}, {}),
    "the person with a user name": (provisioned_people.NAME, ORG | {"user_name_key": "u"}, {}),
    "the person with an address": (provisioned_people.NAME, ORG | {"emails.key": "e"}, {}),
    "the person with an account": (provisioned_people.NAME, ORG | {"user_id": "u", "is_active": True}, {}),
    "who had a deleted account": (provisioned_people.NAME, {"user_id": "u"}, {}),
    "who waits for an account": (provisioned_people.NAME, ORG | {"email": "e", "user_id": None}, {}),
    "a page of people": (provisioned_people.NAME, ORG, {"created_at": 1, "_id": 1}),
    "the groups of people": (provisioned_groups.NAME, ORG | {"member_ids": {"$in": ["a", "b"]}}, {}),
    "a page of groups": (provisioned_groups.NAME, ORG, {"created_at": 1, "_id": 1}),
    "open password resets of a user": (password_resets.NAME, {"user_id": "u"}, {}),
    "the sessions through a provider": (sessions.NAME, THROUGH_PROVIDER, {}),
    "a person of a provider": (provider_identities.NAME, {"issuer": "i", "subject": "s"}, {}),
    "a user of a provider": (provider_identities.NAME, ORG | {"issuer": "i", "user_id": "u"}, {}),
    "the identities of users": (provider_identities.NAME, {"user_id": {"$in": ["u", "v"]}}, {}),
    "the sessions of a user": (sessions.NAME, {"user_id": "u"}, {}),
    "a search in links": (links.NAME, links.with_text(OrgId("o"), "spring"), NEWEST_FIRST),
    "the deletions that are not finished": (deleted_organizations.NAME, {"is_gone": False}, {}),
    "organizations without click ids": (organizations.NAME, {"click_ids": False}, {}),
    "an organization by name": (organizations.NAME, {"name": "n"}, {"created_at": 1}),
    "the installs of an organization": (installs.NAME, ORG, {"at": 1}),
    "the sales of a link": (
        conversions.NAME,
        ORG | {"touch.link_id": "l"},
        {"at": -1, "_id": -1},
    ),
    "the sales of some links in a period": (
        conversions.NAME,
        ORG | {"touch.link_id": {"$in": ["l", "m"]}, "at": {"$gte": NOW}},
        {},
    ),
    "installs of a link": (
        install_counts.NAME,
        {"_id": {"$in": sorted(buckets_of_windows(NOW))}},
        {},
    ),
    "a link of a visitor": (links.NAME, {"domain": "d", "path": "p"}, {}),
    "the app links of a domain": (
        links.NAME,
        {
            "domain": "d",
            "is_enabled": True,
            "ios_behavior": 2,
            "hold": None,
            "$nor": [{"limits.max_clicks": {"$gt": 0}}, {"limits.password_hash": {"$gt": ""}}],
        },
        NEWEST_FIRST,
    ),
    "the browser links of a domain": (
        links.NAME,
        {
            "$or": [
                {"domain": "d", "ios_behavior": 1},
                {"domain": "d", "ios_behavior": 2, "is_enabled": False},
                {"domain": "d"} | links.HELD,
            ]
        },
        {},
    ),
    "the links of a domain with a password": (
        links.NAME,
        {"domain": "d", "limits.password_hash": {"$gt": ""}},
        {},
    ),
    "the links of a domain with so many clicks": (
        links.NAME,
        {"domain": "d", "limits.max_clicks": {"$gt": 0}},
        {},
    ),
    "the clicks of a period": (click_blocks.NAME, ORG | {"last_at": {"$gte": NOW}}, {"last_at": 1}),
    "the blocks to merge": (click_blocks.NAME, ORG | {"is_small": True}, {"first_at": 1}),
    "the block that another was merged into": (
        click_blocks.NAME,
        ORG | {"parts.id": {"$in": ["a", "b"]}},
        {},
    ),
    "the last signed day": (statements.NAME, ORG, {"day": -1}),
    "the oldest clicks": (
        click_blocks.NAME,
        ORG | {"last_at": {"$lt": NOW}, "is_unreadable": {"$ne": True}},
        {"last_at": 1},
    ),
    "the days that were added up": (
        click_summaries.NAME,
        ORG | {"is_unreadable": {"$ne": True}},
        {"day": 1},
    ),
    "the summaries that can't be read": (click_summaries.NAME, {"is_unreadable": True}, {}),
    "the blocks that can't be read": (click_blocks.NAME, {"is_unreadable": True}, {}),
    "the links that wait for an app": (
        deferred_links.NAME,
        {"address_hash": {"$in": ["a", "b"]}, "app_id": "c", "expires_at": {"$gt": NOW}} | ORG,
        {},
    ),
    "a text of the clipboard": (
        clipboard_texts.NAME,
        {"_id": "h", "app_id": "c", "expires_at": {"$gt": NOW}} | ORG,
        {},
    ),
    "the keys of two days": (address_keys.NAME, {"_id": {"$in": ["2026-01-01", "2026-01-02"]}}, {}),
    "what limits refused": (
        rate_limited_requests.NAME,
        rate_limited_requests.COLLECTION.scope(OrgId("o")),
        {},
    ),
    "whether an address is known": (
        known_addresses.NAME,
        {"_id": {"$in": ["a", "b"]}, "expires_at": {"$gt": NOW}},
        {},
    ),
    "the apps of a domain": (apps.NAME, {"_id": "d"}, {}),
    "the apps of an organization": (apps.NAME, ORG, {"_id": 1}),
    "who allows an origin": (origins.NAME, {"origin": {"$in": ["https://a.example"]}}, {}),
    "what an organization counted once": (counted_once.NAME, ORG, {}),
    "the devices of an organization": (devices.NAME, ORG, {}),
    "the latest devices of a customer": (
        devices.NAME,
        identities.identified_as(OrgId("o"), CustomerId("c")),
        {"last_seen_at": -1, "_id": -1},
    ),
    "the contacts of customers": (contacts.NAME, {"customer_id": {"$in": ["c", "d"]}} | ORG, {}),
    "the contacts of a device": (contacts.NAME, {"device_id": "d"} | ORG, {}),
    "the contacts with an address": (contacts.NAME, {"emails_sha256": "e"} | ORG, {}),
    "the contacts with addresses of servers": (
        contacts.NAME,
        {contacts.EMAILS_BY_SERVERS: {"$in": ["e"]}, "customer_id": {"$nin": ["c"]}} | ORG,
        {},
    ),
    "the erasures with which nobody goes on": (erasures.NAME, {"worked_at": {"$lt": NOW}}, {}),
    "the items of a work that fail": (failing_items.NAME, {"work": "w"}, {}),
    "what fails for an organization": (failing_items.NAME, ORG, {"since": 1}),
    "sales by their orders": (conversions.NAME, ORG | {"transaction_id": ONE_OF}, {}),
    "leads by ids of events": (leads.NAME, ORG | {"event_id": ONE_OF}, {}),
    **{f"the leads with {field}": (leads.NAME, {field: {"$in": ["e"]}} | ORG, {}) for field in leads.EMAILS},
    **{
        f"the {name} of which {field} was told": (name, {f"tellings.{field}": {"$in": ["a"]}} | ORG, {})
        for name in (conversions.NAME, leads.NAME)
        for field in ("customer_id", "device_id")
    },
    **{
        f"the {name} of a period as of a moment": (
            name,
            ORG | {"tellings.at": {"$gte": NOW}, "$nor": [{"at": {"$gte": NOW}}]},
            {},
        )
        for name in (conversions.NAME, leads.NAME)
    },
    **{f"the {name} of a period": (name, {"at": {"$gte": NOW}} | ORG, {"at": 1}) for name in RECORDS},
    **{f"the {name} of a customer": (name, {"customer_id": "c"} | ORG, {}) for name in RECORDS},
    **{
        f"the {name} of a device": (name, {"device_id": "d", "at": {"$gte": NOW}} | ORG, {"at": 1})
        for name in RECORDS
    },
}


def stages(plan: object) -> Iterator[str]:
    """The names of a plan's stages."""
    if isinstance(plan, dict):
        if "stage" in plan:
            yield str(plan["stage"])
        for inner in plan.values():
            yield from stages(inner)
    elif isinstance(plan, list):
        for inner in plan:
            yield from stages(inner)


def indexes(plan: object) -> Iterator[str]:
    """The names of the indexes that a plan reads."""
    if isinstance(plan, dict):
        if "indexName" in plan:
            yield str(plan["indexName"])
        for inner in plan.values():
            yield from indexes(inner)
    elif isinstance(plan, list):
        for inner in plan:
            yield from indexes(inner)


# The queries that compare letters and not their case.
IN_ANY_CASE = ("a link in any case", "links in any case")


async def plans(database: Database, name: str) -> dict[str, Any]:
    """How the server carries the query out, and how else it could."""
    collection, condition, order = QUERIES[name]
    find: dict[str, Any] = {"find": collection, "filter": condition} | ({"sort": order} if order else {})
    if name in IN_ANY_CASE:
        find["collation"] = links.ANY_CASE.document
    explained: dict[str, Any] = await database.command("explain", find, verbosity="queryPlanner")
    planner: dict[str, Any] = explained["queryPlanner"]
    return planner


@pytest.mark.parametrize("name", QUERIES)
async def test_no_query_reads_a_whole_collection(database: Database, name: str) -> None:
    """Every query goes over an index."""
    assert "COLLSCAN" not in set(stages((await plans(database, name))["winningPlan"]))


@pytest.mark.parametrize(
    "name", ["a page of links", "a page of links of one kind of key", "a search in links"]
)
async def test_pages_of_links_are_not_sorted_in_memory(database: Database, name: str) -> None:
    """A page costs its own length, not the number of links: the index has the order."""
    assert "SORT" not in set(stages((await plans(database, name))["winningPlan"]))


@pytest.mark.parametrize("name", ["a link by external id", "links by external ids"])
async def test_external_ids_are_looked_up_in_their_index(database: Database, name: str) -> None:
    """The partial index serves these look-ups: with many links, the server prefers it."""
    assert "org_id_1_external_id_1" in indexes(await plans(database, name))


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("sales by their orders", "org_id_1_transaction_id_1"),
        ("leads by ids of events", "org_id_1_event_id_1"),
    ],
)
async def test_what_was_told_before_is_looked_up_in_its_index(
    database: Database, name: str, index: str
) -> None:
    """The partial index serves the look-up, which must say that it is for text."""
    assert index in indexes(await plans(database, name))


@pytest.mark.parametrize("name", IN_ANY_CASE)
async def test_paths_in_any_case_are_looked_up_in_their_index(database: Database, name: str) -> None:
    """An index serves only queries that compare as it does."""
    assert "path_in_any_case" in indexes((await plans(database, name))["winningPlan"])


async def test_links_with_a_tag_are_looked_up_in_its_index(database: Database) -> None:
    """The partial index serves the filter, though it is of a list."""
    assert "org_id_1_tag_ids_1_created_at_-1__id_-1" in indexes(await plans(database, "the links with a tag"))


async def test_the_last_entry_before_a_place_is_read_alone(database: Database) -> None:
    """Each page of a feed looks it up: the index has the order, and all that it asks for."""
    plan = (await plans(database, "the last entry before a place in a feed"))["winningPlan"]
    assert "SORT" not in set(stages(plan))
    assert set(indexes(plan)) == {"org_id_1_place_1"}


async def test_every_index_serves_a_query(database: Database) -> None:
    """An index that no query above can use, and that holds no rule, costs writes for nothing; or its query is
    missing above."""
    useful = {(QUERIES[name][0], index) for name in QUERIES for index in indexes(await plans(database, name))}
    declared = {
        (name, index.document["name"])
        for name, models in declared_indexes().items()
        for index in models
        if not {"expireAfterSeconds", "unique"} & index.document.keys()
    }
    assert declared - useful == set()
