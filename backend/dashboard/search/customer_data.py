"""/customer/export and /customer/erase: for somebody who asks what is stored about them, or wants it gone."""

from __future__ import annotations

import json
from typing import Any

from quart import Response, redirect, request, url_for

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.search.customer import customer_id_in, customer_page
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import CustomerId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.deadlines import new_deadline
from backend.storage.lifecycle.privacy.plain import plain
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.web.current import resources

_ERASING_SECONDS = 120.0


@dashboard.get("/customer/export")
@needs(Permission.PERSONS_READ, Permission.PERSONS_WRITE)
async def customer_export() -> Response:
    """A file with every document about the customer, by the names of the collections."""
    customer_id = customer_id_in(request.args.get("id", ""))
    if not customer_id:
        return redirect(url_for("dashboard.customer"), 303)  # type: ignore[return-value]
    documents: dict[str, list[Any]] = {}
    async for name, document in export_subject(resources().database, org_id(), _subject(customer_id)):
        documents.setdefault(name, []).append(plain(document))
    response = Response(json.dumps(documents, indent=2), mimetype="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="customer.json"'
    return response


@dashboard.post("/customer/erase")
@needs(Permission.PERSONS_READ, Permission.PERSONS_WRITE)
async def customer_erase() -> Response:
    """Delete everything about the customer, whose id was typed once more."""
    customer_id = customer_id_in(field("id"))
    if not customer_id or customer_id_in(field("typed_id")) != customer_id:
        return await customer_page(customer_id, {"typed_id": "is not the id of this customer"})
    with new_deadline(_ERASING_SECONDS):
        await erase_subject(resources().database, org_id(), _subject(customer_id))
    return redirect_with_notice("customer", "customer-erased")


def _subject(customer_id: CustomerId) -> Subject:
    return Subject(customer_id=customer_id)
