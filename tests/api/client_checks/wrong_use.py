"""Every line that ends with `# wrong` is: the type checker must refuse each of them, and nothing else."""

import uuid

from waylink_rest_api_client import AuthenticatedClient
from waylink_rest_api_client.api.default import tell_conversions
from waylink_rest_api_client.models import (
    ArchiveOperation,
    Conversion,
    ConversionList,
    CreateOperation,
    Event,
    Identity,
    ItemResult,
    Lead,
    LinkChanges,
    LinkOperations,
    NewLinkWithExternalId,
    Refund,
    UpdateOperation,
)


def tell(client: AuthenticatedClient, result: ItemResult) -> None:
    """Use the client as it can't be used."""
    Conversion(revenue=Event(name="e"), currency="EUR", transaction_id="order-1")  # wrong
    Conversion(revenue=49.9, currency="EUR")  # wrong
    Conversion(revenue=49.9, transaction_id="order-1")  # wrong
    Conversion(revenue=49.9, currency="EUR", transaction_id=10.42)  # wrong
    Conversion(revenue=49.9, currency="EUR", transactionId="order-1")  # wrong
    Conversion(revenue=49.9, currency="EUR", transaction_id="order-1", device_id="device")  # wrong
    Conversion(revenue=49.9, currency="EUR", transaction_id="order-1", occurred_at="now")  # wrong
    Conversion(revenue=49.9, currency="EUR", transaction_id="order-1", metadata="invoice")  # wrong
    Refund(refund_id="r", transaction_id="order-1", amount=["9.90"], currency="EUR")  # wrong
    Refund(refund_id="r", amount=9.9, currency="EUR")  # wrong
    Lead(email="ada@shop.example")  # wrong
    Event(metadata=None)  # wrong
    Identity(name="Ada")  # wrong
    ConversionList(items=[Lead()])  # wrong
    tell_conversions.sync(client=client, body=Lead())  # wrong
    tell_conversions.sync(client=client, body={"revenue": 49.9})  # wrong
    CreateOperation(op="upsert", link=LinkChanges())  # wrong
    CreateOperation(op="create")  # wrong
    UpdateOperation(op="update", id="sku-1", link=LinkChanges())  # wrong
    ArchiveOperation(op="archive", id=uuid.uuid4(), link=LinkChanges())  # wrong
    NewLinkWithExternalId(domain="a.example", destination_url="https://a.example", link_name="a")  # wrong
    LinkChanges(link_name=5)  # wrong
    LinkOperations(operations=[LinkChanges()])  # wrong
    result.status.upper(5)  # wrong
    print(result.error.code)  # wrong
