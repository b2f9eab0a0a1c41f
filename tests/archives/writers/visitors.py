"""Writers of visitors, of what they did, and of their erasure."""

from __future__ import annotations

import uuid
from typing import Any

from hypothesis import strategies as st

from backend.domain.apps.installs import OPEN_REQUIRED, AppPlatform, Install, Match
from backend.domain.fields.rules import JsonObject
from backend.domain.ids import CustomerId, DeviceId, InstallId
from backend.domain.links.links import UTM_FIELDS
from backend.domain.visitors.attribution import Device
from backend.domain.visitors.call_metadata import Metadata
from backend.domain.visitors.calls import ID_LENGTH
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.origin_refusals import KEPT, OriginRefusal, add_origin_refusal
from backend.storage.apps.installs import record_install
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.visitors import devices
from tests.api.told_sales import tell
from tests.archives.longest import large_object, long_text, longest
from tests.archives.writers.place import Place
from tests.facts.feeds import place_all
from tests.facts.sdk_batches import Visitor, call, check, conversion

# More than the thousand that archives took of a list.
MANY = 1_200


async def write_visits(place: Place) -> None:
    """A browser tells as long texts as it may, and a server likewise."""
    text, metadata = long_text(ID_LENGTH), large_object(JsonObject(Metadata.MOST_BYTES, Metadata.MOST_LEVELS))
    visitor, customer = Visitor(place.client, place.organization), place.draw(text)
    calls = (
        check(**{name: place.draw(text) for name in UTM_FIELDS}),
        call("identify", customer_id=customer, name=place.draw(text), email_sha256="ab" * 32),
        call("lead", event_id=place.draw(text), name=place.draw(text)),
        conversion(transaction_id=place.draw(text), product_id=place.draw(text)),
        call("event", name=place.draw(text), product_id=place.draw(text), metadata=place.draw(metadata)),
    )
    results = await visitor.results(*calls)
    assert all(result["status"] == "accepted" for result in results), results
    sale: dict[str, Any] = {
        "customer_id": customer,
        "transaction_id": f"s{place.draw(text)[1:]}",
        "currency": "EUR",
    }
    told = sale | {"revenue": 10**6, "product_id": place.draw(text), "metadata": place.draw(metadata)}
    results = await tell(place.client, place.organization, "conversions", told)
    assert all(result["status"] == "accepted" for result in results), results
    refund = sale | {"refund_id": place.draw(text), "amount": 1}
    del refund["customer_id"]
    await tell(place.client, place.organization, "conversions/refund", refund)
    await place_all(place.database, place.org_id)


async def write_erasure(place: Place) -> None:
    """Somebody who used more browsers than a thousand is forgotten: facts name them all."""
    customer = CustomerId(place.draw(long_text(ID_LENGTH)))
    seen = [
        Device(place.org_id, DeviceId(str(uuid.uuid4())), place.now, place.now).identified(
            customer, place.now
        )
        for _ in range(MANY)
    ]
    await place.database[devices.NAME].insert_many([devices.document(device) for device in seen])
    await erase_subject(place.database, place.org_id, Subject(customer_id=customer))
    await place_all(place.database, place.org_id)


async def write_installs(place: Place) -> None:
    link = await place.link()
    install_id = InstallId(place.draw(longest(OPEN_REQUIRED["install_id"])))
    install = Install(place.org_id, install_id, AppPlatform.IOS, link.id, place.now, Match.CLIPBOARD)
    assert await record_install(place.database, install)
    await place_all(place.database, place.org_id)


async def write_refusals(place: Place) -> None:
    """As many as are kept, of headers as long as servers take them, and with any characters."""
    for _ in range(KEPT + 1):
        origin = place.draw(st.sampled_from(["https://x.example\x07", "\x1b[2J", ""])) * 300
        await add_origin_refusal(
            place.database, place.org_id, OriginRefusal(origin, "it is not allowed", place.now)
        )
