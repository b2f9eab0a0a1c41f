"""Checks the documents of an archive: the service must be able to store each of them as a new one.

Anyone may have changed an archive file. So each document is checked against the rules of the service, and may
only refer to links and domains of the same archive. Collections without rules here may hold any plain data;
ownership (storage/ownership) keeps it within its organization.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from bson import Decimal128, ObjectId

from backend.domain import money
from backend.domain.analytics import FINE_BUCKETS_KEPT, day_of, is_bucket, is_fine
from backend.domain.api_keys import KeyKind
from backend.domain.click_block import UnreadableBlock, moment, unpack
from backend.domain.errors import InvalidField, RequestError
from backend.domain.field_rules import Flag, HostName, JsonObject, LinkPath, Number, Uuid, parse_string
from backend.domain.ids import LinkId, OrgId
from backend.domain.installs import AppPlatform, Match
from backend.domain.link_input import (
    EXTERNAL_ID,
    IMPORTED_FROM,
    MOST_IMPORTED_CLICKS,
    body_of,
    parse_new_link,
)
from backend.domain.links import Behavior
from backend.domain.organizations import NAME_RULE
from backend.domain.origins import parse_origin
from backend.domain.rollup import BOUNDED, DAY_SECONDS, MOST_VALUES, QUARTER_SECONDS, Dimension
from backend.domain.users import is_password_hash, normalize_email
from backend.storage import (
    api_keys,
    apps,
    calls,
    click_blocks,
    click_counts,
    click_folds,
    clicks,
    conversions,
    counted_once,
    devices,
    domains,
    events,
    idempotency,
    identities,
    install_counts,
    installs,
    leads,
    links,
    organization_counts,
    organizations,
    origins,
    purged_links,
    refusals,
    users,
)
from backend.storage.document_fields import (
    DocumentFields,
    Parse,
    anything,
    as_stored,
    binary,
    check_plain,
    days,
    integer,
    list_of,
    nested,
    one_of,
    or_none,
    sha256,
    text,
    texts,
    time,
    until,
)
from backend.storage.mongo import Document
from backend.storage.rollups import MOST_SECONDS, name_of, seconds_in, value_of
from backend.storage.visitor_sketches import check_sketch

_LONGEST_NAME = 1_600  # of a value of 512 characters, each escaped


class BrokenRule(ValueError):
    """The document is not valid. The message says why."""


@dataclass(slots=True)
class Holdings:
    """The organization of an archive, and everything that its documents may refer to."""

    org_id: OrgId
    link_ids: set[LinkId] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)

    def add(self, name: str, document: Document) -> None:
        """Note what later documents may refer to in this document."""
        if name in {links.NAME, purged_links.NAME}:
            self.link_ids.add(LinkId(str(document["_id"])))
        elif name == domains.NAME:
            self.domains.add(str(document["_id"]))
        elif mark := counted_once.mark_of(name, document, self.org_id):
            self.marks.add(mark)


def check_document(
    name: str, document: Document, holdings: Holdings, is_api_host: Callable[[str], bool]
) -> None:
    """Raise BrokenRule unless the document is valid as a new one of the archive's organization.

    `name` is its collection; `is_api_host` says which hosts can't be link domains.
    """
    try:
        # Refused origins are stored as anyone sent them, and shown as such.
        check_plain("document", document, is_json=name == refusals.NAME)
        rule = _RULES.get(name)
        if rule:
            rule(document, holdings)
        if name == domains.NAME and is_api_host(document["_id"]):
            raise InvalidField("_id", "is the API's own host name (WAYLINK_BASE_URL)")
    except (RequestError, ValueError, TypeError, KeyError, AttributeError) as error:
        is_told = isinstance(error, RequestError)
        why = str(error) if is_told else "the document is not as such are stored"
        raise BrokenRule(why) from None


def _own_id(document: Document, *parts: object) -> None:
    expected = "/".join(map(str, parts))
    if document["_id"] != expected:
        raise InvalidField("_id", "does not belong to what the document is about")


def _own_link(link_id: object, holdings: Holdings) -> None:
    if link_id not in holdings.link_ids:
        raise InvalidField("link_id", "must be a link of the archive")


def _own_domain(name: str, domain: object, holdings: Holdings) -> None:
    if domain not in holdings.domains:
        raise InvalidField(name, "must be a domain of the archive")


def _currency(name: str, value: object) -> object:
    # A sale keeps its currency even if that is withdrawn later.
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z]{3}", value):
        raise InvalidField(name, "must be a currency code of three capital letters")
    return value


def _sketch(name: str, value: object) -> object:
    check_sketch(bytes(binary(name, value)))  # type: ignore[call-overload]
    return value


def _password_hash(name: str, value: object) -> object:
    if not isinstance(value, str) or not is_password_hash(value):
        raise InvalidField(name, "must be a hash by Argon2id, of no more work than ours")
    return value


_LONGEST_KEPT = timedelta(days=36_500)


def _click_count(name: str, value: object) -> object:
    if type(value) is not int or not 0 <= value <= MOST_IMPORTED_CLICKS:
        raise InvalidField(name, f"must be a whole number from 0 to {MOST_IMPORTED_CLICKS}")
    return value


_IMPORTED_CLICKS = nested(
    DocumentFields({"count": _click_count, "source": IMPORTED_FROM.parse, "imported_at": time})
)
# Reports of browsers and apps affect only their own organization, so they may have other fields too.
_TOUCH = nested(DocumentFields({"at": time, "utm": texts, "click_ids": texts}, is_open=True))
_MOMENT = nested(DocumentFields({"at": time}, is_open=True))
_EXPIRES: Mapping[str, Parse] = {"expires_at": or_none(time)}
_RECORD: Mapping[str, Parse] = {
    "device_id": Uuid().parse,
    "customer_id": or_none(text),
    "at": time,
    "occurred_at": time,
    "received_at": time,
    "first_touch": or_none(_TOUCH),
    "touch": or_none(_TOUCH),
}
_DEVICE = DocumentFields(
    {
        "device_id": Uuid().parse,
        "first_seen_at": time,
        "last_seen_at": time,
        "first_touch": or_none(_TOUCH),
        "touches": list_of(_TOUCH),
        "click_ids": list_of(_MOMENT),
        "customers": list_of(_MOMENT),
    },
    {"clocks": list_of(integer), "revision": integer, **_EXPIRES},
    is_open=True,
)
_IDENTITY = DocumentFields(
    {"device_id": Uuid().parse, "customer_id": text, "first_at": time, "last_at": time},
    {"email_sha256": sha256, "phone_sha256": sha256, "name": text, **_EXPIRES},
    is_open=True,
)
_LEAD = DocumentFields(
    _RECORD, {"email_sha256": sha256, "name": text, "event_id": text, **_EXPIRES}, is_open=True
)
_EVENT = DocumentFields(
    {**_RECORD, "name": text},
    {"product_id": text, "metadata": JsonObject().parse, **_EXPIRES},
    is_open=True,
)
_CONVERSION = DocumentFields(
    {**_RECORD, "revenue": anything, "currency": _currency},
    {"transaction_id": text, "product_id": text, **_EXPIRES},
    is_open=True,
)
_INSTALL = DocumentFields(
    {"platform": one_of(AppPlatform), "link_id": or_none(text), "at": time},
    {"match": one_of(Match), **_EXPIRES},
    is_open=True,
)
_CLICK = DocumentFields({"link_id": text, "at": time, "counted": Flag().parse}, is_open=True)
_REFUSALS = DocumentFields(
    {"recent": list_of(nested(DocumentFields({"origin": parse_string, "reason": text, "at": time})))}
)
# Documents that affect other organizations or let somebody in have exactly these fields.
_COUNTS = DocumentFields({"link_id": text, "parts": anything}, {"expires_at": until(FINE_BUCKETS_KEPT)})
_ROLLUP = DocumentFields(
    {},
    {
        "link_id": text,
        "parts": anything,
        "quarters": anything,
        "seconds": binary,
        "visitors": _sketch,
        **dict.fromkeys(Dimension, anything),
        "day": text,
        "expires_at": until(FINE_BUCKETS_KEPT),
    },
)
_BLOCK = DocumentFields(
    {"clicks": integer, "first_at": time, "last_at": time, "packed": binary, "folded": Flag().parse},
    {
        "log_id": text,
        "start": integer,
        "end": integer,
        "is_small": Flag().parse,
        "is_unreadable": Flag().parse,
        "in_fold": Flag().parse,
        "counted_before": Flag().parse,
        "expires_at": until(_LONGEST_KEPT),
    },
)
_FOLD = DocumentFields(
    {"folds": integer},
    {
        "fold": text,
        "blocks": list_of(text, click_folds.MOST_BLOCKS),
        "counted_before": Flag().parse,
        "to_link": text,
    },
)
_PURGED_LINK = DocumentFields({"at": time})
_MARK = DocumentFields({"at": time})
_CALL = DocumentFields({"expires_at": until(calls.KEPT)})
_EARLIER: Mapping[str, Parse] = {"fingerprint": text, "expires_at": until(idempotency.LIFETIME)}
_EARLIER_LINK = DocumentFields(
    {**_EARLIER, "domain": HostName().parse, "path": LinkPath().parse}, {"link_id": Uuid().parse}
)
_EARLIER_ANSWER = DocumentFields(
    {**_EARLIER, "status": integer, "answer": list_of(partial(text, longest=idempotency.PIECE))}
)
_ORIGIN = DocumentFields({"origin": lambda _, value: parse_origin(value), "created_at": time})
_DOMAIN = DocumentFields({"created_at": time})
_API_KEY = DocumentFields(
    {
        "kind": one_of(KeyKind),
        "key_hash": sha256,
        "last_four": lambda name, value: text(name, value, 4),
        "created_at": time,
    },
    {"revoked_at": or_none(time), "last_used_at": or_none(time)},
)
_USER = DocumentFields(
    {
        "email": lambda _, value: normalize_email(value),
        "password_hash": _password_hash,
        "org_ids": list_of(Uuid().parse, 1),
        "created_at": time,
    }
)
_ORGANIZATION = DocumentFields(
    {"name": NAME_RULE.parse, "created_at": time},
    {
        "subscription_until": or_none(time),
        "retention_days": or_none(days),
        "click_days": or_none(days),
        "device_cookie": Flag().parse,
        "cookie_domain": or_none(HostName().parse),
    },
)


def _device(document: Document, holdings: Holdings) -> None:
    _DEVICE.check(document)
    _own_id(document, holdings.org_id, document["device_id"])


def _identity(document: Document, holdings: Holdings) -> None:
    _IDENTITY.check(document)
    _own_id(document, holdings.org_id, document["device_id"], document["customer_id"])


def _record(fields: DocumentFields) -> Callable[[Document, Holdings], None]:
    def check(document: Document, holdings: Holdings) -> None:
        fields.check(document)
        call_id = str(document["_id"]).removeprefix(f"{holdings.org_id}/")
        _own_id(document, holdings.org_id, Uuid().parse("_id", call_id))

    return check


def _conversion(document: Document, holdings: Holdings) -> None:
    _record(_CONVERSION)(document, holdings)
    revenue = document["revenue"]
    if not isinstance(revenue, Decimal128):
        raise InvalidField("revenue", "must be an exact decimal")
    amount = revenue.to_decimal()
    if not amount.is_finite() or not 0 <= amount <= money.LARGEST:
        raise InvalidField("revenue", f"must be from 0 to {money.LARGEST:f}")


def _call(document: Document, holdings: Holdings) -> None:
    _CALL.check(document)
    _own_id(document, holdings.org_id, Uuid().parse("_id", str(document["_id"]).rpartition("/")[2]))


def _mark(document: Document, holdings: Holdings) -> None:
    _MARK.check(document)
    sha256("_id", document["_id"].removeprefix(f"{holdings.org_id}/"))


def _earlier_request(document: Document, holdings: Holdings) -> None:
    if "answer" in document:
        _EARLIER_ANSWER.check(document)
        if document["status"] not in {200, 201}:
            raise InvalidField("status", "must be that of a success")
        return
    _EARLIER_LINK.check(document)
    _own_domain("domain", document["domain"], holdings)


def _install(document: Document, holdings: Holdings) -> None:
    _INSTALL.check(document)
    if document["link_id"] is not None:
        _own_link(document["link_id"], holdings)


def _click(document: Document, holdings: Holdings) -> None:
    _CLICK.check(document)
    _own_link(document["link_id"], holdings)


def _counts(document: Document, holdings: Holdings) -> None:
    _COUNTS.check(document)
    _own_link(document["link_id"], holdings)
    bucket = str(document["_id"]).removeprefix(f"{document['link_id']}/")
    _own_id(document, document["link_id"], bucket)
    _bucket(bucket, document)


def _bucket(bucket: str, document: Document) -> None:
    if not is_bucket(bucket) or is_fine(bucket) is not ("expires_at" in document):
        raise InvalidField("_id", "does not name a day, hour or minute as they are counted")
    if not all(re.fullmatch(r"all|[0-9]|[1-5][0-9]", part) for part in document.get("parts", {})):
        raise InvalidField("parts", "must be hours, minutes or seconds, each with a number")
    _numbers("parts", document.get("parts", {}))


def _numbers(name: str, counts: Mapping[str, object]) -> None:
    for count in counts.values():
        if type(count) is not int or not 0 <= count < 2**62:
            raise InvalidField(name, "must hold whole numbers from 0")


def _link_rollup(document: Document, holdings: Holdings) -> None:
    _own_link(document["link_id"], holdings)
    _rollup(document, str(document["link_id"]))


def _organization_rollup(document: Document, holdings: Holdings) -> None:
    if "link_id" in document:
        raise InvalidField("link_id", "is not a field of such a document")
    _rollup(document, holdings.org_id)


def _rollup(document: Document, subject: str) -> None:
    _ROLLUP.check(document)
    bucket = str(document["_id"]).removeprefix(f"{subject}/")
    _own_id(document, subject, bucket)
    _bucket(bucket, document)
    if document.get("day", day_of(bucket)) != day_of(bucket):
        raise InvalidField("day", "must be the day that is counted")
    of_day = {"quarters", "seconds", "visitors", *Dimension}.intersection(document)
    if of_day and not bucket.startswith("day/"):
        raise InvalidField(of_day.pop(), "is a field of days only")
    quarters = document.get("quarters", {})
    if not set(quarters) <= {str(number) for number in range(DAY_SECONDS // QUARTER_SECONDS)}:
        raise InvalidField("quarters", "must be quarters of an hour, each with a number")
    _numbers("quarters", quarters)
    _seconds(document.get("seconds", b""))
    for dimension in Dimension:
        _values(dimension, document.get(dimension, {}))


def _seconds(stored: bytes) -> None:
    seconds = seconds_in(stored)
    if len(seconds) > MOST_SECONDS or any(second >= DAY_SECONDS for second in seconds):
        raise InvalidField("seconds", f"must be at most {MOST_SECONDS} seconds of a day")


def _values(dimension: Dimension, values: Mapping[str, object]) -> None:
    if dimension in BOUNDED and len(values) > MOST_VALUES + 1:
        raise InvalidField(dimension, f"must have at most {MOST_VALUES} values")
    for name in values:
        text(dimension, name, _LONGEST_NAME)
        if not name.startswith("%") and name_of(value_of(name)) != name:
            raise InvalidField(dimension, "has a name that is not in the form in which it is stored")
    _numbers(dimension, values)


def _block(document: Document, holdings: Holdings) -> None:
    """Raise an error unless the block's clicks are of links of the archive, and as the document says."""
    _BLOCK.check(document)
    if document.get("is_unreadable"):
        if not document["folded"]:
            raise InvalidField("is_unreadable", "is true only of blocks that are not counted again")
        return
    try:
        columns = unpack(document["packed"])
    except UnreadableBlock as error:
        raise InvalidField("packed", f"is no block of clicks: {error}") from None
    for link_id in columns.links:
        _own_link(link_id, holdings)
    said = (document["clicks"], document["first_at"], document["last_at"])
    if said != (len(columns.at), moment(min(columns.at)), moment(max(columns.at))):
        raise InvalidField("packed", "does not hold as many clicks, or not of that time")


def _fold(document: Document, holdings: Holdings) -> None:
    _FOLD.check(document)
    if any(not block_id.startswith(f"{holdings.org_id}/") for block_id in document.get("blocks", [])):
        raise InvalidField("blocks", "must be blocks of the archive")
    is_whole = {"fold", "blocks", "counted_before", "to_link"} <= document.keys()
    if "fold" in document and not is_whole:
        raise InvalidField("fold", "is not whole")


_STATE = ("created_at", "modified_at", "is_enabled", "external_id", "archived_at", "was_enabled")


def _link(document: Document, holdings: Holdings) -> None:
    """Raise an error unless create-link would accept the link's fields and store them in this form."""
    Uuid().parse("_id", document["_id"])
    link = links.from_document(document)
    new = parse_new_link(body_of(link))
    _own_domain("domain", link.domain, holdings)
    for name in ("created_at", "modified_at"):
        time(name, document[name])
    for name in ("ios_behavior", "android_behavior"):
        Number(Behavior, "1 or 2").parse(name, document[name])
    Flag().parse("is_enabled", document["is_enabled"])
    made = new.to_link(
        link.path, link_id=link.id, org_id=holdings.org_id, created_by=link.created_by, now=link.created_at
    )
    if "imported_clicks" in document:
        _IMPORTED_CLICKS("imported_clicks", document["imported_clicks"])
        made = replace(made, imported_clicks=link.imported_clicks)
    or_none(EXTERNAL_ID.parse)("external_id", link.external_id)
    or_none(time)("archived_at", link.archived_at)
    Flag().parse("was_enabled", link.was_enabled)
    if link.is_archived and link.is_enabled:
        raise InvalidField("is_enabled", "must not be true while the link is archived")
    stored = links.to_document(made) | {name: document[name] for name in _STATE if name in document}
    for name, value in document.items():
        if name not in stored:
            raise InvalidField(name, "is not a field of a link")
        if stored[name] != value:
            raise InvalidField(name, "is not in the form in which it is stored")


def _purged_link(document: Document, _: Holdings) -> None:
    _PURGED_LINK.check(document)
    as_stored("_id", document["_id"], Uuid().parse)


def _apps(document: Document, holdings: Holdings) -> None:
    _own_domain("_id", document["_id"], holdings)
    if apps.to_document(apps.from_document(document), document["org_id"]) != {
        name: value for name, value in document.items() if name != "_id"
    }:
        raise InvalidField("apps", "must be apps as they are stored")


def _origin(document: Document, _: Holdings) -> None:
    _ORIGIN.check(document)
    if not isinstance(document["_id"], ObjectId):
        raise InvalidField("_id", "must be an ObjectId")


def _domain(document: Document, _: Holdings) -> None:
    _DOMAIN.check(document)
    as_stored("_id", document["_id"], HostName().parse)


def _by_uuid(fields: DocumentFields) -> Callable[[Document, Holdings], None]:
    def check(document: Document, _: Holdings) -> None:
        fields.check(document)
        as_stored("_id", document["_id"], Uuid().parse)

    return check


_RULES: Mapping[str, Callable[[Document, Holdings], None]] = {
    counted_once.NAME: _mark,
    calls.NAME: _call,
    idempotency.NAME: _earlier_request,
    devices.NAME: _device,
    identities.NAME: _identity,
    events.NAME: _record(_EVENT),
    leads.NAME: _record(_LEAD),
    conversions.NAME: _conversion,
    installs.NAME: _install,
    clicks.NAME: _click,
    click_blocks.NAME: _block,
    click_counts.NAME: _link_rollup,
    click_folds.NAME: _fold,
    organization_counts.NAME: _organization_rollup,
    install_counts.NAME: _counts,
    refusals.NAME: lambda document, _: _REFUSALS.check(document),
    links.NAME: _link,
    purged_links.NAME: _purged_link,
    apps.NAME: _apps,
    origins.NAME: _origin,
    domains.NAME: _domain,
    api_keys.NAME: _by_uuid(_API_KEY),
    users.NAME: _by_uuid(_USER),
    organizations.NAME: _by_uuid(_ORGANIZATION),
}
