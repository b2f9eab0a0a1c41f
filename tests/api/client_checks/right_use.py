"""What a server does with a client that openapi-python-client generated; it prints what it was told."""

import datetime
import json
import os
import uuid

from waylink_rest_api_client import AuthenticatedClient
from waylink_rest_api_client.api.default import (
    bulk_links,
    post_link,
    query_analytics,
    tell_conversions,
    tell_events,
    tell_identities,
    tell_leads,
    tell_refunds,
)
from waylink_rest_api_client.models import (
    AnalyticsAnswer,
    ArchiveOperation,
    BulkResults,
    Conversion,
    ConversionList,
    ConversionMetadataType0,
    CreateOperation,
    ErrorAnswer,
    ErrorDetail,
    Event,
    EventMetadataType0,
    Identity,
    ItemResults,
    ItemResultStatus,
    Lead,
    LeadList,
    LinkChanges,
    LinkOperations,
    LinkRule,
    NewLink,
    NewLinkWithExternalId,
    QueryAnalyticsBody,
    QueryAnalyticsBodyMeasuresItem,
    Refund,
    RefundList,
    UpdateOperation,
    UpsertOperation,
    WholeLink,
)
from waylink_rest_api_client.types import Unset

CLIENT = AuthenticatedClient(
    base_url=os.environ["API"], token=os.environ["KEY"], prefix="", auth_header_name="API-KEY"
)


def statuses(answer: ErrorAnswer | ItemResults | None) -> list[str]:
    """The results' statuses, or the fields of an error."""
    match answer:
        case ItemResults(results):
            typed: list[ItemResultStatus] = [result.status for result in results]
            return [status.value for status in typed]
        case ErrorAnswer(code=code, errors=errors):
            details: list[ErrorDetail] = [] if isinstance(errors, Unset) else errors
            return [str(code), *(detail.field_name for detail in details)]
        case None:
            return []


def tell() -> dict[str, list[str]]:
    """Tell of sales, leads, events, customers and refunds."""
    device, now = uuid.uuid4(), datetime.datetime.now(datetime.UTC)
    metadata = ConversionMetadataType0()
    metadata["invoice"] = "R-1001"
    sale = Conversion(
        revenue=49.9,
        currency="EUR",
        transaction_id="py-1",
        customer_id="ada",
        device_id=device,
        occurred_at=now,
        metadata=metadata,
        product_id=None,
    )
    wrong = Conversion(revenue=49.9, currency="EURO", transaction_id="py-2")
    lead = Lead(customer_id="ada", event_id="py-signup", client_timestamp=now)
    event = Event(name="shipped", device_id=device, metadata=EventMetadataType0.from_dict({"boxes": 2}))
    refund = Refund(refund_id="py-r1", transaction_id="py-1", amount=9.9, currency="EUR")
    return {
        "one": statuses(tell_conversions.sync(client=CLIENT, body=sale)),
        "many": statuses(tell_conversions.sync(client=CLIENT, body=ConversionList(items=[sale, wrong]))),
        "refused": statuses(tell_conversions.sync(client=CLIENT, body=wrong)),
        "leads": statuses(tell_leads.sync(client=CLIENT, body=LeadList(items=[lead]))),
        "events": statuses(tell_events.sync(client=CLIENT, body=event)),
        "identities": statuses(tell_identities.sync(client=CLIENT, body=Identity(customer_id="ada"))),
        "refund": statuses(tell_refunds.sync(client=CLIENT, body=refund)),
        "refunds": statuses(tell_refunds.sync(client=CLIENT, body=RefundList(items=[refund]))),
    }


def change_links() -> list[str]:
    """Make a link, and change several at once."""
    domain, url = os.environ["DOMAIN"], "https://shop.example/"
    new = NewLink(domain=domain, destination_url=url, link_name="Shop", utm_source=None, tags=[])
    made = post_link.sync(client=CLIENT, body=new)
    if not isinstance(made, WholeLink):
        return []
    upserted = NewLinkWithExternalId(domain=domain, destination_url=url, link_name="Kites", external_id="py")
    rule = LinkRule.from_dict({"if": {"country": ["DE"]}, "then": {"destination_url": f"{url}de"}})
    changes = LinkChanges(link_name="Our shop", max_clicks=100, rules=[rule])
    done = bulk_links.sync(
        client=CLIENT,
        body=LinkOperations(
            operations=[
                CreateOperation(op="create", link=new),
                UpsertOperation(op="upsert", link=upserted),
                UpdateOperation(op="update", id=made.id, link=changes),
                ArchiveOperation(op="archive", id=made.id),
                ArchiveOperation(op="archive", id=uuid.uuid4()),
            ]
        ),
    )
    return [result.status.value for result in done.results] if isinstance(done, BulkResults) else []


def sold() -> dict[str, bool]:
    """In which currencies something was sold, and whether that is counted."""
    measures = [QueryAnalyticsBodyMeasuresItem.CONVERSIONS]
    answer = query_analytics.sync(client=CLIENT, body=QueryAnalyticsBody(measures=measures))
    if not isinstance(answer, AnalyticsAnswer) or isinstance(answer.totals.conversions_by_currency, Unset):
        return {}
    return {count.currency: count.conversions > 0 for count in answer.totals.conversions_by_currency}


if __name__ == "__main__":
    print(json.dumps(tell() | {"bulk": change_links(), "sold": sold()}))
