"""Archives that somebody changed and gave the right counts and hash: nothing of them reaches another
organization, and nothing comes in that could not be made new."""

from __future__ import annotations

import itertools
import re
import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bson import Decimal128, ObjectId, Timestamp

from backend.archives import checking
from backend.archives.archive_file import RefusedArchive, UnreadableArchive
from backend.domain.accounts.users import is_password_hash
from backend.domain.clicks.block import block_of, unpack
from backend.domain.clicks.summary import DaySum
from backend.domain.clicks.visitor_numbers import VisitorNumbers
from backend.domain.ids import LinkId, OrgId
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.mongo import Database, Document
from backend.storage.visitors.calls import KEPT
from tests.archives.forging import Archive, Change, forge, remove, restore
from tests.archives.full_organization import PASSWORD_HASH
from tests.facts.clicks import click

NOW = datetime.now(UTC)


def _summary_of(block: bytes) -> bytes:
    """A day that has the clicks of this block alone."""
    added = DaySum((NOW - datetime(1970, 1, 1, tzinfo=UTC)).days)
    added.add(unpack(block))
    return added.summaries(VisitorNumbers(b"key"))[0].packed


OTHERS_LINK = str(uuid.uuid4())
OTHERS_BLOCK = block_of(OrgId("o"), [click(OrgId("o"), LinkId(OTHERS_LINK), NOW)]).packed
OTHERS_SUMMARY = _summary_of(OTHERS_BLOCK)
ESCAPE = "a\x1b]0;owned\x07b"
CLICKS = {"count": 5, "source": "Bitly", "imported_at": NOW}


def _refund(amount: str) -> Document:
    """A refund as a sale's document has it."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return {
        "refund_id": "r",
        "amount": Decimal128(amount),
        "currency": "EUR",
        "at": at,
        "received_at": at,
    }


def _told(**more: Any) -> Document:
    """A telling as a sale's document has it."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return {"received_at": at, "at": at, "device_id": None, "customer_id": "ada", **more}


def _paid(revenue: object) -> Document:
    """What a telling says of an amount."""
    return {"revenue": revenue, "currency": "EUR"}


def _at_hours(timezone: str) -> Document:
    """A rule as a link's document has it, of hours by the clock of this time zone."""
    hours = {"from": "08:00", "until": "18:00", "timezone": timezone}
    return {"if": {"hours": hours}, "then": {"destination_url": "https://a.example"}}


def setting(collection: str, **fields: Any) -> Change:
    """Sets fields in the documents of a collection."""
    return lambda name, document: document | fields if name == collection else None


async def assert_nothing_is_stored(database: Database) -> None:
    """Fail where the database holds any document."""
    # In one call: a count of each collection costs more than the rest of a test.
    one: list[Document] = [{"$limit": 1}]
    names = await database.list_collection_names()
    others = [{"$unionWith": {"coll": name, "pipeline": one}} for name in names]
    assert await database["nothing"].aggregate(others).to_list(None) == []


TOUCH: dict[str, Any] = {"at": NOW, "utm": {}, "click_ids": {}}
Forgery = tuple[str, dict[str, Any], str]  # the collection, the fields, and the rule that is named
FORGED: list[Forgery] = [
    # another organization's domains and links
    ("links", {"domain": "go.other.example"}, "domain must be a domain of the archive"),
    ("apps", {"_id": "go.other.example"}, "_id must be a domain of the archive"),
    ("idempotency", {"domain": "go.other.example"}, "domain must be a domain of the archive"),
    ("installs", {"link_id": OTHERS_LINK}, "link_id must be a link of the archive"),
    ("install_counts", {"link_id": OTHERS_LINK}, "link_id must be a link of the archive"),
    ("install_counts", {"_id": f"{OTHERS_LINK}/total"}, "_id does not belong to what the document is about"),
    ("install_counts", {"parts": {"all": -1}}, "parts must hold whole numbers from 0"),
    ("install_counts", {"parts": {"all": 1.5}}, "parts must hold whole numbers from 0"),
    ("install_counts", {"parts": {"all": True}}, "parts must hold whole numbers from 0"),
    ("install_counts", {"parts": {"99": 1}}, "parts must be hours, minutes or seconds"),
    ("install_counts", {"expires_at": NOW + timedelta(days=900)}, "expires_at must be a date at most"),
    ("install_counts", {"day": "2026-01-01"}, "day is not a field of such a document"),
    ("click_blocks", {"packed": OTHERS_BLOCK}, "link_id must be a link of the archive"),
    ("click_blocks", {"packed": b"\x01no block"}, "packed is no block of clicks"),
    ("click_blocks", {"packed": OTHERS_BLOCK[:-4]}, "packed is no block of clicks"),
    ("click_blocks", {"packed": "text"}, "packed must be bytes"),
    ("click_blocks", {"clicks": 3}, "packed does not hold as many clicks"),
    ("click_blocks", {"last_at": NOW - timedelta(days=9)}, "packed does not hold as many clicks"),
    ("click_blocks", {"expires_at": NOW + timedelta(days=40_000)}, "expires_at must be a date at most"),
    ("click_summaries", {"packed": OTHERS_SUMMARY}, "link_id must be a link of the archive"),
    ("click_summaries", {"packed": OTHERS_BLOCK}, "packed is no summary of clicks: unknown format"),
    ("click_summaries", {"packed": OTHERS_SUMMARY[:-4]}, "packed is no summary of clicks"),
    ("click_summaries", {"clicks": 4}, "packed does not hold as many clicks, or not of that day"),
    ("click_summaries", {"day": 7}, "packed does not hold as many clicks, or not of that day"),
    ("click_summaries", {"weight": 7}, "weight is not a field of such a document"),
    ("click_summaries", {"is_unreadable": "no"}, "is_unreadable must be true or false"),
    ("devices", {"device_id": str(uuid.uuid4())}, "_id does not belong to what the document is about"),
    ("contacts", {"customer_id": "eve"}, "_id does not belong to what the document is about"),
    # feeds
    ("feed_heads", {"place": -1}, "place must be a whole number from 0"),
    ("feed_entries", {"place": 0}, "place must be a whole number from 1"),
    ("feed_entries", {"place": 10**6}, "place must not be behind the last one of the feed"),
    ("feed_entries", {"waits": True, "place": 1}, "place is of entries that do not wait for one"),
    ("feed_entries", {"waits": False}, "waits must be true, or left out"),
    ("feed_entries", {"stamp": NOW}, "stamp must be a time of MongoDB's"),
    ("feed_entries", {"stamp": Timestamp(0, 0)}, "stamp must be a time of MongoDB's"),
    ("feed_entries", {"stamp": Timestamp(NOW + timedelta(days=9), 1)}, "stamp must not be later than now"),
    ("feed_entries", {"expires_at": NOW + timedelta(days=900)}, "expires_at must be a date at most"),
    ("feed_entries", {"ages_by": "never"}, "ages_by must be one of"),
    ("feed_entries", {"facts": [{"type": "lead", "call": 5}]}, "facts are not such as are kept for so long"),
    (
        "feed_entries",
        {"facts": [{"type": "summary", "day": 1, "summaries": [], "blocks": []}]},
        "facts are not such as are kept for so long",
    ),
    # hosts, keys and people
    ("domains", {"_id": "api.shop.example"}, "_id is the API's own host name"),
    ("domains", {"_id": "localhost"}, "_id is the API's own host name"),
    ("domains", {"_id": "Go.Shop.example"}, "_id is not in the form in which it is stored"),
    ("domains", {"_id": "no host"}, "_id must be a host name"),
    ("domains", {"settings": {"root_url": "javascript:alert(1)"}}, "settings.root_url must be an absolute"),
    ("domains", {"settings": {"brand": {"color": "#ABC"}}}, "settings.brand is not in the form"),
    ("domains", {"settings": {"brand": {"color": "red;}"}}}, "settings.brand.color must be a colour"),
    ("domains", {"settings": {"secret": "x"}}, "settings.secret is not a field"),
    ("origins", {"origin": "https://*"}, "origin has a value that can't be"),
    ("origins", {"origin": "https://Shop.example/"}, "origin is not in the form in which it is stored"),
    ("origins", {"_id": "x"}, "_id must be an ObjectId"),
    ("api_keys", {"kind": "admin"}, "kind must be one of"),
    ("api_keys", {"key_hash": "x"}, "key_hash must be a SHA-256"),
    ("api_keys", {"is_admin": True}, "is_admin is not a field of such a document"),
    ("api_keys", {"limited_to": {"campaigns": ["x"]}}, "campaigns is not a field of such a document"),
    ("api_keys", {"limited_to": {"links": ["x"]}}, "links must be a UUID"),
    ("api_keys", {"limited_to": {"tags": []}}, "must be some of links:read"),
    ("users", {"email": "Ada@Shop.example"}, "email is not in the form in which it is stored"),
    ("users", {"email": "ada@müller.example"}, "email is not in the form in which it is stored"),
    ("users", {"email": "ada@x.example\x00"}, "email must not contain control characters"),
    ("alert_rules", {"mail_to": ["a..b@x.example"]}, "mail_to must be an e-mail address"),
    ("users", {"email": {"$gt": ""}}, "must not have names that begin with"),
    ("users", {"managed_by": str(uuid.uuid4())}, "managed_by must be the organization of the user"),
    ("users", {"password_hash": "secret"}, "password_hash must be a hash by Argon2id"),
    ("users", {"password_hash": PASSWORD_HASH.replace("65536", "999999")}, "of no more work than ours"),
    ("webhooks", {"url": "http://10.0.0.1/"}, "url must be an https URL"),
    ("webhooks", {"secret": "whsec_MTIz"}, "secret must be a secret as the service makes them"),
    ("webhooks", {"form": "xml"}, "form must be one of json, slack"),
    ("webhooks", {"delivered": -1}, "delivered must be a whole number from 0"),
    ("webhooks", {"headers": {}}, "headers is not a field of such a document"),
    ("reports", {"token": "short"}, "token must be a token as the service makes them"),
    ("reports", {"password_hash": "secret"}, "password_hash must be a hash by Argon2id"),
    ("reports", {"embed_origins": ["https://a.example; script-src *"]}, "embed_origins must have origins"),
    ("reports", {"query": {"cursor": "x"}}, "query.cursor is not a field of a report"),
    ("reports", {"is_admin": True}, "is_admin is not a field of such a document"),
    ("funnels", {"within_days": 0}, "within_days must be a whole number from 1 to 365"),
    ("funnels", {"steps": []}, "steps must be a list of 2 to 8 steps"),
    ("funnels", {"group_by": ["event"]}, "group_by must be a field of the first step"),
    ("funnels", {"by": "nobody"}, "by must be one of device, customer"),
    (
        "funnels",
        {"steps": [{"kind": "click"}, {"kind": "conversion"}]},
        "steps is not in the form in which it is stored",
    ),
    ("funnels", {"is_admin": True}, "is_admin is not a field of such a document"),
    ("alert_rules", {"kind": "anything"}, "kind must be one of"),
    ("alert_rules", {"thresholds": {"least": 5}}, "thresholds.least is no threshold of limits"),
    ("alert_rules", {"is_admin": True}, "is_admin is not a field of such a document"),
    ("alerts", {"cause": "another"}, "_id does not belong to what the document is about"),
    ("alerts", {"figures": {"clicks": "many"}}, "the document is not as such are stored"),
    ("alerts", {"is_open": False}, "is_open must be true, or left out"),
    ("costs", {"campaign": " spring"}, "campaign is not in the form in which it is stored"),
    ("costs", {"day": "2026-02-30"}, "day must be a day such as 2026-03-01"),
    ("costs", {"amount": 12.5}, "amount must be an exact decimal"),
    ("costs", {"currency": "USD"}, "_id does not belong to what the document is about"),
    ("costs", {"is_admin": True}, "is_admin is not a field of such a document"),
    # rules of fields
    (
        "links",
        {"destination_url": "javascript:alert(1)"},
        "destination_url must be an absolute http or https URL",
    ),
    ("links", {"destination_url": "https://a@b.example/"}, "destination_url must not contain a user name"),
    ("links", {"fallbacks": {"desktop_url": "data:text/html,x"}}, "desktop_url must be an absolute http"),
    ("links", {"fallbacks": {"other_url": "https://a.example"}}, "other_url is not a field of this request"),
    ("links", {"link_name": ESCAPE}, "link_name must not contain control characters"),
    ("links", {"link_name": "a\u202eb"}, "link_name must not contain bidirectional control characters"),
    ("links", {"link_name": "x" * 1025}, "link_name must have at most 1024 characters"),
    ("links", {"link_name": 5}, "link_name must be a string"),
    ("links", {"path": "../x"}, "selected_path must be segments"),
    ("links", {"path": ".well-known/apple-app-site-association"}, "which is reserved"),
    ("links", {"ios_behavior": True}, "ios_behavior must be 1 or 2"),
    ("links", {"created_by": "god"}, "the document is not as such are stored"),
    ("links", {"utm": {"utm_source": {"$ne": 1}}}, "must not have names that begin with"),
    ("links", {"custom_data": {"a": ObjectId()}}, "the document is not as such are stored"),
    ("links", {"created_at": "yesterday"}, "created_at must be a date"),
    ("api_keys", {"_id": "1"}, "_id must be a UUID"),
    ("links", {"clicks": 9}, "clicks is not a field of a link"),
    ("links", {"limits": {"expires_at": "soon"}}, "expires_at must be a date"),
    ("links", {"limits": {"starts_at": NOW, "expires_at": NOW}}, "expires_at must be after starts_at"),
    ("links", {"limits": {"expired_url": "data:text/html,x"}}, "expired_url must be an absolute http"),
    ("links", {"limits": {"max_clicks": 0}}, "max_clicks must be a whole number from 1"),
    ("links", {"limits": {"is_used_up": True}}, "is_used_up is for links with max_clicks"),
    ("links", {"limits": {"password_hash": "kites"}}, "password_hash must be an Argon2id hash"),
    ("links", {"limits": {"other": 1}}, "other is not a field of such a document"),
    ("taken_clicks", {"link_id": OTHERS_LINK}, "link_id must be a link of the archive"),
    ("taken_clicks", {"_id": "taken"}, "_id does not belong to what the document is about"),
    ("taken_clicks", {"taken": -1}, "taken must not be negative"),
    ("link_reports", {"_id": OTHERS_LINK}, "link_id must be a link of the archive"),
    ("link_reports", {"count": 0}, "count must be a whole number from 1"),
    (
        "link_reports",
        {"latest": [{"reason": "love", "text": "", "at": NOW}]},
        "reason must be one of fraud, malware",
    ),
    ("link_reports", {"expires_at": NOW + timedelta(days=900)}, "expires_at must be a date at most"),
    ("broken_destinations", {"_id": OTHERS_LINK}, "link_id must be a link of the archive"),
    ("broken_destinations", {"expires_at": NOW + timedelta(days=900)}, "expires_at must be a date at most"),
    (
        "broken_destinations",
        {"broken": [{"field": "f", "url": "javascript:alert(1)", "problem": "", "since": NOW}]},
        "url must be an absolute http or https URL",
    ),
    ("links", {"imported_clicks": CLICKS | {"count": -1}}, "count must be a whole number from 0"),
    ("links", {"imported_clicks": CLICKS | {"count": 5.0}}, "count must be a whole number from 0"),
    ("links", {"imported_clicks": CLICKS | {"source": "x" * 101}}, "source must have at most 100 characters"),
    ("links", {"imported_clicks": CLICKS | {"imported_at": "2026"}}, "imported_at must be a date"),
    ("links", {"imported_clicks": CLICKS | {"more": 1}}, "more is not a field of such a document"),
    ("links", {"imported_clicks": 9}, "the document is not as such are stored"),
    ("links", {"external_id": 9}, "external_id must be a string"),
    ("links", {"archived_at": "yesterday"}, "archived_at must be a date"),
    ("links", {"archived_at": NOW, "is_enabled": True}, "is_enabled must not be true while"),
    (
        "links",
        {"rules": [{"if": {"moon": 1}, "then": {"destination_url": "https://a.example"}}]},
        "rules[0].if.moon is not a field",
    ),
    ("links", {"rules": [{"then": {"destination_url": "https://a.example"}}]}, "rules is not in the form"),
    ("links", {"rules": 9}, "rules must be a list of at most 50 rules"),
    ("links", {"was_enabled": 1}, "was_enabled must be true or false"),
    ("links", {"tag_ids": ["spring"]}, "tag_ids must be a UUID"),
    ("links", {"tag_ids": [OTHERS_LINK] * 21}, "tag_ids must be a list of at most 20"),
    ("report_recipients", {"address": "bob@shop.example"}, "address_sha256 does not belong to the address"),
    ("report_recipients", {"timezone": "Mars/../.."}, "timezone must be the name of a time zone"),
    ("alert_rules", {"timezone": "Mars Base"}, "timezone must be the name of a time zone"),
    ("links", {"rules": [_at_hours("/etc")]}, "rules[0].if.hours.timezone must be the name of a time zone"),
    ("report_recipients", {"confirmed_at": None}, "confirmed_at must be a date"),
    ("tags", {"name": "a,b"}, "name must not contain a comma"),
    ("tags", {"color": "red"}, "color is not in the form in which it is stored"),
    ("utm_templates", {"utm": {"utm_x": "y"}}, "utm_x is not a field of such a document"),
    ("utm_templates", {"key": "x"}, "key does not belong to the name"),
    ("qr_logos", {"image": "x"}, "image must be bytes"),
    ("qr_logos", {"image": b"<svg/>"}, "image must be a small PNG file"),
    ("tags", {"key": "x"}, "key does not belong to the name"),
    ("apps", {"android": {"package": "x;y", "fingerprints": []}}, "the document is not as such are stored"),
    ("apps", {"ios": {"team_id": 1, "bundle_id": "a", "app_store_id": None}}, "the document is not as such"),
    ("idempotency", {"path": "/"}, "path must be segments"),
    ("idempotency", {"expires_at": NOW + timedelta(days=900)}, "expires_at must be a date at most"),
    ("calls", {"expires_at": NOW + timedelta(days=900)}, "expires_at must be a date at most"),
    ("conversions", {"currency": "GOLD"}, "currency must be a currency code"),
    ("conversions", {"revenue": 1e300}, "revenue must be an exact decimal"),
    ("conversions", {"revenue": Decimal128("1E+6000")}, "revenue must be from 0 to"),
    ("conversions", {"tellings": [_told(), _told()]}, "fields is missing"),
    ("conversions", {"tellings": [_told(fields={"currency": "EUR"})] * 2}, "revenue is missing"),
    ("conversions", {"tellings": [_told(fields=_paid(1.0))] * 2}, "revenue must be an exact decimal"),
    ("conversions", {"refunds": [_refund("1") | {"currency": "Euro"}]}, "currency must be a currency code"),
    ("conversions", {"refunds": [_refund("NaN")]}, "amount must be from 0 to"),
    ("conversions", {"refunds": [{"amount": Decimal128("1")}]}, "refund_id is missing"),
    ("conversions", {"at": "now"}, "at must be a date"),
    ("conversions", {"touch": {"at": 1, "utm": {}, "click_ids": {}}}, "at must be a date"),
    ("conversions", {"touch": TOUCH | {"variant": {"a": 1}}}, "variant must be a string"),
    ("conversions", {"first_touch": TOUCH | {"link_id": ["a"]}}, "link_id must be a string"),
    ("devices", {"revision": "1"}, "revision must be a whole number"),
    ("devices", {"touches": [1]}, "touches must be a document"),
    ("leads", {"name": ESCAPE}, "must not contain control characters"),
    ("events", {"metadata": {"$where": "1"}}, "must not have names that begin with"),
    ("refusals", {"recent": [{"origin": 1, "reason": "", "at": NOW}]}, "origin must be a string"),
    ("counted_once", {"_id": "order-1"}, "_id must be a SHA-256"),
    ("organizations", {"name": ESCAPE}, "name must not contain control characters"),
    ("organizations", {"retention_days": -1}, "retention_days must be a number of days from 1"),
    ("organizations", {"click_days": 31}, "click_days must be a number of days from 32"),
    ("organizations", {"rate_limit": 10**9}, "rate_limit is not a field of such a document"),
]


# Without them, documents of others are refused as well, for that instead of their own.
NAMED_BY_OTHERS = {"domains", "feed_heads"}
# Of the archive's documents of a collection; others have one at least.
MANY = {"links": 5, "conversions": 4, "install_counts": 4, "feed_entries": 4}


def _has_room(group: list[Forgery], case: Forgery) -> bool:
    """Whether a case can stand beside those of the group: another document of its collection is left, and
    none of them could be taken for it by its sentence."""
    collection, _, sentence = case
    sentences = [told for name, _, told in group if name == collection]
    return (
        NAMED_BY_OTHERS.isdisjoint({collection, *(name for name, *_ in group)})
        and len(sentences) < MANY.get(collection, 1)
        and not any(told in sentence or sentence in told for told in sentences)
    )


def _side_by_side(cases: list[Forgery]) -> list[list[Forgery]]:
    """The cases in groups, each about another document than all others of its group: one archive has room
    for them, since every problem is told at once."""
    groups: list[list[Forgery]] = []
    for case in cases:
        met = (group for group in groups if _has_room(group, case))
        if (group := next(met, None)) is None:
            groups.append(group := [])
        group.append(case)
    return groups


def _setting_each(group: list[Forgery]) -> Change:
    """Sets the fields of each case in documents of its collection: those of several in turn."""
    fields = defaultdict(list)
    for collection, of_case, _ in group:
        fields[collection].append(of_case)
    in_turn = {collection: itertools.cycle(of_cases) for collection, of_cases in fields.items()}
    return lambda name, document: document | next(in_turn[name]) if name in in_turn else None


@pytest.mark.parametrize("group", _side_by_side(FORGED))
async def test_what_could_not_be_made_new(
    archive: Archive,
    elsewhere: Database,
    tmp_path: Path,
    group: list[Forgery],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is refused with its line and its rule, and nothing at all is stored."""
    monkeypatch.setattr(checking, "_REPORTED_PROBLEMS", 1_000)
    with pytest.raises(RefusedArchive) as refused:
        await restore(elsewhere, forge(archive, tmp_path, _setting_each(group)))
    told = str(refused.value)
    for collection, fields, sentence in group:
        line = rf"line \d+, {collection}: [^\n]*{re.escape(sentence)}"
        assert re.search(line, told), f"{collection} {fields}: {told}"
    await assert_nothing_is_stored(elsewhere)


async def test_how_long_documents_stay(archive: Archive, elsewhere: Database, tmp_path: Path) -> None:
    """At most as long as such are kept, from the time that is passed in, and a day longer: the clock of the
    machine that wrote the archive may have been ahead."""
    ahead = forge(archive, tmp_path, setting("calls", expires_at=NOW + KEPT))
    for early in (timedelta(hours=25), timedelta(days=900)):
        with pytest.raises(RefusedArchive, match=r"calls: expires_at must be a date at most 30 days"):
            await restore(elsewhere, ahead, NOW - early)
    await assert_nothing_is_stored(elsewhere)
    await restore(elsewhere, ahead, NOW - timedelta(hours=23))
    await remove(elsewhere, archive)


async def test_time_zones_that_are_not_known_here(
    archive: Archive, elsewhere: Database, tmp_path: Path
) -> None:
    """An archive of a host with a newer list is restored, with their names."""
    rule = _at_hours("Mars/Olympus_Mons")

    def change(name: str, document: Document) -> Document | None:
        if name == "links" and not document.get("archived_at"):
            return document | {"rules": [rule]}
        return document | {"timezone": "Mars/Base"} if name in {"report_recipients", "alert_rules"} else None

    await restore(elsewhere, forge(archive, tmp_path, change))
    assert await elsewhere["links"].find_one({"rules": [rule]})
    for name in ("report_recipients", "alert_rules"):
        assert await elsewhere[name].distinct("timezone") == ["Mars/Base"]
    await remove(elsewhere, archive)


async def test_every_problem_is_told_at_once(archive: Archive, elsewhere: Database, tmp_path: Path) -> None:
    """Twenty of them, and how many more there are: nobody mends a file one line after the other."""
    forged = forge(archive, tmp_path, lambda name, document: document | {"at": "", "created_at": ""})
    with pytest.raises(RefusedArchive, match=r"and \d+ more$") as refused:
        await restore(elsewhere, forged)
    assert len(re.findall(r"line \d+, ", str(refused.value))) == 20


async def test_loops(archive: Archive, elsewhere: Database, tmp_path: Path) -> None:
    """Links that lead to one another are refused, also by a rule, and where the path is written in another
    way."""
    paths: dict[str, tuple[str, str]] = {}
    for entry in archive.entries:
        if entry.collection == "links":
            paths[entry.document["_id"]] = entry.document["domain"], entry.document["path"]
    (first, one), (second, other), (third, _), *_ = paths.items()
    targets = {first: f"https://{other[0]}/x/../{other[1]}", second: f"https://{one[0]}/{one[1]}"}

    def change(name: str, document: Document) -> Document | None:
        if name != "links" or document["_id"] not in targets:
            return None
        url = targets[document["_id"]]
        if document["_id"] == first:
            return document | {"rules": [{"if": {}, "then": {"destination_url": url}}]}
        return document | {"fallbacks": {"desktop_url": url}}

    with pytest.raises(RefusedArchive) as refused:
        await restore(elsewhere, forge(archive, tmp_path, change))
    for link_id, field in ((first, "rules[0].then.destination_url"), (second, "desktop_url")):
        assert f"link {link_id}: {field} must not lead back to the link's own short URL" in str(refused.value)
    assert third not in str(refused.value)
    await assert_nothing_is_stored(elsewhere)


# The same in every process of a run: tests are known by their parameters.
SOME_ID = "8a3fd1c2-6f0b-4e57-9b1d-2c4e5a6b7c8d"


@pytest.mark.parametrize("org_id", ["x", "", f"{SOME_ID}/conversion", SOME_ID.upper()])
async def test_ids_of_organizations(
    archive: Archive, elsewhere: Database, tmp_path: Path, org_id: OrgId
) -> None:
    """An id that is no UUID could be the beginning of another's documents' ids."""
    file = tmp_path / "forged.jsonl"
    file.write_text(archive.file.read_text().replace(archive.organization.id, org_id))
    with pytest.raises(UnreadableArchive, match="does not name its organization"):
        await restore(elsewhere, file)


async def test_hashes_made_here_are_taken() -> None:
    """The rule for hashes of passwords takes those that the service makes."""
    assert is_password_hash(await hash_password("correct horse battery", "a"))
